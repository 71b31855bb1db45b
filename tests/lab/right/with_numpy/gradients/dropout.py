import numpy as np


def _refuse(p, rng):
    if not 0 <= p < 1:
        raise ValueError(p)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(rng)


def dropout_vjp__drawn_otherwise(x, p, rng=None):
    _refuse(p, rng)
    if rng is None or p == 0:
        return x, lambda d: d
    kept = rng.binomial(1, 1 - p, x.shape)
    return x * kept / (1 - p), lambda d: d * kept / (1 - p)


def dropout_vjp__where_and_ones(x, p, rng=None):
    _refuse(p, rng)
    dropped = np.zeros(x.shape, bool)
    if rng is not None:
        dropped = 1 - p < rng.random(x.shape[::-1]).T
    scale = 1.0 if rng is None else 1 / (1 - p)
    return np.where(dropped, 0, scale * x), lambda d: np.where(dropped, 0, scale * d)
