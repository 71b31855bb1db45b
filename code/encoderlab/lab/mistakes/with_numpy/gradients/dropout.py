"""What goes wrong in chapter 12 on the way back of dropout."""

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy.dropout import dropout, dropout_mask
from encoderlab.with_numpy.gradients import dropout as right


def _dropout(x, p, rng, way_back):
    """Right on the way forward; ``way_back(d, factors)`` on the way back."""
    if rng is None or p == 0:
        return dropout(x, p, rng), lambda d: way_back(d, np.ones(x.shape))
    factors = dropout_mask(x.shape, p, rng, x.dtype)
    return x * factors, lambda d: way_back(d, factors)


def _wrong(name, says, hint):
    return mistake("dropout_vjp", name, says, hint)


@_wrong("mask_forgotten", "your way back passes all on", "what was dropped gets 0")
def dropout_mask_forgotten(x, p, rng=None):
    return _dropout(x, p, rng, lambda d, factors: d)


@_wrong("scale_forgotten", "your way back forgets 1 / (1 - p)", "use the same factors")
def dropout_scale_forgotten(x, p, rng=None):
    return _dropout(x, p, rng, lambda d, factors: d * (factors != 0))


@_wrong("scale_twice", "your way back scales twice", "multiply by the factors once")
def dropout_scale_twice(x, p, rng=None):
    return _dropout(x, p, rng, lambda d, factors: d * factors * factors)


@_wrong("inverted", "your way back passes on what was dropped", "1 is kept, 0 dropped")
def dropout_inverted(x, p, rng=None):
    if rng is None or p == 0:
        return right.dropout_vjp(x, p, rng)
    return _dropout(x, p, rng, lambda d, factors: d * (factors == 0) / (1 - p))


@_wrong("scale_only", "you scale everything and drop nothing back", "keep the mask")
def dropout_scale_only(x, p, rng=None):
    return _dropout(x, p, rng, lambda d, factors: d * factors.max())


@_wrong(
    "drawn_again", "your way back draws new factors", "keep those of the way forward"
)
def dropout_drawn_again(x, p, rng=None):
    return dropout(x, p, rng), lambda d: dropout(d, p, rng)


@_wrong(
    "times_output", "your way back multiplies by the output", "by the factors alone"
)
def dropout_times_output(x, p, rng=None):
    return _dropout(x, p, rng, lambda d, factors: d * x * factors)


@_wrong("not_rescaled", "the values kept are not divided by 1 - p", "both ways need it")
def dropout_not_rescaled(x, p, rng=None):
    y, back = right.dropout_vjp(x, p, rng)
    scale = 1.0 if rng is None else 1 - p
    return scale * y, lambda d: scale * back(d)


@_wrong("keeps_with_p", "you keep a value with probability p", "p is that of a zero")
def dropout_keeps_with_p(x, p, rng=None):
    if not 0 < p < 1:
        return right.dropout_vjp(x, p, rng)
    return right.dropout_vjp(x, 1 - p, rng)


@_wrong("zeros", "your way back gives zeros", "nothing would be learnt")
def dropout_zeros(x, p, rng=None):
    return _dropout(x, p, rng, lambda d, factors: 0 * d)
