"""Attention by SDPA, einsum and loops; heads fused, in the batch, by torch's own."""

from math import sqrt

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.with_torch import attention as ours


def _refuse(q, k, v, mask, p):
    ours.require_matching(q, k, v)
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError("a boolean mask, please")
    if not 0 <= p < 1:
        raise ValueError("p")


def attention__by_einsum_and_minus_1e9(
    q, k, v, mask=None, *, dropout_p=0.0, need_weights=False
):
    _refuse(q, k, v, mask, dropout_p)
    scores = torch.einsum("...td,...sd->...ts", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -1e9)
    weights = F.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    context = torch.einsum("...ts,...sd->...td", F.dropout(weights, dropout_p), v)
    return context, weights if need_weights else None


def attention__sdpa_and_weights_apart(
    q, k, v, mask=None, *, dropout_p=0.0, need_weights=False
):
    _refuse(q, k, v, mask, dropout_p)
    if need_weights:
        mask = torch.tensor(True) if mask is None else mask
        low = torch.finfo(q.dtype).min
        scores = (q / sqrt(q.shape[-1]) @ k.mT).masked_fill(~mask, low)
        weights = scores.softmax(-1) * mask
        return F.dropout(weights, dropout_p) @ v, weights
    context = F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, dropout_p=dropout_p
    )
    return context, None


def attention__additive_mask_rows_zeroed(
    q, k, v, mask=None, *, dropout_p=0.0, need_weights=False
):
    _refuse(q, k, v, mask, dropout_p)
    root = q.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).transpose(-2, -1)
    some = torch.tensor(True) if mask is None else mask.any(-1, keepdim=True)
    if mask is not None:
        hidden = torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -torch.inf)
        scores = scores + hidden.masked_fill(~some, 0)
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True)) * some
    context = torch.matmul(F.dropout(weights, dropout_p, training=True), v)
    return context, weights if need_weights else None


def split_heads__by_view_and_permute(x, num_heads):
    *batch, T, D = x.shape
    if D % num_heads:
        raise ValueError("heads")
    return torch.movedim(x.contiguous().view(*batch, T, num_heads, -1), -2, -3)


def split_heads__by_chunks(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("heads")
    return torch.stack(x.chunk(num_heads, dim=-1), dim=-3)


def merge_heads__by_cat(x):
    return torch.cat(x.unbind(-3), dim=-1)


def merge_heads__contiguous_view(x):
    *batch, H, T, K = x.shape
    return x.transpose(-3, -2).contiguous().view(*batch, T, H * K)


class _Linears(nn.Module):
    """The four maps under their names, and what is refused."""

    def __init__(self, d_model, num_heads, *, dropout=0.0):
        super().__init__()
        if d_model % num_heads or not 0 <= dropout < 1:
            raise ValueError("d_model, dropout")
        for name in ("out_proj", "v_proj", "k_proj", "q_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.H, self.drop = num_heads, nn.Dropout(dropout)

    def refuse(self, x, mask):
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError("mask")
        if mask is not None and mask.ndim != 4:
            raise ValueError("mask")


class MultiHeadAttention__loop_over_heads(_Linears):
    def forward(self, x, mask=None, *, need_weights=False):
        self.refuse(x, mask)
        K = x.shape[-1] // self.H
        if mask is not None:
            mask = mask.expand(len(x), self.H, *mask.shape[2:])
        contexts, kept = [], []
        for h in range(self.H):
            rows = slice(h * K, (h + 1) * K)
            q, k, v = (
                F.linear(x, proj.weight[rows], proj.bias[rows])
                for proj in (self.q_proj, self.k_proj, self.v_proj)
            )
            scores = q @ k.mT / sqrt(K)
            if mask is not None:
                scores = scores.masked_fill(~mask[:, h], -1e9)
            weights = scores.softmax(-1)
            if mask is not None:
                weights = weights * mask[:, h].any(-1, keepdim=True)
            contexts.append(self.drop(weights) @ v)
            kept.append(weights)
        output = self.out_proj(torch.cat(contexts, -1))
        return output, torch.stack(kept, 1) if need_weights else None


class MultiHeadAttention__fused_qkv(_Linears):
    def forward(self, x, mask=None, *, need_weights=False):
        self.refuse(x, mask)
        parts = self.q_proj, self.k_proj, self.v_proj
        weight = torch.cat([part.weight for part in parts])
        bias = torch.cat([part.bias for part in parts])
        B, T, D = x.shape
        qkv = F.linear(x, weight, bias).view(B, T, 3, self.H, D // self.H)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        context, weights = ours.attention(
            q,
            k,
            v,
            mask,
            dropout_p=self.drop.p * self.training,
            need_weights=need_weights,
        )
        return self.out_proj(context.permute(0, 2, 1, 3).reshape(B, T, D)), weights


class MultiHeadAttention__heads_in_the_batch(_Linears):
    def forward(self, x, mask=None, *, need_weights=False):
        self.refuse(x, mask)
        (B, T, D), H = x.shape, self.H

        def heads(proj):
            return proj(x).view(B, T, H, -1).transpose(1, 2).reshape(B * H, T, -1)

        if mask is not None:
            mask = mask.expand(B, H, T, T).reshape(B * H, T, T)
        context, weights = attention__by_einsum_and_minus_1e9(
            heads(self.q_proj),
            heads(self.k_proj),
            heads(self.v_proj),
            mask,
            dropout_p=self.drop.p if self.training else 0.0,
            need_weights=True,
        )
        context = context.view(B, H, T, -1).transpose(1, 2).reshape(B, T, D)
        weights = weights.view(B, H, T, T) if need_weights else None
        return self.out_proj(context), weights


class MultiHeadAttention__by_torchs_own_function(_Linears):
    def forward(self, x, mask=None, *, need_weights=False):
        if need_weights and self.training and self.drop.p:  # its weights are dropped
            weights = self.eval()(x, mask, need_weights=True)[1]
            return self.train()(x, mask)[0], weights
        self.refuse(x, mask)
        (B, T, D), H = x.shape, self.H
        some = torch.ones(B, 1, 1, 1) == 1
        if mask is not None:
            some = mask.any(-1, keepdim=True)
            mask = ~(mask | ~some).expand(B, H, T, T).reshape(B * H, T, T)
        parts = self.q_proj, self.k_proj, self.v_proj
        zeroed = bool(~some.all())
        maps = torch.eye(D, dtype=x.dtype), torch.zeros(D, dtype=x.dtype)
        out = maps if zeroed else (self.out_proj.weight, self.out_proj.bias)
        output, weights = F.multi_head_attention_forward(
            *[x.transpose(0, 1)] * 3,
            D,
            H,
            torch.cat([part.weight for part in parts]),
            torch.cat([part.bias for part in parts]),
            None,
            None,
            False,
            self.drop.p,
            *out,
            training=self.training,
            need_weights=need_weights,
            attn_mask=mask,
            average_attn_weights=False,
        )
        output = output.transpose(0, 1)
        if zeroed:  # what attends to nothing gives zeros, before out_proj
            heads = output.unflatten(-1, (H, -1)) * some.transpose(1, 2)
            output = self.out_proj(heads.flatten(-2))
            weights = None if weights is None else weights * some
        return output, weights
