"""Checks of chapter 12: the way back of the feed-forward network."""

import numpy as np

from encoderlab.lab.case import Case, give_weights
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream
from encoderlab.lab.checks.with_numpy.gradients.attention import ask_layer, with_dropout
from encoderlab.lab.checks.with_numpy.gradients.dropout import factors_of
from encoderlab.with_numpy.feed_forward import FeedForward


def feed_forward_vjp(solution, rng):
    layer = _layer(rng, 2, 3, activation="relu")
    x = np.array([[1.0, -2.0]])
    yield ask_layer(solution, layer, x, says="one vector, 3 hidden, relu", rng=rng)
    x = 0.7 * rng.standard_normal((2, 5, 12)) + 0.1
    for activation in ("relu", "gelu", "gelu_tanh", "silu"):
        layer = _layer(rng, 12, 11, activation=activation)
        yield ask_layer(solution, layer, x, says=f"12 to 11, {activation}", rng=rng)
    square, cube = _layer(rng, 4, 4), rng.standard_normal((4, 4, 4))
    yield ask_layer(solution, square, cube, says="4 of everything", rng=rng)
    yield leaves_upstream(solution, layer, x)
    layer = _layer(rng, 12, 11, dropout=0.3)
    yield ask_layer(solution, layer, x, says="dropout off, p = 0.3", rng=rng)
    yield from with_dropout(solution, layer, x)
    yield from _factors(solution, rng)
    says = "vectors of a width that does not fit"
    wrong = x[..., :7]
    yield ask_layer(solution, layer, wrong, says=says, rng=rng, raises=ValueError)


def _layer(rng, *sizes, **options):
    layer = FeedForward(*sizes, rng=rng, **options)
    return give_weights(layer, layer, rng)


def _factors(solution, rng):
    """Ask a layer whose hidden values are all 1, and whose output shows which are kept.

    Its gradient of b_1 is then the upstream gradient times the factors.
    """
    layer = FeedForward(200, 200, activation="relu", dropout=0.3, rng=rng)
    layer.W_1, layer.b_1 = np.zeros((200, 200)), np.ones(200)
    layer.W_2, layer.b_2 = np.eye(200), np.zeros(200)
    seed, d = int(rng.integers(2**31)), 1 + rng.random((1, 200))

    def run():
        return solution(layer, np.ones((1, 200)), rng=np.random.default_rng(seed))

    def forward():
        y = run()[0]
        return factors_of(y, np.ones_like(y), y != 0)

    def back():
        y, backward = run()
        return factors_of(backward(d)[1]["b_1"][None], d, y != 0)

    yield Case("the factors of dropout on the way forward", forward)
    yield Case("the factors of dropout on the way back", back)
