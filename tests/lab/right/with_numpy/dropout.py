"""Right solutions of chapter 09, whose masks are drawn in other ways."""

import numpy as np


def refuse(p, rng):
    if not 0 <= p < 1:
        raise ValueError("p")
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError("rng")


def dropout__by_binomial(x, p, rng=None):
    refuse(p, rng)
    if rng is None:
        return x
    return x * rng.binomial(1, 1 - p, size=x.shape) / (1 - p)


def dropout__by_where(x, p, rng=None):
    refuse(p, rng)
    if rng is None or p == 0:
        return x.copy()
    return np.where(rng.uniform(size=x.shape) < 1 - p, x / (1 - p), 0.0)


def dropout__by_choice_row_by_row(x, p, rng=None):
    refuse(p, rng)
    if rng is None:
        return x
    out = np.array(x)
    for place in np.ndindex(x.shape[:-1]):
        kept = rng.choice([False, True], p=[p, 1 - p], size=x.shape[-1])
        out[place][~kept] = 0
    return out / (1 - p)


def dropout__as_arrays_of_column_order(x, p, rng=None):
    refuse(p, rng)
    if rng is None:
        return x
    draws = rng.random(x.shape[::-1]).T
    gone = p > draws
    y = np.asarray(x, float) * (1 / (1 - p))
    y[gone] = 0
    return y


def dropout_mask__by_binomial(shape, p, rng, dtype):
    refuse(p, rng)
    return (rng.binomial(1, 1 - p, shape) / (1 - p)).astype(dtype)


def dropout_mask__by_where(shape, p, rng, dtype):
    if not isinstance(rng, np.random.Generator):
        raise TypeError("rng")
    refuse(p, rng)
    scale = np.asarray(1 / (1 - p), dtype)
    return np.where(rng.random(shape) < p, np.zeros((), dtype), scale)
