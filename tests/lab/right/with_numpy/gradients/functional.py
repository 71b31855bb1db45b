import math

import numpy as np

from encoderlab.with_numpy import functional as ours
from encoderlab.with_numpy.gradients import gelu_tanh_vjp


def linear_vjp__by_einsum(x, W, b=None):
    y = ours.linear(x, W, b)

    def backward(d):
        d_x = np.einsum("...o,io->...i", d, W)
        n = d.size // d.shape[-1]
        rows, d_rows = x.reshape(n, -1), d.reshape(n, -1)
        d_W = np.einsum("ni,no->io", rows, d_rows)
        return (d_x, d_W) if b is None else (d_x, d_W, np.einsum("no->o", d_rows))

    return y, backward


def linear_vjp__vector_by_vector(x, W, b=None):
    y = ours.linear(x, W, b)

    def backward(d):
        d_x, d_W, d_b = np.zeros(x.shape), np.zeros(W.shape), np.zeros(W.shape[1])
        for place in np.ndindex(*x.shape[:-1]):
            d_x[place] = W @ d[place]
            d_W += np.outer(x[place], d[place])
            d_b += d[place]
        return [d_x, d_W] if b is None else [d_x, d_W, d_b]

    return y, backward


def _by_jacobians(y, axis, jacobian):
    rows = np.moveaxis(y, axis, -1)

    def backward(d):
        d_rows, d_x = np.moveaxis(d, axis, -1), np.zeros(rows.shape)
        for place in np.ndindex(*rows.shape[:-1]):
            d_x[place] = d_rows[place] @ jacobian(rows[place])
        return np.moveaxis(d_x, -1, axis)

    return y, backward


def _of_softmax(p):
    return np.diag(p) - np.outer(p, p)


def softmax_vjp__row_by_row_jacobian(x, axis=-1):
    return _by_jacobians(ours.softmax(x, axis), axis, _of_softmax)


def softmax_vjp__products_apart(x, axis=-1):
    p = ours.softmax(x, axis)

    def backward(d):
        pd = p * d
        return pd - p * pd.sum(axis=axis, keepdims=True)

    return p, backward


def log_softmax_vjp__row_by_row_jacobian(x, axis=-1):
    def jacobian(log_p):
        return np.eye(len(log_p)) - np.exp(log_p)

    return _by_jacobians(ours.log_softmax(x, axis), axis, jacobian)


def log_softmax_vjp__softmax_recomputed(x, axis=-1):
    def backward(d):
        return d - ours.softmax(x, axis) * d.sum(axis=axis, keepdims=True)

    return ours.log_softmax(x, axis), backward


def masked_softmax_vjp__row_by_row_jacobian(scores, mask, axis=-1):
    return _by_jacobians(ours.masked_softmax(scores, mask, axis), axis, _of_softmax)


def masked_softmax_vjp__large_negative_fill(scores, mask, axis=-1):
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise TypeError("mask must be boolean")
    full = np.broadcast_to(mask, np.shape(scores))
    filled = np.where(full, scores, -1e9)
    e = np.exp(filled - filled.max(axis=axis, keepdims=True)) * full
    total = e.sum(axis=axis, keepdims=True)
    p = np.divide(e, total, out=np.zeros_like(e), where=total > 0)

    def backward(d):
        d = np.where(full, d, 0)
        return p * d - p * np.sum(p * d, axis=axis, keepdims=True)

    return p, backward


def relu_vjp__by_a_boolean(x):
    x = np.asarray(x, float)
    positive = x > 0
    return x * positive, lambda d: d * positive


def relu_vjp__copy_and_fill(x):
    def backward(d):
        d_x = d.copy()
        d_x[x <= 0] = 0
        return d_x

    return np.where(x > 0, x, 0.0), backward


def silu_vjp__by_tanh(x):
    share = 0.5 * (1 + np.tanh(x / 2))
    y = x * share
    return y, lambda d: d * (y + share * (1 - y))


def silu_vjp__by_plain_exp(x):
    share = 1 / (1 + np.exp(-x))
    return x * share, lambda d: d * (share + x * share * (1 - share))


_erf = np.vectorize(math.erf, otypes=[float])


def gelu_vjp__by_math_erf(x, approximate="none"):
    if approximate == "tanh":
        return gelu_tanh_vjp(x)
    if approximate != "none":
        raise ValueError(approximate)
    cdf = 0.5 * (1 + _erf(x / math.sqrt(2)))
    pdf = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    return x * cdf, lambda d: d * (cdf + x * pdf)


def gelu_vjp__tanh_by_its_parts(x, approximate="none"):
    if approximate != "tanh":
        return gelu_vjp__by_math_erf(x, approximate)
    c = math.sqrt(2 / math.pi)
    t = np.tanh(c * x + c * 0.044715 * x**3)
    y = 0.5 * x * (1 + t)

    def backward(d):
        d_t = 0.5 * x * d
        return 0.5 * (1 + t) * d + d_t * (1 - t**2) * (c + 3 * c * 0.044715 * x**2)

    return y, backward
