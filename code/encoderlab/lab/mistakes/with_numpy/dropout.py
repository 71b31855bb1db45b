"""What goes wrong in chapter 09."""

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_numpy import dropout as ours


def mask_of(x, p, rng):
    return ours.dropout_mask(np.shape(x), p, rng, np.float64)


@wrong("dropout")
def active_in_evaluation(x, p, rng=None):
    """you drop values although `rng` is None

    without a generator dropout is off: return `x`
    """
    return ours.dropout(x, p, rng or np.random.default_rng(0))


@wrong("dropout")
def always_off(x, p, rng=None):
    """you never drop a value

    with a generator each value becomes 0 with probability p
    """
    ours.dropout(x, p, rng)
    return x


@wrong("dropout")
def not_rescaled(x, p, rng=None):
    """you do not rescale what is left, so that its mean is smaller

    divide by 1 - p
    """
    return x if rng is None else x * (mask_of(x, p, rng) > 0)


@wrong("dropout")
def scaled_in_evaluation(x, p, rng=None):
    """you multiply by 1 - p in evaluation, and do not rescale in training

    inverted dropout divides by 1 - p in training, and leaves evaluation alone
    """
    return x * (1 - p) if rng is None else x * (mask_of(x, p, rng) > 0)


@wrong("dropout")
def scaled_in_both(x, p, rng=None):
    """you divide by 1 - p in evaluation as well

    without a generator return `x` as it is
    """
    return x / (1 - p) if rng is None else ours.dropout(x, p, rng)


@wrong("dropout")
def keeps_with_probability_p(x, p, rng=None):
    """you keep values with probability p, and p is that of dropping

    a value is kept where the random number is at least p
    """
    return x if rng is None else x * (rng.random(np.shape(x)) < p) / (1 - p)


@wrong("dropout")
def keeps_and_divides_by_p(x, p, rng=None):
    """you take p for the probability of keeping, in the scale as well

    p is the probability of dropping: divide by 1 - p
    """
    return x if rng is None else x * (rng.random(np.shape(x)) < p) / p


@wrong("dropout")
def divides_by_p(x, p, rng=None):
    """you divide by p

    1 - p is the share that is left
    """
    return x if rng is None else x * (mask_of(x, p, rng) > 0) / max(p, 1e-9)


@wrong("dropout")
def multiplied_by_share(x, p, rng=None):
    """you multiply by 1 - p, where it has to be divided

    what is left must grow, to make up for what is dropped
    """
    return x if rng is None else x * (mask_of(x, p, rng) > 0) * (1 - p)


@wrong("dropout")
def p_of_one_accepted(x, p, rng=None):
    """you accept a p outside [0, 1)

    raise ValueError: at 1 nothing would be left to scale
    """
    return x if rng is None else x * (rng.random(np.shape(x)) >= p) / (1 - p)


@wrong("dropout")
def in_place(x, p, rng=None):
    """you change the array that you are given

    make a new one: `x * mask`, not `x *= mask`
    """
    if rng is not None:
        x *= ours.dropout_mask(x.shape, p, rng, x.dtype)
    return x


@wrong("dropout")
def global_generator(x, p, rng=None):
    """you draw from NumPy's global generator, not from `rng`

    use `rng.random(x.shape)`
    """
    return x if rng is None else ours.dropout(x, p, np.random.default_rng())


@wrong("dropout")
def seeded_inside(x, p, rng=None):
    """you make a generator of your own, which draws the same mask each time

    use the `rng` that is given
    """
    return x if rng is None else ours.dropout(x, p, np.random.default_rng(0))


@wrong("dropout")
def one_mask_for_all_rows(x, p, rng=None):
    """you draw one mask and use it for every row

    draw a random number for each value: the whole shape of x
    """
    return x if rng is None else x * ours.dropout_mask(x.shape[-1:], p, rng, x.dtype)


@wrong("dropout")
def whole_rows_dropped(x, p, rng=None):
    """you drop whole rows

    draw a random number for each value, not for each row
    """
    return x if rng is None else x * mask_of(np.asarray(x)[..., :1], p, rng)


@wrong("dropout")
def exact_share(x, p, rng=None):
    """you drop an exact share, so that the values do not fall independently

    each value has its own random number
    """
    size = np.size(x)
    kept = rng.permutation(size) >= round(p * size) if rng else np.ones(size)
    return x * kept.reshape(np.shape(x)) / (1 - p if rng else 1)


@wrong("dropout_mask")
def mask_not_scaled(shape, p, rng, dtype):
    """you leave the kept factors at 1, so that their mean is 1 - p

    divide by 1 - p
    """
    return (ours.dropout_mask(shape, p, rng, dtype) > 0).astype(dtype)


@wrong("dropout_mask")
def mask_keeps_with_probability_p(shape, p, rng, dtype):
    """you keep with probability p, and p is that of dropping

    a factor is kept where the random number is at least p
    """
    return (rng.random(shape) < p).astype(dtype) / (1 - p)


@wrong("dropout_mask")
def mask_divides_by_p(shape, p, rng, dtype):
    """you divide by p

    1 - p is the share that is left
    """
    return (rng.random(shape) >= p).astype(dtype) / p


@wrong("dropout_mask")
def dtype_ignored(shape, p, rng, dtype):
    """you return float64, whatever `dtype` is

    the factors have the dtype that is asked for
    """
    return ours.dropout_mask(shape, p, rng, np.float64)


@wrong("dropout_mask")
def drawn_in_dtype(shape, p, rng, dtype):
    """one seed drops other places in float32 than in float64

    draw in float64 always, and convert afterwards
    """
    return (rng.random(shape, dtype) >= p).astype(dtype) / (1 - p)


@wrong("dropout_mask")
def mask_p_of_one_accepted(shape, p, rng, dtype):
    """you accept a p outside [0, 1)

    raise ValueError: at 1 nothing would be left to scale
    """
    return (rng.random(shape) >= p).astype(dtype) / (1 - p)


@wrong("dropout_mask")
def mask_seeded_inside(shape, p, rng, dtype):
    """you make a generator of your own, which draws the same mask each time

    use the `rng` that is given
    """
    return ours.dropout_mask(shape, p, np.random.default_rng(0), dtype)


@wrong("dropout_mask")
def mask_of_one_row(shape, p, rng, dtype):
    """you draw one row and repeat it

    draw a random number for each place of `shape`
    """
    row = ours.dropout_mask(shape[-1:], p, rng, dtype)
    return np.broadcast_to(row, shape).copy()
