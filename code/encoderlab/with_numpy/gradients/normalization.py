"""Backward passes of the norms, whose statistics depend on the input too."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from encoderlab.with_numpy.functional import as_float
from encoderlab.with_numpy.gradients.chain import require_upstream
from encoderlab.with_numpy.normalization import LayerNorm, layer_norm, rms_norm


def layer_norm_vjp(
    x: Float[np.ndarray, "*batch D"],
    gamma: Float[np.ndarray, "D"],
    beta: Float[np.ndarray, "D"],
    eps: float = 1e-5,
) -> tuple[Float[np.ndarray, "*batch D"], Callable]:
    r"""Normalise each vector; keep the way back.

    .. math:: \bar x = \frac{1}{\sqrt{\sigma^2 + \epsilon}} \Bigl(\bar n
        - \frac1D \sum_i \bar n_i - n \, \frac1D \sum_i \bar n_i n_i\Bigr), \quad
        \bar n = \gamma \bar y, \quad \bar\gamma = \sum \bar y \, n, \quad
        \bar\beta = \sum \bar y

    where n is the normalised vector, and the last two sums run over the batch.

    Parameters
    ----------
    x, gamma, beta, eps
        As in the forward function.

    Returns
    -------
    y : np.ndarray
        The normalised vectors, scaled and shifted.
    backward : Callable
        From the gradient of ``y`` to those of ``x``, ``gamma`` and ``beta``.

    Raises
    ------
    ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 5.0])
    >>> y, backward = layer_norm_vjp(x, np.ones(4), np.zeros(4))
    >>> backward(np.array([1.0, 0.0, 0.0, 0.0]))[0].round(8)
    array([ 0.27044983, -0.27044828, -0.13522453,  0.13522298])
    """
    x = as_float(x)
    y = layer_norm(x, gamma, beta, eps)
    D = x.shape[-1]
    normed = layer_norm(x, np.ones(D, x.dtype), np.zeros(D, x.dtype), eps)
    centred = x.astype(_wide(x)) - x.mean(axis=-1, keepdims=True, dtype=_wide(x))
    deviation = np.sqrt(centred.var(axis=-1, keepdims=True) + eps)  # centres once more

    def backward(d_y):
        require_upstream(d_y, y)
        d_normed = gamma * d_y
        d_x = d_normed - d_normed.mean(axis=-1, keepdims=True)
        d_x -= normed * (d_normed * normed).mean(axis=-1, keepdims=True)
        d_gamma, d_beta = _over_batch(d_y * normed), _over_batch(d_y)
        return (d_x / deviation).astype(x.dtype, copy=False), d_gamma, d_beta

    return y, backward


def rms_norm_vjp(
    x: Float[np.ndarray, "*batch D"], gamma: Float[np.ndarray, "D"], eps: float = 1e-6
) -> tuple[Float[np.ndarray, "*batch D"], Callable]:
    r"""Divide by the root mean square; keep the way back.

    .. math:: \bar x = \frac1r \Bigl(\bar n - n \, \frac1D \sum_i \bar n_i n_i\Bigr),
        \quad r = \sqrt{\tfrac1D \textstyle\sum_i x_i^2 + \epsilon}, \quad
        \bar n = \gamma \bar y, \quad \bar\gamma = \sum \bar y \, n

    where n = x / r, and the last sum runs over the batch.

    Parameters
    ----------
    x, gamma, eps
        As in the forward function.

    Returns
    -------
    y : np.ndarray
        The normalised vectors, scaled.
    backward : Callable
        From the gradient of ``y`` to those of ``x`` and ``gamma``.

    Raises
    ------
    ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = rms_norm_vjp(np.array([3.0, 4.0]), np.ones(2), eps=0.0)
    >>> backward(y)[0].round(8) + 0.0  # along x itself nothing changes
    array([0., 0.])
    """
    x = as_float(x)
    y = rms_norm(x, gamma, eps)
    normed = rms_norm(x, np.ones(x.shape[-1], x.dtype), eps)
    mean_square = np.square(x, dtype=_wide(x)).mean(axis=-1, keepdims=True)

    def backward(d_y):
        require_upstream(d_y, y)
        d_normed = gamma * d_y
        d_x = d_normed - normed * (d_normed * normed).mean(axis=-1, keepdims=True)
        d_x = d_x / np.sqrt(mean_square + eps)
        return d_x.astype(x.dtype, copy=False), _over_batch(d_y * normed)

    return y, backward


def norm_vjp(
    norm: LayerNorm, x: Float[np.ndarray, "*batch D"]
) -> tuple[Float[np.ndarray, "*batch D"], Callable]:
    """Run a LayerNorm; keep the way back.

    Parameters
    ----------
    norm
        The layer.
    x
        Vectors along the last axis.

    Returns
    -------
    y : np.ndarray
        The normalised vectors.
    backward : Callable
        From the gradient of ``y`` to that of ``x`` and, by name, of the parameters.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = norm_vjp(LayerNorm(2), np.array([[3.0, 5.0]], np.float32))
    >>> d_x, gradients = backward(np.ones_like(y))
    >>> gradients["beta"]
    array([1., 1.], dtype=float32)
    """
    y, through_norm = layer_norm_vjp(x, norm.gamma, norm.beta, norm.eps)

    def backward(d_y):
        d_x, d_gamma, d_beta = through_norm(d_y)
        return d_x, {"gamma": d_gamma, "beta": d_beta}

    return y, backward


def _over_batch(d):
    return d.reshape(-1, d.shape[-1]).sum(axis=0)


def _wide(x):
    """float32 for float16, whose squares overflow, else the dtype of ``x``."""
    return np.promote_types(x.dtype, np.float32)
