"""Softmax by torch's own, by log-sum-exp, by where, with rows mended before."""

import torch

from encoderlab.with_torch.functional import masked_softmax as ours


def softmax__by_torch(x, axis=-1):
    return torch.softmax(x, dim=axis)


def softmax__by_log_sum_exp(x, axis=-1):
    return (x - x.logsumexp(axis, keepdim=True)).exp()


def softmax__shift_detached(x, axis=-1):
    e = (x - x.detach().max(axis, keepdim=True).values).exp()
    return e.div(e.sum(dim=axis, keepdim=True))


def softmax__in_float64(x, axis=-1):
    e = torch.exp(x.double() - x.double().amax(axis, keepdim=True))
    return (e / e.sum(axis, keepdim=True)).to(x.dtype)


def _refuse(scores, mask):
    ours(scores, mask)


def masked_softmax__finfo_min_times_mask(scores, mask, axis=-1):
    _refuse(scores, mask)
    low = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, low), axis) * mask


def masked_softmax__where_and_infinity(scores, mask, axis=-1):
    _refuse(scores, mask)
    some = mask.any(axis, keepdim=True)
    kept = torch.where(mask, scores, -torch.inf)
    return torch.where(some, torch.softmax(torch.where(some, kept, 0), axis), 0)


def masked_softmax__renormalised(scores, mask, axis=-1):
    _refuse(scores, mask)
    clean = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    e = torch.exp(clean - clean.amax(axis, keepdim=True).detach()) * mask
    total = e.sum(axis, keepdim=True)
    return e / torch.where(total > 0, total, 1)
