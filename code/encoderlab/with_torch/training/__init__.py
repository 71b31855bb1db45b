"""Training in PyTorch: the loop, its parts, and checkpoints to go on from."""

from encoderlab.with_torch.training.checkpoint import (
    Saved,
    load_checkpoint,
    save_checkpoint,
)
from encoderlab.with_torch.training.loop import accuracy, fit, minibatches
from encoderlab.with_torch.training.masking import (
    mask_tokens,
    perplexity,
    unigram_perplexity,
)
from encoderlab.with_torch.training.optimizers import decay_groups
from encoderlab.with_torch.training.stopping import EarlyStopping

__all__ = [
    "EarlyStopping",
    "Saved",
    "accuracy",
    "decay_groups",
    "fit",
    "load_checkpoint",
    "mask_tokens",
    "minibatches",
    "perplexity",
    "save_checkpoint",
    "unigram_perplexity",
]
