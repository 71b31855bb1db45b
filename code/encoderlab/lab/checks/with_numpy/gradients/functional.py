"""Checks of chapter 12: the way back of the functions."""

import numpy as np

from encoderlab.lab.case import ask_vjp
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream


def linear_vjp(solution, rng):
    x, W = np.array([[1.0, 2.0]]), np.array([[1.0, -1.0], [0.5, 2.0]])
    yield ask_vjp(solution, x, W, says="one vector [1, 2], no bias", rng=rng)
    b = np.array([0.5, -2.0])
    yield ask_vjp(solution, x, W, b, says="the same with a bias", rng=rng)
    x, W, b = draw(rng, 2, 5, 4), draw(rng, 4, 3), draw(rng, 3)
    yield ask_vjp(solution, x, W, b, says="2 sequences of 5 vectors, 4 to 3", rng=rng)
    yield ask_vjp(solution, x[0], W, b, says="5 vectors, 4 to 3", rng=rng)
    square = draw(rng, 4, 4)
    yield ask_vjp(solution, x[0, :4], square, says="4 vectors, 4 to 4", rng=rng)
    yield ask_vjp(solution, x[0, 0], W, b, says="a single vector, no batch", rng=rng)
    yield leaves_upstream(solution, x, W, b)
    says = "W does not fit x"
    yield ask_vjp(solution, x, W.T, says=says, rng=rng, raises=ValueError)


def softmax_vjp(solution, rng):
    x = np.array([1.0, 2.0, 3.0])
    yield ask_vjp(solution, x, says="softmax of [1, 2, 3]", rng=rng)
    yield from _along_axes(solution, rng)


def log_softmax_vjp(solution, rng):
    yield ask_vjp(solution, np.zeros(4), says="four scores of 0", rng=rng)
    yield from _along_axes(solution, rng)


def _along_axes(solution, rng):
    x = 2 * draw(rng, 2, 3, 5)
    yield ask_vjp(solution, x, says="rows of 5 scores", rng=rng)
    options = {"rng": rng, "keywords": {"axis": 1}}
    yield ask_vjp(solution, x, says="along axis 1", **options)
    yield ask_vjp(solution, draw(rng, 4, 4), says="4 by 4, along axis 1", **options)
    options["keywords"] = {"axis": 0}
    yield ask_vjp(solution, draw(rng, 4, 4), says="4 by 4, along axis 0", **options)
    large = np.array([[1000.0, 1001.0, 1002.0], [-2000.0, -2001.0, -2003.0]])
    yield ask_vjp(solution, large, says="scores of 1000 and of -2000", rng=rng)
    yield leaves_upstream(solution, x)


def masked_softmax_vjp(solution, rng):
    mask = np.array([True, True, False])
    says = "scores [0, 1, 2], the last one masked"
    yield ask_vjp(solution, np.arange(3.0), mask, says=says, rng=rng)
    x, mask = 2 * draw(rng, 2, 3, 5), np.array([[1, 1, 0, 1, 0]] * 3 + [[1] * 5] * 3)
    mask = mask.reshape(2, 3, 5).astype(bool)
    yield ask_vjp(solution, x, mask, says="rows of 5, unequal padding", rng=rng)
    mask[1, 0] = False
    yield ask_vjp(solution, x, mask, says="a row in which nothing is allowed", rng=rng)
    says = "a mask that broadcasts"
    yield ask_vjp(solution, x, mask[:, 1:2], says=says, rng=rng)
    mask[:, 2] = True
    options = {"rng": rng, "keywords": {"axis": 1}}
    yield ask_vjp(solution, x, mask, says="along axis 1", **options)
    yield leaves_upstream(solution, x, mask)
    numbers = mask.astype(int)
    says = "a mask of 0 and 1"
    yield ask_vjp(solution, x, numbers, says=says, rng=rng, raises=TypeError)
    says = "a mask that does not fit"
    yield ask_vjp(solution, x, mask[:, :, :4], says=says, rng=rng, raises=ValueError)


def relu_vjp(solution, rng):
    x = np.array([-1.0, 0.0, 2.0])
    yield ask_vjp(solution, x, says="[-1, 0, 2]", rng=rng)
    x = 2 * draw(rng, 2, 3, 5)
    yield ask_vjp(solution, x, says="2 by 3 by 5 values", rng=rng)
    yield leaves_upstream(solution, x)


def silu_vjp(solution, rng):
    yield ask_vjp(solution, np.array([0.0, 1.0, -2.0]), says="[0, 1, -2]", rng=rng)
    yield from _smooth(solution, rng)


def gelu_vjp(solution, rng):
    yield ask_vjp(solution, np.array([0.0, 1.0, -2.0]), says="[0, 1, -2]", rng=rng)
    yield from _smooth(solution, rng)
    options = {"rng": rng, "keywords": {"approximate": "tanh"}}
    x = np.array([0.0, 1.0, -2.0])
    yield ask_vjp(solution, x, says="[0, 1, -2], the approximation", **options)
    x = 2 * draw(rng, 2, 3, 5)
    yield ask_vjp(solution, x, says="2 by 3 by 5 values, approximated", **options)
    options["keywords"] = {"approximate": "erf"}
    says = "an unknown approximation"
    yield ask_vjp(solution, x, says=says, raises=ValueError, **options)


def _smooth(solution, rng):
    x = 2 * draw(rng, 2, 3, 5)
    yield ask_vjp(solution, x, says="2 by 3 by 5 values", rng=rng)
    far = np.array([-800.0, -30.0, 30.0, 800.0])
    yield ask_vjp(solution, far, says="values of 30 and 800", rng=rng)
    yield leaves_upstream(solution, x)


def draw(rng, *shape):
    """Draw values of order 1 whose mean is not 0."""
    return rng.standard_normal(shape) + 0.1
