"""Functions without parameters of their own: linear maps, softmax, activations.

Each keeps a floating input's dtype; integers are computed in float64. Letters: I and O
are the widths of a linear map's input and output.
"""

from math import pi, sqrt
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Real
from scipy.special import expit, ndtr

from encoderlab.with_numpy.masks import require_bool


def as_float(x: Real[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Give real numbers as a floating array; integers become float64.

    Parameters
    ----------
    x
        Real numbers. NumPy itself would compute ``exp`` of an int8 in float16.

    Returns
    -------
    np.ndarray
        ``x`` itself if it is floating already.

    Raises
    ------
    TypeError
        If the values are not real numbers.

    Examples
    --------
    >>> as_float(np.array([1, 2]))
    array([1., 2.])
    """
    x = np.asarray(x)
    if x.dtype.kind == "f":
        return x
    if x.dtype.kind not in "iu":
        raise TypeError(f"the values must be real numbers, got {x.dtype}")
    return x.astype(np.float64)


def linear(
    x: Real[np.ndarray, "*batch I"],
    W: Real[np.ndarray, "I O"],
    b: Real[np.ndarray, "O"] | None = None,
) -> Float[np.ndarray, "*batch O"]:
    r"""Map each vector of the last axis: :math:`y = x W + b`.

    Parameters
    ----------
    x
        Vectors along the last axis.
    W
        Weights, one column for each output; the transpose of
        ``torch.nn.Linear.weight``.
    b
        Bias added to every output vector; None adds nothing.

    Returns
    -------
    np.ndarray
        The mapped vectors.

    Raises
    ------
    ValueError
        If the last axis of ``x`` does not fit ``W``, or ``b`` does not fit its columns.

    Notes
    -----
    Chapter 02.

    Examples
    --------
    >>> linear(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 3.0], [0.0, 1.0, 1.0]]))
    array([[1., 2., 5.]])
    """
    x, W = as_float(x), np.asarray(W)
    if W.ndim != 2 or x.ndim < 1 or x.shape[-1] != W.shape[0]:
        raise ValueError(
            f"the last axis of x must equal the rows of W, got x {x.shape} and "
            f"W {W.shape}; transpose W if it holds one row for each output"
        )
    if b is not None and np.shape(b) != W.shape[1:]:
        raise ValueError(
            "b must hold one value for each column of W, expected shape "
            f"{W.shape[1:]}, got {np.shape(b)}"
        )
    # one product of two matrices is faster than one for each sequence of a batch
    y = (x.reshape(-1, x.shape[-1]) @ W).reshape(*x.shape[:-1], W.shape[1])
    return y if b is None else y + b


def softmax(x: Real[np.ndarray, "..."], axis: int = -1) -> Float[np.ndarray, "..."]:
    r"""Turn scores into positive weights that sum to 1 along an axis.

    .. math:: \mathrm{softmax}(x)_i = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}, \quad
        m = \max_j x_j

    Parameters
    ----------
    x
        Scores of any size; subtracting the maximum keeps ``exp`` from overflowing. A
        score of minus infinity gets weight 0.
    axis
        The axis along which the weights sum to 1.

    Returns
    -------
    np.ndarray
        Weights in [0, 1]. NaN spreads over its row, and over no other.

    Notes
    -----
    A row of nothing but minus infinity has no weights and gives NaN;
    :func:`masked_softmax` is made for that case. Chapter 02.

    Examples
    --------
    >>> softmax(np.array([1000, 1001, 1002])).round(8)
    array([0.09003057, 0.24472847, 0.66524096])
    """
    x = as_float(x)
    weights = x - x.max(axis=axis, keepdims=True)
    np.exp(weights, out=weights)  # in place: a new array for each step costs time
    weights /= weights.sum(axis=axis, keepdims=True)
    return weights


def log_softmax(x: Real[np.ndarray, "..."], axis: int = -1) -> Float[np.ndarray, "..."]:
    r"""Compute the logarithm of softmax without the rounding of ``log(softmax(x))``.

    .. math:: \log \mathrm{softmax}(x)_i = x_i - m - \log \sum_j e^{x_j - m}

    Parameters
    ----------
    x
        Scores of any size.
    axis
        The axis along which the exponentials of the result sum to 1.

    Returns
    -------
    np.ndarray
        Log-probabilities, at most 0.

    Notes
    -----
    Chapter 02; :func:`encoderlab.with_numpy.loss.cross_entropy` is built on it.

    Examples
    --------
    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    x = as_float(x)
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def masked_softmax(
    scores: Real[np.ndarray, "..."], mask: Bool[np.ndarray, "..."], axis: int = -1
) -> Float[np.ndarray, "..."]:
    """Softmax over the allowed scores alone; the others get weight 0.

    Parameters
    ----------
    scores
        Scores of any size; what stands at a masked place has no influence, NaN
        included.
    mask
        True where a score takes part. Broadcasts to the shape of ``scores``.
    axis
        The axis along which the weights sum to 1.

    Returns
    -------
    np.ndarray
        Weights in [0, 1]. A row in which nothing is allowed is all zeros.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean.
    ValueError
        If ``mask`` does not broadcast to ``scores``.

    Notes
    -----
    Chapter 04.

    Examples
    --------
    >>> masked_softmax(np.array([[1.0, 1.0, 9.0]]), np.array([[True, True, False]]))
    array([[0.5, 0.5, 0. ]])
    """
    scores = as_float(scores)
    mask = require_bool(mask)
    try:
        fits = np.broadcast_shapes(mask.shape, scores.shape) == scores.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask must broadcast to the scores, got mask {mask.shape} and "
            f"scores {scores.shape}"
        )
    weights = np.where(mask, scores, -np.inf)
    peak = weights.max(axis=axis, keepdims=True)
    # -inf - (-inf) would be NaN in a row with nothing allowed
    weights -= np.where(peak == -np.inf, 0.0, peak)
    np.exp(weights, out=weights)
    total = weights.sum(axis=axis, keepdims=True)
    weights /= np.where(total == 0.0, 1.0, total)
    return weights


