"""Checks of chapter 12: the way back of the loss."""

import numpy as np

from encoderlab.lab.case import ask_vjp

IGNORED = -100


def cross_entropy_vjp(solution, rng):
    x, t = np.zeros((1, 4)), np.array([2])
    yield ask_vjp(solution, x, t, says="four scores of 0, class 2", rng=rng)
    x, t = 2 * rng.standard_normal((5, 7)), np.array([2, 0, 6, 2, 3])
    yield ask_vjp(solution, x, t, says="5 positions, 7 classes", rng=rng)
    x, t = 2 * rng.standard_normal((2, 5, 7)), rng.integers(0, 7, (2, 5))
    yield ask_vjp(solution, x, t, says="2 sequences of 5 positions", rng=rng)
    options = {"rng": rng, "keywords": {"label_smoothing": 0.2}}
    yield ask_vjp(solution, x, t, says="label smoothing of 0.2", **options)
    padded = t.copy()
    padded[0, 3:], padded[1, 0] = IGNORED, IGNORED
    options["keywords"] = {"ignore_index": IGNORED}
    yield ask_vjp(solution, x, padded, says="3 of 10 targets ignored", **options)
    options["keywords"] = {"ignore_index": IGNORED, "label_smoothing": 0.2}
    yield ask_vjp(solution, x, padded, says="both", **options)
    t[0, :2] = 2, 3
    options["keywords"] = {"ignore_index": 2}
    yield ask_vjp(solution, x, t, says="class 2 ignored", **options)
    options["keywords"] = {"ignore_index": IGNORED}
    none = np.full((2, 5), IGNORED)
    yield ask_vjp(solution, x, none, says="every target ignored", **options)
    large = 1000 * x[0]
    yield ask_vjp(solution, large, t[0], says="scores of 1000", rng=rng)
    outside = np.full((2, 5), 7)
    says = "a class that does not exist"
    yield ask_vjp(solution, x, outside, says=says, rng=rng, raises=ValueError)
    real = t.astype(float)
    says = "targets that are no whole numbers"
    yield ask_vjp(solution, x, real, says=says, rng=rng, raises=TypeError)
