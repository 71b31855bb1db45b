"""Layers with other parts inside: fused projections, loops over heads, own norms."""

from types import SimpleNamespace

import numpy as np

from encoderlab.with_numpy.encoder_layer import EncoderLayer as Ours
from encoderlab.with_numpy.feed_forward import ACTIVATIONS


def _normed(x, norm, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.einsum("...d,...d->...", centred, centred)[..., None] / x.shape[-1]
    return centred * (variance + eps) ** -0.5 * norm.gamma + norm.beta


class EncoderLayer__all_in_one(Ours):
    """One residual function, fused q, k, v, -1e9 with empty rows zeroed."""

    def __init__(self, d_model, num_heads, d_ff, **choices):
        super().__init__(d_model, num_heads, d_ff, **choices)
        self.eps, self.heads = choices.get("eps", 1e-5), num_heads

    def drop(self, x, rng):
        if rng is None or self.dropout == 0:
            return x
        return x * rng.binomial(1, 1 - self.dropout, x.shape) / (1 - self.dropout)

    def attend(self, x, mask, rng):
        a, (B, T, D) = self.attention, x.shape
        W = np.concatenate([a.W_q, a.W_k, a.W_v], axis=1)
        qkv = x @ W + np.concatenate([a.b_q, a.b_k, a.b_v])
        q, k, v = np.moveaxis(qkv.reshape(B, T, 3, self.heads, -1), (2, 3), (0, 2))
        scores = np.einsum("bhtk,bhsk->bhts", q, k) / np.sqrt(D // self.heads)
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        if mask is not None:
            weights = weights * mask.any(axis=-1, keepdims=True)
        context = np.einsum("bhts,bhsk->bthk", self.drop(weights, rng), v)
        return context.reshape(B, T, D) @ a.W_o + a.b_o, weights

    def change(self, x, rng):
        f = self.feed_forward
        hidden = ACTIVATIONS[f.activation](x @ f.W_1 + f.b_1)
        return self.drop(hidden, rng) @ f.W_2 + f.b_2

    def __call__(self, x, mask=None, *, rng=None):
        kept = SimpleNamespace()

        def attend(z):
            out, kept.weights = self.attend(z, mask, rng)
            return out

        def sublayer(x, f, norm):
            if self.norm_first:
                return x + self.drop(f(_normed(x, norm, self.eps)), rng)
            return _normed(x + self.drop(f(x), rng), norm, self.eps)

        x = sublayer(x, attend, self.norm_1)
        return sublayer(x, lambda z: self.change(z, rng), self.norm_2), kept.weights


class EncoderLayer__head_by_head(Ours):
    """Each sequence and head by itself, an additive mask, exp after log-sum-exp."""

    def __call__(self, x, mask=None, *, rng=None):
        if rng is not None:
            return super().__call__(x, mask, rng=rng)
        a, K = self.attention, x.shape[-1] // self.attention.num_heads
        source = self.norm_1(x) if self.norm_first else x
        B, T = x.shape[:2]
        weights = np.zeros((B, a.num_heads, T, T))
        attended = np.tile(a.b_o.astype(float), (B, T, 1))
        allowed = np.broadcast_to(True if mask is None else mask, weights.shape)
        for b, h in np.ndindex(B, a.num_heads):
            part = slice(h * K, (h + 1) * K)
            q = source[b] @ (a.W_q[:, part] / K**0.5) + a.b_q[part] / K**0.5
            k = source[b] @ a.W_k[:, part] + a.b_k[part]
            v = source[b] @ a.W_v[:, part] + a.b_v[part]
            scores = q @ k.T + np.where(allowed[b, h], 0.0, -np.inf)
            for t in range(T):
                if allowed[b, h, t].any():
                    peak = scores[t].max()
                    total = peak + np.log(np.exp(scores[t] - peak).sum())
                    weights[b, h, t] = np.exp(scores[t] - total)
            attended[b] += weights[b, h] @ v @ a.W_o[part]
        h = x + attended
        if self.norm_first:
            return self.feed_forward(self.norm_2(h)) + h, weights
        h = self.norm_1(h)
        return self.norm_2(self.feed_forward(h) + h), weights


class EncoderLayer__residual_as_a_block_matrix(Ours):
    """The sums taken as products with [I, I]; weights computed once more, apart."""

    def __call__(self, x, mask=None, *, rng=None):
        both = np.concatenate([np.eye(x.shape[-1])] * 2)

        def add(x, change):
            if rng is not None:
                keep = rng.random(x.shape)[..., ::-1] < 1 - self.dropout
                change = np.where(keep, change / (1 - self.dropout), 0)
            return np.concatenate([x, change], axis=-1) @ both

        if self.norm_first:
            attended, _ = self.attention(self.norm_1(x), mask, rng=rng)
            h = add(x, attended)
            y = add(h, self.feed_forward(self.norm_2(h), rng=rng))
            return y, self.attention(self.norm_1(x), mask)[1]
        attended, weights = self.attention(x, mask, rng=rng)
        h = self.norm_1(add(x, attended))
        return self.norm_2(add(h, self.feed_forward(h, rng=rng))), weights
