"""Normalisation of each token's vector: LayerNorm and its simpler sister RMSNorm."""

import numpy as np
from jaxtyping import Float

from encoderlab.with_numpy.functional import as_float


def layer_norm(
    x: Float[np.ndarray, "*batch D"],
    gamma: Float[np.ndarray, "D"],
    beta: Float[np.ndarray, "D"],
    eps: float = 1e-5,
) -> Float[np.ndarray, "*batch D"]:
    r"""Bring each vector to mean 0 and variance 1, then scale and shift it.

    .. math:: y = \gamma \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \quad
        \mu = \frac1D \sum_i x_i, \quad \sigma^2 = \frac1D \sum_i (x_i - \mu)^2

    Parameters
    ----------
    x
        Vectors along the last axis; each is normalised by itself.
    gamma, beta
        Learned scale and shift of each coordinate.
    eps
        Added to the variance, inside the root; at least 0.

    Returns
    -------
    np.ndarray
        The normalised vectors. A constant vector gives ``beta`` if ``eps`` is above 0.
        A vector whose squares overflow gives NaN, as in torch, rather than passing for
        a constant one; float16 is computed in float32.

    Raises
    ------
    ValueError
        If ``gamma`` or ``beta`` does not have one value for each coordinate, or ``eps``
        is negative.

    Notes
    -----
    Ba, Kiros and Hinton, 2016, section 3. Chapter 07.

    Examples
    --------
    >>> x = np.array([1.0, 0.0, 0.0, 0.0])
    >>> layer_norm(x, np.ones(4), np.zeros(4)).round(8)
    array([ 1.73200462, -0.57733487, -0.57733487, -0.57733487])
    """
    x = as_float(x)
    _require_vector("gamma", gamma, x)
    _require_vector("beta", beta, x)
    _require_eps(eps)
    wide = _at_least_float32(x)
    centred = wide - wide.mean(axis=-1, keepdims=True)
    centred -= centred.mean(axis=-1, keepdims=True)  # the mean itself was rounded
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    variance = np.where(np.isinf(variance), np.nan, variance)
    normed = centred / np.sqrt(variance + eps)
    return gamma * normed.astype(x.dtype, copy=False) + beta


def rms_norm(
    x: Float[np.ndarray, "*batch D"], gamma: Float[np.ndarray, "D"], eps: float = 1e-6
) -> Float[np.ndarray, "*batch D"]:
    r"""Divide each vector by its root mean square, then scale its coordinates.

    .. math:: y = \gamma \frac{x}{\sqrt{\frac1D \sum_i x_i^2 + \epsilon}}

    Parameters
    ----------
    x
        Vectors along the last axis; each is normalised by itself.
    gamma
        Learned scale of each coordinate.
    eps
        Added to the mean square, inside the root; at least 0.

    Returns
    -------
    np.ndarray
        The normalised vectors. One whose squares overflow gives NaN; float16 is
        computed in float32.

    Raises
    ------
    ValueError
        If ``gamma`` does not have one value for each coordinate, or ``eps`` is
        negative.

    Notes
    -----
    Zhang and Sennrich, 2019, section 4, there without ``eps``. Chapter 07.

    Examples
    --------
    >>> rms_norm(np.array([3.0, 4.0]), np.ones(2), eps=0.0).round(6)
    array([0.848528, 1.131371])
    """
    x = as_float(x)
    _require_vector("gamma", gamma, x)
    _require_eps(eps)
    wide = _at_least_float32(x)
    mean_square = np.square(wide).mean(axis=-1, keepdims=True)
    mean_square = np.where(np.isinf(mean_square), np.nan, mean_square)
    normed = wide / np.sqrt(mean_square + eps)
    return gamma * normed.astype(x.dtype, copy=False)


class LayerNorm:
    """:func:`layer_norm` with its parameters, ``gamma`` (ones) and ``beta`` (zeros).

    Parameters
    ----------
    d_model
        Width D of the vectors, at least 1.
    eps
        Added to the variance; at least 0.

    Raises
    ------
    ValueError
        If ``d_model`` is below 1 or ``eps`` is negative.

    Notes
    -----
    Chapter 07.

    Examples
    --------
    >>> LayerNorm(2, eps=0.0)(np.array([[3.0, 5.0]], dtype=np.float32))
    array([[-1.,  1.]], dtype=float32)
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        _require_width(d_model)
        _require_eps(eps)
        self.gamma = np.ones(d_model, np.float32)
        self.beta = np.zeros(d_model, np.float32)
        self.eps = eps

    def __call__(
        self, x: Float[np.ndarray, "*batch D"]
    ) -> Float[np.ndarray, "*batch D"]:
        return layer_norm(x, self.gamma, self.beta, self.eps)


class RMSNorm:
    """:func:`rms_norm` with its parameter ``gamma`` (ones).

    Parameters
    ----------
    d_model
        Width D of the vectors, at least 1.
    eps
        Added to the mean square; at least 0.

    Raises
    ------
    ValueError
        If ``d_model`` is below 1 or ``eps`` is negative.

    Notes
    -----
    Chapter 07.

    Examples
    --------
    >>> RMSNorm(2, eps=0.0)(np.array([[1.0, 1.0]], dtype=np.float32))
    array([[1., 1.]], dtype=float32)
    """

    def __init__(self, d_model: int, eps: float = 1e-6):
        _require_width(d_model)
        _require_eps(eps)
        self.gamma = np.ones(d_model, np.float32)
        self.eps = eps

    def __call__(
        self, x: Float[np.ndarray, "*batch D"]
    ) -> Float[np.ndarray, "*batch D"]:
        return rms_norm(x, self.gamma, self.eps)


def _at_least_float32(x):
    """Widen float16, in which the square of 256 is infinite already."""
    return x.astype(np.promote_types(x.dtype, np.float32), copy=False)


def _require_width(d_model):
    if d_model < 1:
        raise ValueError(f"d_model must be at least 1, got {d_model}")


def _require_vector(name, value, x):
    if np.shape(value) != x.shape[-1:] or x.ndim == 0:
        raise ValueError(
            f"{name} must have one value for each coordinate of x, expected shape "
            f"{x.shape[-1:]}, got {np.shape(value)}"
        )


def _require_eps(eps):
    if not eps >= 0:
        raise ValueError(f"eps must be at least 0, got {eps}")
