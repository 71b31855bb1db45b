"""Checks of chapter 12: the way back of pooling."""

import numpy as np

from encoderlab.lab.case import Property, ask_vjp
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream


def mean_pool_vjp(solution, rng):
    x, mask = np.array([[1.0], [3.0], [8.0]]), np.array([True, True, False])
    yield ask_vjp(solution, x, mask, says="two tokens and one of padding", rng=rng)
    x = rng.standard_normal((2, 5, 12))
    mask = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]], bool)
    yield ask_vjp(solution, x, np.ones((2, 5), bool), says="no padding", rng=rng)
    yield ask_vjp(solution, x, mask, says="3 and 4 of 5 tokens are real", rng=rng)
    mask = np.eye(4, dtype=bool) | (rng.random((4, 4)) < 0.4)
    x = rng.standard_normal((4, 4, 4))
    yield ask_vjp(solution, x, mask, says="4 sequences of 4 tokens, width 4", rng=rng)
    mask[2] = False
    yield ask_vjp(solution, x, mask, says="a sequence of padding alone", rng=rng)
    yield leaves_upstream(solution, x, mask)
    y = x.copy()
    y[1] += 1

    def alone():
        one, other = (solution(z, mask)[1](np.ones((4, 4)))[0] for z in (x, y))
        return np.array_equal(one, other)

    yield Property("sequence 1 does not change the gradient of sequence 0", alone)
    numbers = mask.astype(int)
    says = "a mask of 0 and 1"
    yield ask_vjp(solution, x, numbers, says=says, rng=rng, raises=TypeError)
    says = "a mask that does not fit"
    yield ask_vjp(solution, x, mask[:, :3], says=says, rng=rng, raises=ValueError)
