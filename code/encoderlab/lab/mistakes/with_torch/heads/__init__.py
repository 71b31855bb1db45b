"""What goes wrong in chapters 15 and 16, entered under this package's name."""

from encoderlab.lab.mistakes.with_torch.heads import classifiers, masked_language_model

__all__ = ["classifiers", "masked_language_model"]
