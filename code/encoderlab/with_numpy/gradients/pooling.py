"""Backward pass of pooling."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from encoderlab.with_numpy.functional import as_float
from encoderlab.with_numpy.gradients.chain import require_upstream
from encoderlab.with_numpy.masks import require_bool
from encoderlab.with_numpy.pooling import mean_pool


def mean_pool_vjp(
    x: Float[np.ndarray, "*batch T D"], mask: Bool[np.ndarray, "*batch T"]
) -> tuple[Float[np.ndarray, "*batch D"], Callable]:
    """Average the vectors of the real tokens; keep the way back.

    Parameters
    ----------
    x, mask
        As in the forward function.

    Returns
    -------
    mean : np.ndarray
        The mean over the tokens that count.
    backward : Callable
        From the gradient of the mean to that of ``x``: an equal share for each token
        that counts, zeros for padding.

    Raises
    ------
    TypeError, ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> mean, backward = mean_pool_vjp(np.ones((3, 1)), np.array([True, True, False]))
    >>> backward(np.array([1.0]))
    array([[0.5],
           [0.5],
           [0. ]])
    """
    x, mask = as_float(x), require_bool(mask)
    mean = mean_pool(x, mask)

    def backward(d_mean):
        require_upstream(d_mean, mean)
        count = np.maximum(mask.sum(axis=-1, keepdims=True), 1)  # (*batch, 1)
        share = (mask / count).astype(x.dtype)  # (*batch, T)
        return share[..., None] * d_mean[..., None, :]

    return mean, backward
