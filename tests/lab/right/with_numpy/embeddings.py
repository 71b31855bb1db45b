"""Positions, look-ups and cuts by other routes."""

import numpy as np

from encoderlab.with_numpy import embeddings as ours


def _refuse(n, d, dtype):
    if not np.issubdtype(dtype, np.floating):
        raise TypeError(dtype)
    if n < 1 or d < 1:
        raise ValueError((n, d))


def sinusoidal_positions__by_exp_and_log(max_len, d_model, dtype=np.float32):
    _refuse(max_len, d_model, dtype)
    pairs = np.arange(0, d_model, 2)
    speeds = np.exp(pairs * (-np.log(10000.0) / d_model))
    angles = np.outer(np.arange(max_len), speeds)
    both = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return both.reshape(max_len, -1)[:, :d_model].astype(dtype)


def sinusoidal_positions__by_loops(max_len, d_model, dtype=np.float32):
    _refuse(max_len, d_model, dtype)
    table = np.zeros((max_len, d_model))
    t = np.arange(max_len)
    for c in range(d_model):
        angle = t / 10000 ** ((c - c % 2) / d_model)
        table[:, c] = np.cos(angle) if c % 2 else np.sin(angle)
    return table.astype(dtype)


def sinusoidal_positions__by_complex_numbers(max_len, d_model, dtype=np.float32):
    _refuse(max_len, d_model, dtype)
    speeds = np.power(10000.0, -np.arange(0, d_model, 2) / d_model)
    turned = np.exp(1j * np.arange(max_len)[:, None] * speeds)
    table = np.empty((max_len, 2 * len(speeds)), dtype)
    table[:, ::2], table[:, 1::2] = turned.imag, turned.real
    return table[:, :d_model]


class TextEmbeddings__by_one_hot_products(ours.TextEmbeddings):
    def __call__(self, token_ids, segment_ids=None, *, rng=None):
        config = self.config
        token_ids, segment_ids = ours.require_ids(config, token_ids, segment_ids)
        x = np.eye(config.vocab_size)[token_ids] @ self.W_token
        x = x + np.eye(config.num_segments)[segment_ids] @ self.W_segment
        if config.positions == "learned":
            x += np.take(self.W_position, np.arange(token_ids.shape[1]), axis=0)
        elif config.positions == "sinusoidal":
            x += ours.sinusoidal_positions(*x.shape[1:])
        x = self.norm(x)
        if rng is not None and config.dropout:
            x = np.where(rng.uniform(size=x.shape) < config.dropout, 0.0, x)
            x = x / (1 - config.dropout)
        return x


class TextEmbeddings__token_by_token(ours.TextEmbeddings):
    def __init__(self, config, *, rng):
        super().__init__(config, rng=rng)
        if config.positions == "sinusoidal":
            self.clocks = ours.sinusoidal_positions(
                config.max_seq_len, config.d_model, np.float64
            )

    def __call__(self, token_ids, segment_ids=None, *, rng=None):
        token_ids, segments = ours.require_ids(self.config, token_ids, segment_ids)
        out = np.empty((*token_ids.shape, self.config.d_model))
        for b, t in np.ndindex(token_ids.shape):
            row = self.W_token[token_ids[b, t]] + self.W_segment[segments[b, t]]
            if self.W_position is not None:
                row = row + self.W_position[t]
            elif self.config.positions == "sinusoidal":
                row = row + self.clocks[t]
            out[b, t] = self.norm(row)
        p = self.config.dropout
        if rng is None:
            return out
        kept = rng.permuted(np.arange(out.size) >= p * out.size).reshape(out.shape)
        return out * kept / (1 - p)


def _cut(images, p):
    _, _, Y, X = images.shape
    if p < 1 or Y % p or X % p:
        raise ValueError(p)
    return [
        images[:, :, y : y + p, x : x + p].reshape(len(images), -1)
        for y in range(0, Y, p)
        for x in range(0, X, p)
    ]


def cut_patches__by_loops(images, patch_size):
    return np.stack(_cut(images, patch_size), axis=1)


def cut_patches__by_sliding_windows(images, patch_size):
    _cut(images, patch_size)
    p = patch_size
    windows = np.lib.stride_tricks.sliding_window_view(images, (p, p), (2, 3))
    windows = np.einsum("bcyxpq->byxcpq", windows[:, :, ::p, ::p])
    return windows.reshape(len(images), -1, images.shape[1] * p * p)


class PatchEmbeddings__as_a_convolution(ours.PatchEmbeddings):
    def __call__(self, images, *, rng=None):
        config = self.config
        images, p = ours.require_images(config, images), config.patch_size
        kernel = self.W_patch.reshape(config.num_channels, p, p, config.d_model)
        B, C, Y, X = images.shape
        grid = images.reshape(B, C, Y // p, p, X // p, p)
        x = np.einsum("bcypxq,cpqd->byxd", grid, kernel).reshape(B, -1, config.d_model)
        out = np.empty((B, 1 + x.shape[1], config.d_model))
        out[:, 0], out[:, 1:] = self.class_token, x + self.b_patch
        if self.W_position is not None:
            out += self.W_position
        if config.positions == "sinusoidal":
            out += ours.sinusoidal_positions(*out.shape[1:], np.float64)
        if rng is None:
            return out
        return out * (rng.random(out.shape) > config.dropout) / (1 - config.dropout)
