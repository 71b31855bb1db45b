"""Right solutions of chapters 03 and 05, written in other ways."""

from math import sqrt

import numpy as np

from encoderlab.with_numpy import attention as ours


def refuse(q, k, v, mask, p):
    ours.require_matching(q, k, v)
    if mask is not None and np.asarray(mask).dtype != bool:
        raise TypeError("a boolean mask, please")
    if not 0 <= p < 1:
        raise ValueError("p")


def drop(weights, p, rng):
    if rng is None or p == 0:
        return weights
    return np.where(rng.binomial(1, 1 - p, weights.shape) == 1, weights / (1 - p), 0)


def exponentials(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention__by_einsum(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    refuse(q, k, v, mask, dropout_p)
    scores = np.einsum("...td,...sd->...ts", q, k) / np.sqrt(k.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.nan_to_num(exponentials(scores))
    return np.einsum("...ts,...sd->...td", drop(weights, dropout_p, rng), v), weights


def attention__minus_1e9_and_rows_zeroed(
    q, k, v, mask=None, *, dropout_p=0.0, rng=None
):
    refuse(q, k, v, mask, dropout_p)
    scores = (q @ np.swapaxes(k, -1, -2)) / sqrt(q.shape[-1])
    if mask is None:
        mask = np.ones(scores.shape, bool)
    weights = exponentials(scores.astype(float) + np.where(mask, 0, -1e9))
    weights = weights * mask.any(axis=-1, keepdims=True)
    return drop(weights, dropout_p, rng) @ v, weights


def attention__finfo_min(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    refuse(q, k, v, mask, dropout_p)
    scores = (q @ k.mT) / sqrt(q.shape[-1])
    if mask is None:
        weights = exponentials(scores)
    else:
        low = np.finfo(scores.dtype).min
        weights = exponentials(np.where(mask, scores, low)) * mask
    return drop(weights, dropout_p, rng) @ v, weights


def attention__renormalised_after_softmax(
    q, k, v, mask=None, *, dropout_p=0.0, rng=None
):
    refuse(q, k, v, mask, dropout_p)
    root = q.shape[-1] ** 0.25
    scores = (q / root) @ (k / root).mT
    if mask is None:
        weights = exponentials(scores)
    else:
        peak = np.where(mask, scores, -np.inf).max(-1, keepdims=True)
        peak = np.where(np.isfinite(peak), peak, 0)
        e = np.exp(np.where(mask, scores - peak, 0)) * mask
        total = e.sum(-1, keepdims=True)
        weights = np.divide(e, total, out=np.zeros_like(e), where=total > 0)
    return drop(weights, dropout_p, rng) @ v, weights


def attention__loop_over_queries(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    refuse(q, k, v, mask, dropout_p)
    batch, T, S = q.shape[:-2], q.shape[-2], k.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*batch, T, S))
    weights = np.zeros((*batch, T, S))
    for place in np.ndindex(*batch, T):
        seen = allowed[place]
        if seen.any():
            scores = k[place[:-1]][seen] @ q[place] * q.shape[-1] ** -0.5
            weights[place][seen] = exponentials(scores)
    return drop(weights, dropout_p, rng) @ v, weights


def attention__log_sum_exp(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    refuse(q, k, v, mask, dropout_p)
    scores = np.asarray(q @ k.mT, float) / sqrt(q.shape[-1])
    if mask is not None:
        scores = scores + np.where(mask, 0.0, -np.inf)
    total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(total), 0, total))
    return drop(weights, dropout_p, rng) @ v, weights


def split_heads__by_split_and_stack(x, num_heads):
    return np.stack(np.split(x, num_heads, axis=-1), axis=-3)


def split_heads__by_slices(x, num_heads):
    if x.shape[-1] % num_heads:
        raise ValueError("heads")
    K = x.shape[-1] // num_heads
    pieces = [x[..., None, :, h * K : (h + 1) * K] for h in range(num_heads)]
    return np.concatenate(pieces, axis=-3)


def merge_heads__by_concatenate(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-1)


def merge_heads__by_einsum(x):
    return np.einsum("...htk->...thk", x).reshape(*x.shape[:-3], x.shape[-2], -1)


class MultiHeadAttention__loop_over_heads(ours.MultiHeadAttention):
    def __call__(self, x, mask=None, *, rng=None):
        B, T, D = x.shape
        H, K = self.num_heads, self.d_model // self.num_heads
        if self.d_model != D or (mask is not None and mask.ndim != 4):
            raise ValueError("shapes")
        full = None if mask is None else np.broadcast_to(mask, (B, H, T, T))
        output, all_weights = np.zeros(x.shape) + self.b_o, []
        for h in range(H):
            own = slice(h * K, (h + 1) * K)
            context, weights = attention__by_einsum(
                x @ self.W_q[:, own] + self.b_q[own],
                x @ self.W_k[:, own] + self.b_k[own],
                x @ self.W_v[:, own] + self.b_v[own],
                None if full is None else full[:, h],
                dropout_p=self.dropout,
                rng=rng,
            )
            output += context @ self.W_o[own]
            all_weights.append(weights)
        return output, np.stack(all_weights, axis=1)


class MultiHeadAttention__fused_qkv:
    def __init__(self, d_model, num_heads, *, dropout=0.0, rng):
        if d_model % num_heads or not 0 <= dropout < 1:
            raise ValueError("d_model, dropout")
        self.heads, self.p = num_heads, dropout
        for name in "vkoq":
            setattr(self, f"W_{name}", rng.standard_normal((d_model, d_model)))
            setattr(self, f"b_{name}", np.zeros(d_model))

    def __call__(self, x, mask=None, *, rng=None):
        W = np.concatenate([self.W_q, self.W_k, self.W_v], axis=1)
        b = np.concatenate([self.b_q, self.b_k, self.b_v])
        B, T, D = x.shape
        q, k, v = np.moveaxis(
            (x @ W + b).reshape(B, T, 3, self.heads, -1), (2, 3), (0, 2)
        )
        if mask is not None and mask.ndim != 4:
            raise ValueError("mask")
        context, weights = attention__minus_1e9_and_rows_zeroed(
            q, k, v, mask, dropout_p=self.p, rng=rng
        )
        return context.transpose(0, 2, 1, 3).reshape(
            B, T, D
        ) @ self.W_o + self.b_o, weights


class MultiHeadAttention__heads_in_the_batch(ours.MultiHeadAttention):
    def __call__(self, x, mask=None, *, rng=None):
        B, T, D = x.shape
        H = self.num_heads
        if mask is not None and mask.ndim != 4:
            raise ValueError("mask")

        def heads(W, b):
            return (x @ W + b).reshape(B, T, H, -1).swapaxes(1, 2).reshape(B * H, T, -1)

        parts = (heads(self.W_q, self.b_q), heads(self.W_k, self.b_k))
        if mask is not None:
            mask = np.broadcast_to(mask, (B, H, T, T)).reshape(B * H, T, T)
        context, weights = attention__finfo_min(
            *parts, heads(self.W_v, self.b_v), mask, dropout_p=self.dropout, rng=rng
        )
        context = context.reshape(B, H, T, -1).swapaxes(1, 2).reshape(B, T, D)
        return context @ self.W_o + self.b_o, weights.reshape(B, H, T, T)
