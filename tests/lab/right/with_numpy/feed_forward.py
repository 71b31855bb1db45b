import math

import numpy as np
from scipy.special import erf

ACTIVE = {
    "relu": lambda h: np.maximum(h, 0),
    "gelu": lambda h: h * (1 + erf(h / math.sqrt(2))) / 2,
    "gelu_tanh": lambda h: (
        h / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h**3)))
    ),
    "silu": lambda h: h / (1 + np.exp(-h)),
}


class FeedForward__in_plain_numpy:
    def __init__(self, d_model, d_ff, *, activation="gelu", dropout=0.0, rng):
        if min(d_model, d_ff) < 1 or activation not in ACTIVE or not 0 <= dropout < 1:
            raise ValueError("out of range")
        self.d_model, self.d_ff, self.p = d_model, d_ff, dropout
        self.active = ACTIVE[activation]
        self.draw(rng)

    def draw(self, rng):
        self.W_2 = rng.normal(0, 0.02, (self.d_ff, self.d_model))  # W_2 before W_1
        self.W_1 = rng.normal(0, 0.02, (self.d_model, self.d_ff))
        self.b_1, self.b_2 = np.zeros(self.d_ff), np.zeros(self.d_model)

    def __call__(self, x, *, rng=None):
        if x.shape[-1] != self.d_model:
            raise ValueError("x has the wrong width")
        return self.transform(x, rng)

    def transform(self, x, rng):
        h = self.dropped(self.active(x @ self.W_1 + self.b_1), rng)
        return h @ self.W_2 + self.b_2

    def dropped(self, h, rng):
        if rng is None:
            return h
        return h * rng.binomial(1, 1 - self.p, h.shape) / (1 - self.p)


class FeedForward__loop_over_tokens(FeedForward__in_plain_numpy):
    def transform(self, x, rng):
        out = np.empty(x.shape)
        for place in np.ndindex(x.shape[:-1]):
            h = self.dropped(self.active(self.W_1.T @ x[place] + self.b_1), rng)
            out[place] = self.W_2.T @ h + self.b_2
        return out


class FeedForward__flattened(FeedForward__in_plain_numpy):
    def transform(self, x, rng):
        return super().transform(x.reshape(-1, self.d_model), rng).reshape(x.shape)

    def dropped(self, h, rng):
        if rng is None or self.p == 0:
            return h
        return np.where(rng.uniform(size=h.shape) < self.p, 0, h / (1 - self.p))


class FeedForward__by_einsum(FeedForward__in_plain_numpy):
    def draw(self, rng):
        bound = 1 / math.sqrt(self.d_model)
        self.W_1 = rng.uniform(-bound, bound, (self.d_model, self.d_ff))
        self.b_1 = rng.uniform(-bound, bound, self.d_ff)
        self.W_2 = rng.uniform(-bound, bound, (self.d_ff, self.d_model))
        self.b_2 = rng.uniform(-bound, bound, self.d_model)

    def transform(self, x, rng):
        h = self.active(np.einsum("...d,df->...f", x, self.W_1) + self.b_1)
        return np.einsum("...f,fd->...d", self.dropped(h, rng), self.W_2) + self.b_2

    def dropped(self, h, rng):
        if rng is None:
            return h
        kept = rng.choice([0.0, 1.0], size=h.shape, p=[self.p, 1 - self.p])
        return h * kept / (1 - self.p)
