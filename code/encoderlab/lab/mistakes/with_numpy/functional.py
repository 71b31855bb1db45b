"""What goes wrong in chapters 02, 04 and 08."""

import numpy as np

from encoderlab.lab.mistakes import mistake


@mistake(
    "softmax",
    "no_shift",
    "you take exp of the scores as they are, which overflows for large ones",
    "subtract the largest score of each row first",
)
def softmax_without_shift(x, axis=-1):
    weights = np.exp(np.asarray(x, float) if np.asarray(x).dtype.kind in "iu" else x)
    return weights / weights.sum(axis=axis, keepdims=True)


@mistake(
    "softmax",
    "axis_ignored",
    "you always work along the last axis, whatever `axis` says",
    "hand `axis` on to max and to sum",
)
def softmax_along_the_last_axis(x, axis=-1):
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
