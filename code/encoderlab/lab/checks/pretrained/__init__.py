"""Checks of the chapters on what pretrained models need."""
