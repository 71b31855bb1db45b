"""Backward passes of the functions without parameters of their own.

Letters: I and O are the widths of a linear map's input and output.
"""

from collections.abc import Callable
from math import pi, sqrt
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Real
from scipy.special import expit, ndtr

from encoderlab.with_numpy.functional import (
    as_float,
    gelu,
    linear,
    log_softmax,
    masked_softmax,
    relu,
    silu,
    softmax,
)
from encoderlab.with_numpy.gradients.chain import require_upstream


def linear_vjp(
    x: Real[np.ndarray, "*batch I"],
    W: Real[np.ndarray, "I O"],
    b: Real[np.ndarray, "O"] | None = None,
) -> tuple[Float[np.ndarray, "*batch O"], Callable]:
    r"""Map each vector of the last axis; keep the way back.

    .. math:: \bar x = \bar y W^\top, \quad \bar W = \sum_n x_n^\top \bar y_n, \quad
        \bar b = \sum_n \bar y_n

    where n runs over all vectors of the batch.

    Parameters
    ----------
    x, W, b
        As in the forward function.

    Returns
    -------
    y : np.ndarray
        The mapped vectors.
    backward : Callable
        From the gradient of ``y`` to those of ``x``, ``W`` and, if there is one, ``b``.

    Raises
    ------
    ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = linear_vjp(np.array([[1.0, 2.0]]), np.eye(2))
    >>> d_x, d_W = backward(np.array([[1.0, 10.0]]))
    >>> d_W
    array([[ 1., 10.],
           [ 2., 20.]])
    """
    x = as_float(x)
    y = linear(x, W, b)

    def backward(d_y):
        require_upstream(d_y, y)
        flat_x, flat_d = x.reshape(-1, x.shape[-1]), d_y.reshape(-1, d_y.shape[-1])
        d_x = linear(d_y, W.T)
        d_W = flat_x.T @ flat_d
        return (d_x, d_W) if b is None else (d_x, d_W, flat_d.sum(axis=0))

    return y, backward


def softmax_vjp(
    x: Real[np.ndarray, "..."], axis: int = -1
) -> tuple[Float[np.ndarray, "..."], Callable]:
    r"""Compute softmax; keep the way back.

    .. math:: \bar x_i = p_i \Bigl(\bar p_i - \sum_j p_j \bar p_j\Bigr)

    Parameters
    ----------
    x, axis
        As in the forward function.

    Returns
    -------
    weights : np.ndarray
        The weights p.
    backward : Callable
        From the gradient of the weights to that of ``x``.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> weights, backward = softmax_vjp(np.array([1.0, 2.0, 3.0]))
    >>> backward(np.array([1.0, -2.0, 0.5])).round(8)
    array([ 0.09604515, -0.47310764,  0.37706249])
    """
    weights = softmax(x, axis)
    return weights, lambda d_weights: _through_softmax(weights, d_weights, axis)


def masked_softmax_vjp(
    scores: Real[np.ndarray, "..."], mask: Bool[np.ndarray, "..."], axis: int = -1
) -> tuple[Float[np.ndarray, "..."], Callable]:
    """Compute masked softmax; the way back is softmax's.

    A masked score has weight 0 and so gradient 0.

    Parameters
    ----------
    scores, mask, axis
        As in the forward function.

    Returns
    -------
    weights : np.ndarray
        The weights.
    backward : Callable
        From the gradient of the weights to that of ``scores``; zeros in a row in which
        nothing is allowed.

    Raises
    ------
    TypeError, ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> mask = np.array([True, True, False])
    >>> weights, backward = masked_softmax_vjp(np.zeros(3), mask)
    >>> backward(np.array([1.0, 2.0, 9.0]))
    array([-0.25,  0.25,  0.  ])
    """
    weights = masked_softmax(scores, mask, axis)
    return weights, lambda d_weights: _through_softmax(weights, d_weights, axis)


def log_softmax_vjp(
    x: Real[np.ndarray, "..."], axis: int = -1
) -> tuple[Float[np.ndarray, "..."], Callable]:
    r"""Compute the logarithm of softmax; keep the way back.

    .. math:: \bar x_i = \bar\ell_i - p_i \sum_j \bar\ell_j, \quad
        \ell = \log p = \log\mathrm{softmax}(x)

    Parameters
    ----------
    x, axis
        As in the forward function.

    Returns
    -------
    log_p : np.ndarray
        The log-probabilities.
    backward : Callable
        From the gradient of the log-probabilities to that of ``x``.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> log_p, backward = log_softmax_vjp(np.zeros(4))
    >>> backward(np.array([1.0, 0.0, 0.0, 0.0]))
    array([ 0.75, -0.25, -0.25, -0.25])
    """
    log_p = log_softmax(x, axis)

    def backward(d_log_p):
        require_upstream(d_log_p, log_p)
        return d_log_p - np.exp(log_p) * d_log_p.sum(axis=axis, keepdims=True)

    return log_p, backward


