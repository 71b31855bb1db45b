"""Masks repeated, compared and joined in other ways."""

import torch


def to_torch_nn_mask__by_repeat_interleave(mask, num_heads, seq_len):
    if mask.ndim != 4:
        raise ValueError("axes")
    B, H, _, S = mask.shape
    if H == 1:
        mask = mask.repeat_interleave(num_heads, dim=1)
    full = mask.broadcast_to(B, num_heads, seq_len, S)
    return full.reshape(B * num_heads, seq_len, S).logical_not()


def to_torch_nn_mask__by_stacking(mask, num_heads, seq_len):
    if mask.ndim != 4:
        raise ValueError("axes")
    rows = []
    for one in mask:
        heads = one.expand(num_heads, seq_len, one.shape[-1])
        rows += [head == 0 for head in heads]
    return torch.stack(rows)


def from_torch_nn_mask__by_what_is_hidden(
    attn_mask=None, key_padding_mask=None, *, num_heads
):
    hidden = []
    if attn_mask is not None:
        if attn_mask.ndim not in (2, 3) or len(attn_mask) % num_heads ** (
            attn_mask.ndim - 2
        ):
            raise ValueError("attn_mask")
        B = -1 if attn_mask.ndim == 3 else 1
        H = num_heads if attn_mask.ndim == 3 else 1
        hidden.append(attn_mask.reshape(B, H, *attn_mask.shape[-2:]))
    if key_padding_mask is not None:
        if key_padding_mask.ndim != 2:
            raise ValueError("key_padding_mask")
        hidden.append(key_padding_mask[:, None, None, :])
    if any(mask.dtype != torch.bool for mask in hidden):
        raise TypeError("masks")
    if not hidden:
        return None
    either = hidden[0] if len(hidden) == 1 else hidden[0] | hidden[1]
    return torch.logical_not(either)
