"""Mirrors the package: see the folder above."""
