"""What goes wrong with attention, in one head and in several."""

from encoderlab.lab.mistakes.with_numpy.attention import heads, scaled

__all__ = ["heads", "scaled"]
