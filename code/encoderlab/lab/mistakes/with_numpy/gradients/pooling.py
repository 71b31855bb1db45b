"""What goes wrong in chapter 12 on the way back of pooling."""

import numpy as np

from encoderlab.lab.mistakes.with_numpy.gradients import wrong_way_back, zeros_back
from encoderlab.with_numpy.pooling import mean_pool

_wrong = wrong_way_back("mean_pool_vjp", mean_pool)


def _shares(mask, count):
    return (mask / count)[..., None]


def _count(mask):
    return np.maximum(mask.sum(axis=-1, keepdims=True), 1)


@_wrong("by_all_tokens", "you divide by T", "divide by the tokens that count")
def pool_by_all_tokens(d, y, x, mask):
    return _shares(mask, mask.shape[-1]) * d[..., None, :]


@_wrong("not_divided", "every token gets the whole gradient", "each gets a share")
def pool_not_divided(d, y, x, mask):
    return _shares(mask, 1) * d[..., None, :]


@_wrong("padding_pushed", "padding gets a share too", "the mask gives it zeros")
def pool_padding_pushed(d, y, x, mask):
    return _shares(np.ones(mask.shape), _count(mask)) * d[..., None, :]


@_wrong("mask_ignored", "you ignore the mask", "count and share the real tokens alone")
def pool_mask_ignored(d, y, x, mask):
    return np.ones(x.shape) * d[..., None, :] / mask.shape[-1]


@_wrong(
    "inverted", "padding gets the gradient, the tokens none", "True is a real token"
)
def pool_inverted(d, y, x, mask):
    return _shares(~mask, _count(~mask)) * d[..., None, :]


@_wrong("batch_count", "you divide by the whole batch's count", "count each sequence")
def pool_batch_count(d, y, x, mask):
    return _shares(mask, mask.sum()) * d[..., None, :]


@_wrong("nan_if_empty", "a sequence of padding gives NaN", "divide by 1 at least")
def pool_nan_if_empty(d, y, x, mask):
    return _shares(mask, mask.sum(axis=-1, keepdims=True)) * d[..., None, :]


@_wrong("first_token", "only the first token gets the gradient", "all that count do")
def pool_first_token(d, y, x, mask):
    d_x = np.zeros(x.shape)
    d_x[..., 0, :] = d
    return d_x


@_wrong("times_x", "you multiply by x", "a mean's slope is the share alone")
def pool_times_x(d, y, x, mask):
    return x * _shares(mask, _count(mask)) * d[..., None, :]


@zeros_back("mean_pool_vjp", mean_pool)
def pool_zeros(d, y, x, mask):
    return np.zeros(x.shape)
