"""Checks of the exercises that ask for no part of the package."""

from encoderlab.lab.checks.along_the_way.early import (
    dropout_backward,
    embed,
    encoder_shapes,
    is_position_wise,
    reach,
)
from encoderlab.lab.checks.along_the_way.layers import (
    identity_in_evaluation,
    parameter_count,
    residual,
)
from encoderlab.lab.checks.along_the_way.training import adam_step, training_step

__all__ = [
    "adam_step",
    "dropout_backward",
    "embed",
    "encoder_shapes",
    "identity_in_evaluation",
    "is_position_wise",
    "parameter_count",
    "reach",
    "residual",
    "training_step",
]
