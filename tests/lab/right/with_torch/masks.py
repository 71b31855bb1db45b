"""Masks by loops, by indices, by where."""

import torch


def padding_mask__by_loop(lengths, max_len):
    lengths = torch.as_tensor(lengths)
    if lengths.dim() > 1:
        raise ValueError("one axis")
    lengths = [int(n) if n == int(n) else _float() for n in lengths]
    if not all(0 <= n <= max_len for n in lengths):
        raise ValueError("lengths")
    mask = torch.zeros(len(lengths), 1, 1, max_len, dtype=torch.bool)
    for row, n in zip(mask, lengths, strict=True):
        row[..., :n] = True
    return mask


def _float():
    raise TypeError("whole numbers")


def causal_mask__by_comparison(T):
    if T < 1:
        raise ValueError(T)
    place = torch.arange(T)
    return (place[None, :] <= place[:, None])[None, None]


def causal_mask__by_triu(T):
    if T < 1:
        raise ValueError(T)
    return ~torch.triu(torch.ones(1, 1, T, T).bool(), diagonal=1)


def additive_mask__by_where(mask, dtype):
    if mask.dtype != torch.bool or not dtype.is_floating_point:
        raise TypeError("mask, dtype")
    zero = torch.tensor(0.0, dtype=dtype)
    return torch.where(mask, zero, float("-inf"))


def additive_mask__by_logarithm(mask, dtype):
    if mask.dtype != torch.bool or not dtype.is_floating_point:
        raise TypeError("mask, dtype")
    return mask.to(dtype).log()
