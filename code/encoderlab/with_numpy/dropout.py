"""Dropout: zero values at random in training, and scale the rest to keep the mean."""

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

from encoderlab.with_numpy.functional import as_float
from encoderlab.with_numpy.parameters import require_generator


def dropout(
    x: Float[np.ndarray, "*shape"], p: float, rng: np.random.Generator | None = None
) -> Float[np.ndarray, "*shape"]:
    """Zero each value with probability ``p`` and divide the others by ``1 - p``.

    Parameters
    ----------
    x
        Values; left unchanged.
    p
        Probability of zeroing a value, in [0, 1).
    rng
        Source of randomness. None switches dropout off: ``x`` comes back as it is.

    Returns
    -------
    np.ndarray
        An array whose expected value is ``x``.

    Raises
    ------
    TypeError
        If ``rng`` is neither None nor a Generator.
    ValueError
        If ``p`` is outside [0, 1).

    Notes
    -----
    Srivastava and others, 2014, section 10, give this form, now called inverted
    dropout. Chapter 09.

    Examples
    --------
    >>> dropout(np.ones(6), 0.5, np.random.default_rng(0))
    array([2., 0., 0., 0., 2., 2.])
    >>> dropout(np.ones(6), 0.5)
    array([1., 1., 1., 1., 1., 1.])
    """
    require_probability(p)
    if rng is None:
        return x
    require_generator(rng)
    x = as_float(x)
    return x if p == 0 else x * dropout_mask(x.shape, p, rng, x.dtype)


def dropout_mask(
    shape: tuple[int, ...], p: float, rng: np.random.Generator, dtype: DTypeLike
) -> Float[np.ndarray, "..."]:
    """Draw the factors of dropout: 0 with probability ``p``, else ``1 / (1 - p)``.

    Parameters
    ----------
    shape
        Shape of the array they are for.
    p
        Probability of a zero, in [0, 1).
    rng
        Source of randomness. One seed draws the same places in every dtype.
    dtype
        Dtype of the factors.

    Returns
    -------
    np.ndarray
        Independent factors of mean 1 and variance ``p / (1 - p)``.

    Raises
    ------
    TypeError
        If ``rng`` is not a Generator.
    ValueError
        If ``p`` is outside [0, 1).

    Notes
    -----
    Chapter 09.

    Examples
    --------
    >>> dropout_mask((4,), 0.2, np.random.default_rng(0), np.float64)
    array([1.25, 1.25, 0.  , 0.  ])
    """
    require_probability(p)
    require_generator(rng)
    kept = rng.random(shape) >= p
    return kept.astype(dtype) / (1.0 - p)


def require_probability(p: float) -> None:
    """Refuse a dropout probability outside [0, 1).

    Parameters
    ----------
    p
        Probability of zeroing a value.

    Raises
    ------
    ValueError
        If it is outside [0, 1): at 1 nothing would be left to scale.

    Examples
    --------
    >>> require_probability(0.1)
    """
    if not 0 <= p < 1:
        raise ValueError(f"the dropout probability must be in [0, 1), got {p}")
