"""Backward pass of dropout."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from encoderlab.with_numpy.dropout import dropout, dropout_mask
from encoderlab.with_numpy.functional import as_float


def dropout_vjp(
    x: Float[np.ndarray, "*shape"], p: float, rng: np.random.Generator | None = None
) -> tuple[Float[np.ndarray, "*shape"], Callable]:
    """Zero values at random; keep the way back.

    Parameters
    ----------
    x, p, rng
        As in the forward function, which draws the same factors from the same state of
        ``rng``.

    Returns
    -------
    y : np.ndarray
        The values that were kept, scaled, and zeros.
    backward : Callable
        From the gradient of ``y`` to that of ``x``: the same factors once more.

    Raises
    ------
    TypeError, ValueError
        As the forward function does.

    Notes
    -----
    Chapters 09 and 12.

    Examples
    --------
    >>> y, backward = dropout_vjp(np.ones(6), 0.5, np.random.default_rng(0))
    >>> backward(np.arange(6.0))
    array([ 0.,  0.,  0.,  0.,  8., 10.])
    """
    if rng is None or p == 0:
        return dropout(x, p, rng), lambda d_y: d_y
    x = as_float(x)
    factors = dropout_mask(x.shape, p, rng, x.dtype)
    return x * factors, lambda d_y: d_y * factors
