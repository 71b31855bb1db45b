"""Exercises that are checked: what is asked, what is probed, what goes wrong."""

from encoderlab.lab.notebook import check
from encoderlab.lab.outcome import Report

__all__ = ["Report", "check"]
