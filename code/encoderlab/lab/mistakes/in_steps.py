"""Attention and its layer cut into steps, so that a mistake changes one of them."""

from math import sqrt

import numpy as np

from encoderlab.with_numpy import attention as ours
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.functional import as_float, linear, masked_softmax, softmax


def scores_of(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Compare every query with every key, divided by the root of the width."""
    return q @ k.swapaxes(-1, -2) / sqrt(q.shape[-1])


def weigh(scores: np.ndarray, mask: np.ndarray | None = None, axis: int = -1):
    """Turn scores into weights, by the mask if there is one."""
    if mask is None:
        return softmax(scores, axis)
    return masked_softmax(scores, mask, axis)


def answer(weights: np.ndarray, v: np.ndarray, dropout_p: float = 0.0, rng=None):
    """Average the values, with dropout on the weights if there is an rng."""
    return dropout(weights, dropout_p, rng) @ v, weights


class Heads(ours.MultiHeadAttention):
    """The layer in steps: ``project``, ``split``, ``attend``, ``merge``, ``finish``."""

    def __call__(self, x, mask=None, *, rng=None):
        """Take the steps one after the other."""
        x = as_float(x)
        if mask is not None:
            ours.require_score_axes(mask, x)
        q, k, v = map(self.split, self.project(x))
        context, weights = self.attend(q, k, v, mask, rng)
        return self.finish(self.merge(context), x, rng), weights

    def project(self, x):
        """Make queries, keys and values."""
        return [
            linear(x, W, b)
            for W, b in (
                (self.W_q, self.b_q),
                (self.W_k, self.b_k),
                (self.W_v, self.b_v),
            )
        ]

    def split(self, x):
        """Cut vectors into heads."""
        return ours.split_heads(x, self.num_heads)

    def attend(self, q, k, v, mask, rng):
        """Attend in every head."""
        return ours.attention(q, k, v, mask, dropout_p=self.dropout, rng=rng)

    def merge(self, x):
        """Join the heads."""
        return ours.merge_heads(x)

    def finish(self, merged, x, rng):
        """Mix what the heads found."""
        return linear(merged, self.W_o, self.b_o)
