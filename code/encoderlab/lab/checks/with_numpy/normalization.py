"""Checks of chapter 07: LayerNorm and RMSNorm."""

from typing import Any

import numpy as np

from encoderlab.lab.case import Case, Property, ask, give_weights
from encoderlab.with_numpy import normalization as ours


def layer_norm(solution, rng):
    ones, zeros = np.ones(4), np.zeros(4)
    x = np.array([1.0, 0.0, 0.0, 0.0])
    yield ask(solution, x, ones, zeros, says="[1, 0, 0, 0]")
    gamma, beta = 1.5 + rng.standard_normal(12), rng.standard_normal(12)
    yield from _of_vectors(lambda x, **o: solution(x, gamma, beta, **o), rng)
    constant = np.full((2, 4), 3.0)
    yield ask(solution, constant, ones, zeros, says="a constant row gives beta")
    far = 1e4 + np.arange(4, dtype=np.float32)
    single = ones.astype(np.float32), zeros.astype(np.float32)
    yield ask(solution, far, *single, says="float32 near 10000", rtol=1e-4)
    wrong = {"raises": ValueError}
    yield ask(solution, x, np.ones(5), zeros, says="gamma of another width", **wrong)
    yield ask(solution, x, ones, np.ones(5), says="beta of another width", **wrong)
    yield ask(solution, x, ones, zeros, -1.0, says="a negative eps", **wrong)


def rms_norm(solution, rng):
    none = {"keywords": {"eps": 0.0}}
    yield ask(solution, np.array([3.0, 4.0]), np.ones(2), says="[3, 4], eps 0", **none)
    gamma = 1.5 + rng.standard_normal(12)
    yield from _of_vectors(lambda x, **o: solution(x, gamma, **o), rng)
    x = np.array([1.0, 0.0, 0.0, 0.0])
    wrong = {"raises": ValueError}
    yield ask(solution, x, np.ones(5), says="gamma of another width", **wrong)
    yield ask(solution, x, np.ones(4), -1.0, says="a negative eps", **wrong)


def _of_vectors(norm, rng):
    x = 0.7 + 2 * rng.standard_normal((2, 5, 12))
    yield ask(norm, x, says="2 sequences of 5 tokens of width 12")
    yield ask(norm, x[:, :2], says="as many sequences as tokens")
    yield ask(norm, x[0], says="5 tokens without a batch axis")
    wide = {"keywords": {"eps": 0.1}}
    yield ask(norm, x, says="eps = 0.1", **wide)
    yield ask(norm, 0.02 * x, says="eps = 0.1, small values", **wide)
    yield ask(norm, 0.002 * x, says="the eps of the signature, small values")
    yield ask(norm, np.zeros((2, 12)), says="a row of zeros")
    other = x.copy()
    other[1] += rng.standard_normal((5, 12))
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: np.allclose(norm(x)[0], norm(other)[0], rtol=1e-9),
    )
    order = rng.permutation(5)
    yield Property(
        "permuting the tokens permutes the result",
        lambda: np.allclose(norm(x)[:, order], norm(x[:, order]), rtol=1e-9),
    )


def LayerNorm(solution, rng):  # noqa: N802  # named as what it checks
    yield Case("gamma of a new layer", lambda: solution(12).gamma)
    yield Case("beta of a new layer", lambda: solution(12).beta)
    yield from _of_layer(solution, ours.LayerNorm(12), rng)


def RMSNorm(solution, rng):  # noqa: N802
    yield Case("gamma of a new layer", lambda: solution(12).gamma)
    yield from _of_layer(solution, ours.RMSNorm(12), rng)


def _of_layer(solution, book, rng):
    layer: Any = give_weights(solution(12, eps=0.1), book, rng)
    usual: Any = give_weights(solution(12), book, rng)
    x = 0.7 + 2 * rng.standard_normal((2, 5, 12))
    yield ask(layer, x, says="2 sequences of 5 tokens, eps = 0.1")
    yield ask(layer, 0.02 * x, says="small values, eps = 0.1")
    yield ask(usual, 0.002 * x, says="small values, the eps of the signature")
    yield ask(usual, x[:, :2], says="as many sequences as tokens")
    other = x.copy()
    other[1] += rng.standard_normal((5, 12))
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: np.allclose(layer(x)[0], layer(other)[0], rtol=1e-9),
    )
    fresh = solution(12)
    yield ask(fresh, x, says="a new layer, its parameters as they are", rtol=1e-5)
    yield ask(solution, 0, says="d_model = 0", raises=ValueError)
    yield ask(solution, 12, -1.0, says="a negative eps", raises=ValueError)
