"""Checks of chapter 12: the way back of the residual connection and of the layer."""

import numpy as np

from encoderlab.lab.case import Property, ask_vjp, give_weights
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream
from encoderlab.lab.checks.with_numpy.gradients.attention import ask_layer, with_dropout
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.masks import padding_mask


def residual_vjp(solution, rng):
    def triple(x):
        return 3 * x, lambda d: (3 * d, {})

    yield ask_vjp(solution, np.array([1.0, 2.0]), triple, says="x + 3 x", rng=rng)
    W = rng.standard_normal((4, 4))

    def matrix(x):
        return x @ W, lambda d: (d @ W.T, {"W": x.T @ d})

    x = rng.standard_normal((3, 4))
    yield ask_vjp(solution, x, matrix, says="x + x W, with W's gradient", rng=rng)

    def square(x):
        return x * x, lambda d: (2 * x * d, {"one": d, "other": x * d})

    yield ask_vjp(solution, x, square, says="x + x²", rng=rng)
    yield leaves_upstream(solution, x, square)


def encoder_layer_vjp(solution, rng):
    x = 0.5 * rng.standard_normal((2, 5, 12)) + 0.1
    cube = 0.5 * rng.standard_normal((3, 3, 12))
    mask = padding_mask([3, 5], 5)
    for norm_first in (True, False):
        order = "pre-norm" if norm_first else "post-norm"
        options = {"norm_first": norm_first, "eps": 0.1}
        layer = _layer(rng, **options)
        yield ask_layer(solution, layer, x, says=f"{order}, 2 sequences", rng=rng)
        says = f"{order}, unequal padding"
        yield ask_layer(solution, layer, x, mask, says=says, rng=rng)
        layer = _layer(rng, activation="relu", **options)
        yield ask_layer(solution, layer, cube, says=f"{order}, relu", rng=rng)
        yield leaves_upstream(solution, layer, cube)
        layer = _layer(rng, dropout=0.3, **options)
        says = f"{order}, dropout off, p = 0.3"
        yield ask_layer(solution, layer, x, says=says, rng=rng)
        yield from with_dropout(solution, layer, x, mask=mask)
    yield from _each_dropout(solution, rng)
    says, flat = "a mask of three axes", np.ones((2, 5, 5), bool)
    yield ask_layer(solution, layer, x, flat, says=says, rng=rng, raises=ValueError)


def _layer(rng, **options):
    layer = EncoderLayer(12, 3, 11, rng=rng, **options)
    return give_weights(layer, layer, rng)


def _each_dropout(solution, rng):
    """Ask for zeros that only the dropout on a sublayer's output can make."""
    x = rng.standard_normal((2, 5, 12))
    names = {"attention": "feed_forward", "feed_forward": "attention"}
    for name, other in names.items():
        quiet = _layer(rng, dropout=0.3)
        last = getattr(quiet, other)
        for attribute in ("W_o", "b_o") if other == "attention" else ("W_2", "b_2"):
            setattr(last, attribute, 0 * getattr(last, attribute))

        def holds(quiet=quiet):
            y, _ = solution(quiet, x, rng=np.random.default_rng(3))
            return 0.1 < np.mean(y == x) < 0.5

        yield Property(f"dropout zeroes part of the output of {name}", holds)
