import math

import numpy as np
from scipy.special import erf, erfc, expit, logsumexp

from encoderlab.with_numpy import functional as ours


def _checked(x, W, b):
    if np.shape(x)[-1] != W.shape[0] or (b is not None and b.shape != W.shape[1:]):
        raise ValueError("sizes do not fit")


def linear__matmul_alone(x, W, b=None):
    return x @ W if b is None else x @ W + b


def linear__by_einsum(x, W, b=None):
    y = np.einsum("...i,io->...o", x, W)
    return y + (0 if b is None else b)


def linear__by_tensordot(x, W, b=None):
    y = np.tensordot(x, W, axes=(-1, 0))
    return y if b is None else np.add(y, b)


def linear__loop_over_columns(x, W, b=None):
    _checked(x, W, b)
    columns = [(x * W[:, o]).sum(axis=-1) for o in range(W.shape[1])]
    y = np.stack(columns, axis=-1)
    return y if b is None else y + b


def linear__sum_over_inputs(x, W, b=None):
    _checked(x, W, b)
    y = np.zeros((*np.shape(x)[:-1], W.shape[1]))
    for i in range(W.shape[0]):
        y += x[..., i, None] * W[i]
    return y if b is None else y + b


def linear__bias_as_a_row(x, W, b=None):
    _checked(x, W, b)
    b = np.zeros(W.shape[1]) if b is None else b
    ones = np.ones((*x.shape[:-1], 1))
    return np.concatenate([x, ones], -1) @ np.vstack([W, b])


def softmax__by_log_sum_exp(x, axis=-1):
    x = np.asarray(x)
    return np.exp(x - logsumexp(x, axis=axis, keepdims=True)).astype(
        x.dtype if x.dtype.kind == "f" else float
    )


def softmax__in_float64_throughout(x, axis=-1):
    e = np.exp(np.asarray(x, float) - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax__axis_moved_last(x, axis=-1):
    x = np.moveaxis(np.array(x, dtype=float), axis, -1)
    x = x - x.max(-1)[..., None]
    return np.moveaxis(np.exp(x) / np.exp(x).sum(-1)[..., None], -1, axis)


def softmax__one_row_at_a_time(x, axis=-1):
    def row(scores):
        e = [math.exp(s - max(scores)) for s in scores]
        return np.array([v / sum(e) for v in e])

    return np.apply_along_axis(row, axis, x)


def softmax__cast_back(x, axis=-1):
    y = softmax__in_float64_throughout(x, axis)
    return y.astype(x.dtype) if x.dtype.kind == "f" else y


def softmax__by_expand_dims(x, axis=-1):
    e = np.exp(x - np.expand_dims(np.amax(x, axis), axis))
    return e / np.expand_dims(np.sum(e, axis), axis)


def softmax__logarithm_of_the_sum(x, axis=-1):
    return np.exp(ours.log_softmax(x, axis))


def log_softmax__by_log_sum_exp(x, axis=-1):
    return x - logsumexp(x, axis=axis, keepdims=True)


def log_softmax__by_logaddexp(x, axis=-1):
    return x - np.expand_dims(np.logaddexp.reduce(x, axis=axis, dtype=float), axis)


def log_softmax__maximum_added_to_the_sum(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    return x - (m + np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True)))


def log_softmax__axis_swapped(x, axis=-1):
    x = np.swapaxes(np.asarray(x, float), axis, -1)
    x = x - x.max(-1, keepdims=True)
    return np.swapaxes(x - np.log(np.exp(x).sum(-1, keepdims=True)), axis, -1)


def _boolean(scores, mask):
    if mask.dtype != np.bool_:
        raise TypeError("mask must be boolean")
    return np.broadcast_to(mask, scores.shape)


def masked_softmax__additive(scores, mask, axis=-1):
    mask = _boolean(scores, mask)
    scores = np.where(mask, scores, 0) + np.where(mask, 0.0, -1e9).astype(np.float32)
    e = np.exp(scores - scores.max(axis, keepdims=True))
    return np.where(mask, e / e.sum(axis, keepdims=True), 0.0)


def masked_softmax__filled_and_zeroed(scores, mask, axis=-1):
    mask = _boolean(scores, mask)
    weights = ours.softmax(np.where(mask, scores.astype(np.float64), -1e9), axis)
    weights[~mask] = 0.0
    return weights


def masked_softmax__lowest_number(scores, mask, axis=-1):
    mask = _boolean(scores, mask)
    scores = scores.astype(float)
    filled = np.where(mask, scores, np.finfo(scores.dtype).min)
    return ours.softmax(filled, axis) * mask.any(axis=axis, keepdims=True)


def masked_softmax__renormalised(scores, mask, axis=-1):
    mask = _boolean(scores, mask)
    least = np.where(mask, scores, np.inf).min(axis, keepdims=True)
    clean = np.where(mask, scores, np.where(least == np.inf, 0, least))
    weights = ours.softmax(clean, axis) * mask
    return weights / (weights.sum(axis, keepdims=True) + 1e-12)


def masked_softmax__nan_to_num(scores, mask, axis=-1):
    mask = _boolean(scores, mask)
    return np.nan_to_num(ours.softmax(np.where(mask, scores, -np.inf), axis))


def masked_softmax__only_what_is_allowed(scores, mask, axis=-1):
    mask = np.moveaxis(_boolean(scores, mask), axis, -1)
    scores = np.moveaxis(scores, axis, -1).astype(float)
    weights = np.zeros(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        allowed = mask[place]
        if allowed.any():
            weights[place][allowed] = ours.softmax(scores[place][allowed])
    return np.moveaxis(weights, -1, axis)


def masked_softmax__max_and_sum_where(scores, mask, axis=-1):
    mask, scores = _boolean(scores, mask), scores.astype(float)
    top = scores.max(axis, keepdims=True, where=mask, initial=-np.inf)
    e = np.exp(scores - top, where=mask, out=np.zeros(scores.shape))
    total = e.sum(axis, keepdims=True)
    return np.divide(e, total, where=total > 0, out=np.zeros(scores.shape))


def relu__by_where(x):
    return np.where(x < 0, 0.0, x)


def relu__by_clip(x):
    return np.clip(x, 0, None)


def relu__by_product(x):
    return x * (x > 0)


def relu__by_half_the_sum(x):
    return (x + np.abs(x)) / 2


def relu__copy_and_set(x):
    y = np.array(x, dtype=float)
    y[y < 0] = 0
    return y


def silu__by_exp(x):
    return x / (1 + np.exp(-x))


def silu__by_tanh(x):
    return x * 0.5 * (1 + np.tanh(x / 2))


def silu__stable_on_both_sides(x):
    x = np.asarray(x, float)
    small = np.exp(-np.abs(x))
    return x * np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def silu__by_expit(x):
    return x * expit(x)


def gelu__vectorised_erf(x, approximate="none"):
    if approximate == "none":
        return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
    if approximate != "tanh":
        raise ValueError(approximate)
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def gelu__by_erf_and_sigmoid(x, approximate="none"):
    x = np.asarray(x, float)
    if approximate == "none":
        return x * (1 + erf(x * 2**-0.5)) / 2
    if approximate == "tanh":  # (1 + tanh(z)) / 2 is the sigmoid of 2 z
        z = np.sqrt(8 / np.pi) * x * (1 + 0.044715 * x * x)
        return x * expit(z)
    raise ValueError(f"unknown: {approximate}")


def gelu__by_erfc(x, approximate="none"):
    if approximate == "none":
        return x * 0.5 * erfc(-x / np.sqrt(2))
    return gelu__vectorised_erf(x, approximate)
