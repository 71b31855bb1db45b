"""Checks of chapter 07: LayerNorm and RMSNorm."""

import numpy as np

from encoderlab.lab.case import Property, ask, give_weights
from encoderlab.with_numpy import normalization as ours


def layer_norm(solution, rng):
    ones, zeros = np.ones(4), np.zeros(4)
    x = np.array([1.0, 0.0, 0.0, 0.0])
    yield ask(solution, x, ones, zeros, says="[1, 0, 0, 0]")
    x = rng.standard_normal((2, 5, 12))
    gamma, beta = rng.standard_normal(12), rng.standard_normal(12)
    yield ask(solution, x, gamma, beta, says="2 sequences of 5 tokens of width 12")
    options = {"keywords": {"eps": 0.1}}
    yield ask(solution, x, gamma, beta, says="eps = 0.1", **options)
    yield ask(
        solution, 0.02 * x, gamma, beta, says="eps = 0.1, small values", **options
    )
    constant = np.full((2, 4), 3.0)
    yield ask(solution, constant, ones, zeros, says="a constant row gives beta")
    far = 1e4 + np.arange(4, dtype=np.float32)
    single = ones.astype(np.float32), zeros.astype(np.float32)
    yield ask(
        solution, far, *single, says="float32 near 10000", rtol=1e-4, dtype=True
    )


def LayerNorm(solution, rng):  # noqa: N802  # named as what it checks
    fresh = solution(12)
    yield ask(lambda: (fresh.gamma, fresh.beta), says="gamma and beta of a new layer")
    layer = give_weights(solution(12, eps=0.1), ours.LayerNorm(12), rng)
    x = rng.standard_normal((2, 5, 12))
    yield ask(layer, x, says="2 sequences of 5 tokens, eps = 0.1")
    other = x.copy()
    other[1] += 1
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: np.array_equal(layer(x)[0], layer(other)[0]),
    )
