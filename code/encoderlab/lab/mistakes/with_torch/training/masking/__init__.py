"""What goes wrong in chapter 16, a file for each kind."""

from encoderlab.lab.mistakes.with_torch.training.masking import mask_tokens, perplexity

__all__ = ["mask_tokens", "perplexity"]