def relu(x: Real[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    r"""Rectified linear unit: :math:`\max(x, 0)`.

    Parameters
    ----------
    x
        Any values.

    Returns
    -------
    np.ndarray
        ``x`` where it is positive, else 0. NaN stays NaN.

    Notes
    -----
    Chapter 08.

    Examples
    --------
    >>> relu(np.array([-1.0, 2.0]))
    array([0., 2.])
    """
    return np.maximum(as_float(x), 0.0)


def silu(x: Real[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    r"""Sigmoid linear unit: :math:`x \, \sigma(x)`.

    .. math:: \sigma(x) = \frac{1}{1 + e^{-x}}

    Parameters
    ----------
    x
        Any finite values.

    Returns
    -------
    np.ndarray
        The activations; the smallest is about -0.278, at -1.278.

    Notes
    -----
    Elfwing, Uchibe and Doya, 2018. Chapter 08.

    Examples
    --------
    >>> silu(np.array([0.0, 1.0])).round(6)
    array([0.      , 0.731059])
    """
    x = as_float(x)
    return x * expit(x).astype(x.dtype, copy=False)


def gelu(
    x: Real[np.ndarray, "..."], approximate: Literal["none", "tanh"] = "none"
) -> Float[np.ndarray, "..."]:
    r"""Gaussian error linear unit: :math:`x \, \Phi(x)`.

    .. math:: \Phi(x) = \tfrac12 \left(1 + \mathrm{erf}(x / \sqrt2)\right)
        \approx \tfrac12
        \left(1 + \tanh\left(\sqrt{2/\pi}\,(x + 0.044715\,x^3)\right)\right)

    Parameters
    ----------
    x
        Any finite values.
    approximate
        ``none`` computes the exact function; ``tanh`` the approximation, which
        differs by up to 4.74e-4.

    Returns
    -------
    np.ndarray
        The activations; the smallest is about -0.170, at -0.752.

    Raises
    ------
    ValueError
        If ``approximate`` is neither ``none`` nor ``tanh``.

    Notes
    -----
    Hendrycks and Gimpel, 2016, section 2; :math:`\Phi` is the normal distribution
    function. BERT and ``torch.nn.GELU()`` use the exact form. Chapter 08.

    Examples
    --------
    >>> gelu(np.array([1.0, -1.0])).round(8)
    array([ 0.84134475, -0.15865525])
    >>> gelu(np.array([1.0]), approximate="tanh").round(8)
    array([0.84119199])
    """
    x = as_float(x)
    if approximate == "none":
        return x * ndtr(x).astype(x.dtype, copy=False)  # ndtr is the CDF, Φ
    if approximate == "tanh":
        inner = sqrt(2 / pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1.0 + np.tanh(inner))
    raise ValueError(f"approximate must be 'none' or 'tanh', got {approximate!r}")


def gelu_tanh(x: Real[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """GELU by its tanh approximation: ``gelu(x, approximate="tanh")``.

    Parameters
    ----------
    x
        Any finite values.

    Returns
    -------
    np.ndarray
        The activations.

    Notes
    -----
    GPT-2 uses this form. Chapter 08.

    Examples
    --------
    >>> gelu_tanh(np.array([1.0])).round(8)
    array([0.84119199])
    """
    return gelu(x, approximate="tanh")
