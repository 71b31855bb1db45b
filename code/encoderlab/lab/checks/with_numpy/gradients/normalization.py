"""Checks of chapter 12: the way back of the norms."""

import numpy as np

from encoderlab.lab.case import ask_vjp
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream


def layer_norm_vjp(solution, rng):
    x, plain = np.array([1.0, 2.0, 3.0, 5.0]), (np.ones(4), np.zeros(4))
    yield ask_vjp(solution, x, *plain, says="[1, 2, 3, 5], gamma of ones", rng=rng)
    yield from _norm(solution, rng, rng.standard_normal((2, 12)) + 0.5)
    constant = np.full((2, 4), 3.0)
    yield ask_vjp(solution, constant, *plain, says="constant rows", rng=rng)


def rms_norm_vjp(solution, rng):
    x, keywords = np.array([3.0, 4.0]), {"eps": 0.0}
    says = "[3, 4], gamma of ones, eps = 0"
    yield ask_vjp(solution, x, np.ones(2), says=says, rng=rng, keywords=keywords)
    yield from _norm(solution, rng, rng.standard_normal((1, 12)) + 0.5)
    says = "rows of zeros"
    yield ask_vjp(solution, np.zeros((2, 4)), np.ones(4), says=says, rng=rng)


def _norm(solution, rng, weights):
    x = 2 * rng.standard_normal((2, 5, 12)) + 1
    one, options = x[0, 0], {"rng": rng, "keywords": {"eps": 0.1}}
    yield ask_vjp(solution, one, *weights, says="one vector of width 12", rng=rng)
    yield ask_vjp(solution, x[0], *weights, says="5 vectors of width 12", rng=rng)
    says = "2 sequences of 5 vectors"
    yield ask_vjp(solution, x, *weights, says=says, rng=rng)
    yield ask_vjp(solution, x, *weights, says="eps = 0.1", **options)
    small = 0.1 * x
    yield ask_vjp(solution, small, *weights, says="eps = 0.1, small values", **options)
    cube = rng.standard_normal((3, 4, 4))
    weights = [weight[:4] for weight in weights]
    says = "as many tokens as coordinates"
    yield ask_vjp(solution, cube, *weights, says=says, rng=rng)
    yield leaves_upstream(solution, cube, *weights)
    wrong = [weight[:3] for weight in weights]
    says = "gamma that does not fit"
    yield ask_vjp(solution, cube, *wrong, says=says, rng=rng, raises=ValueError)
