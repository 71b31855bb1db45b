"""Dropout by torch's own, by Bernoulli draws, by a choice."""

import torch
import torch.nn.functional as F


def _refuse(p):
    if not 0 <= p < 1:
        raise ValueError(p)


def dropout__by_torch(x, p):
    _refuse(p)
    return F.dropout(x, p, training=True)


def dropout__by_bernoulli(x, p):
    _refuse(p)
    return x * torch.bernoulli(torch.full_like(x, 1 - p)) / (1 - p)


def dropout__by_where(x, p):
    _refuse(p)
    gone = torch.empty(x.shape).uniform_() < p
    return torch.where(gone, 0.0, x / (1 - p))