def relu_vjp(
    x: Real[np.ndarray, "..."],
) -> tuple[Float[np.ndarray, "..."], Callable]:
    """Compute ReLU; keep the way back.

    Parameters
    ----------
    x
        Any values.

    Returns
    -------
    y : np.ndarray
        The activations.
    backward : Callable
        From the gradient of ``y`` to that of ``x``: passed on where ``x`` is positive,
        0 elsewhere. At 0, where there is no derivative, it is 0, as in torch.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = relu_vjp(np.array([-1.0, 0.0, 2.0]))
    >>> backward(np.array([5.0, 5.0, 5.0]))
    array([0., 0., 5.])
    """
    x = as_float(x)
    return relu(x), lambda d_y: np.where(x <= 0, 0.0, d_y)


def silu_vjp(
    x: Real[np.ndarray, "..."],
) -> tuple[Float[np.ndarray, "..."], Callable]:
    r"""Compute SiLU; keep the way back.

    .. math:: \bar x = \bar y \, \sigma(x) \bigl(1 + x \, (1 - \sigma(x))\bigr)

    Parameters
    ----------
    x
        Any finite values.

    Returns
    -------
    y : np.ndarray
        The activations.
    backward : Callable
        From the gradient of ``y`` to that of ``x``.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = silu_vjp(np.array([0.0]))
    >>> backward(np.array([1.0]))
    array([0.5])
    """
    x = as_float(x)

    def backward(d_y):
        share = expit(x).astype(x.dtype, copy=False)
        return d_y * (share * (1.0 + x * (1.0 - share)))

    return silu(x), backward


def gelu_vjp(
    x: Real[np.ndarray, "..."], approximate: Literal["none", "tanh"] = "none"
) -> tuple[Float[np.ndarray, "..."], Callable]:
    r"""Compute GELU; keep the way back.

    .. math:: \bar x = \bar y \, \bigl(\Phi(x) + x \, \varphi(x)\bigr), \quad
        \varphi(x) = \Phi'(x) = \frac{e^{-x^2/2}}{\sqrt{2\pi}}

    The approximation has a derivative of its own: with :math:`t = \tanh u` and
    :math:`u = \sqrt{2/\pi}\,(x + 0.044715\,x^3)`,

    .. math:: \bar x = \bar y \, \tfrac12
        \bigl(1 + t + x \, (1 - t^2) \sqrt{2/\pi}\,(1 + 0.134145\,x^2)\bigr)

    Parameters
    ----------
    x, approximate
        As in the forward function.

    Returns
    -------
    y : np.ndarray
        The activations.
    backward : Callable
        From the gradient of ``y`` to that of ``x``.

    Raises
    ------
    ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = gelu_vjp(np.array([1.0]))
    >>> backward(np.array([1.0])).round(8)
    array([1.08331547])
    """
    x = as_float(x)
    y = gelu(x, approximate)

    def backward(d_y):
        if approximate == "none":
            density = np.exp(-0.5 * x * x) / sqrt(2 * pi)
            slope = ndtr(x).astype(x.dtype, copy=False) + x * density
        else:
            z = np.clip(x, -20.0, 20.0)  # further out the slope is 0 or 1 to rounding
            t = np.tanh(sqrt(2 / pi) * (z + 0.044715 * z**3))
            inner_slope = sqrt(2 / pi) * (1.0 + 3 * 0.044715 * z * z)
            slope = 0.5 * (1.0 + t + z * (1.0 - t * t) * inner_slope)
        return d_y * slope

    return y, backward


def gelu_tanh_vjp(
    x: Real[np.ndarray, "..."],
) -> tuple[Float[np.ndarray, "..."], Callable]:
    """GELU by its tanh approximation: ``gelu_vjp(x, approximate="tanh")``.

    Parameters
    ----------
    x
        Any finite values.

    Returns
    -------
    y : np.ndarray
        The activations.
    backward : Callable
        From the gradient of ``y`` to that of ``x``.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = gelu_tanh_vjp(np.array([1.0]))
    >>> backward(np.array([1.0])).round(8)
    array([1.08296408])
    """
    return gelu_vjp(x, approximate="tanh")


def _through_softmax(weights, d_weights, axis):
    """The gradient of the scores: what each weight's has above their weighted mean."""
    require_upstream(d_weights, weights)
    mean = (weights * d_weights).sum(axis=axis, keepdims=True)
    return weights * (d_weights - mean)
