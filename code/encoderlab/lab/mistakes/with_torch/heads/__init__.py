"""What goes wrong with heads, a file for each kind."""

from encoderlab.lab.mistakes.with_torch.heads import classifiers, masked_language_model

__all__ = ["classifiers", "masked_language_model"]
