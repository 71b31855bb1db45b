"""What goes wrong with heads: what may with each of them, and a file for each kind."""

from encoderlab.lab.mistakes.with_torch.heads import (
    classifiers,
    every_head,
    masked_language_model,
)

__all__ = ["classifiers", "every_head", "masked_language_model"]
