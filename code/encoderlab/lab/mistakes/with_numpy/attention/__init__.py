"""What goes wrong in chapters 03 and 05, entered under this package's name."""

from encoderlab.lab.mistakes.with_numpy.attention import heads, scaled

__all__ = ["heads", "scaled"]
