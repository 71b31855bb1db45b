"""Training in NumPy: optimisers, and the loop around them."""

from encoderlab.with_numpy.training.loop import (
    accuracy,
    clip_gradients,
    fit,
    loss_and_gradients,
    minibatches,
)
from encoderlab.with_numpy.training.optimizers import (
    SGD,
    Adam,
    AdamW,
    Group,
    decay_groups,
)

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "Group",
    "accuracy",
    "clip_gradients",
    "decay_groups",
    "fit",
    "loss_and_gradients",
    "minibatches",
]
