"""Checks of chapter 12: the way back of dropout, however the factors are drawn."""

import numpy as np

from encoderlab.lab.case import Case, Property, ask_vjp
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream


def factors_of(gradient, upstream, kept):
    """Give the least and largest factor where values were kept and where dropped."""
    factor = np.asarray(gradient) / upstream
    return {
        "least and largest factor where a value was kept": _ends(factor[kept]),
        "the same where it was dropped": _ends(factor[~kept]),
    }


def _ends(values):
    return np.array([values.min(), values.max()] if values.size else [9.0, 9.0])


def dropout_vjp(solution, rng):
    x = rng.standard_normal((2, 5, 12)) + 0.1
    yield ask_vjp(solution, x, 0.3, says="without a generator", rng=rng)
    generator = np.random.default_rng(0)
    yield ask_vjp(solution, x, 0.0, generator, says="p = 0", rng=rng)
    seed = int(rng.integers(2**31))
    x = rng.choice([-1, 1], (20, 60)) * (1 + rng.random((20, 60)))
    upstream = rng.choice([-1, 1], (20, 60)) * (1 + rng.random((20, 60)))

    def run(p, seed=seed):
        return solution(x, p, np.random.default_rng(seed))

    def forward(p):
        y = run(p)[0]
        return factors_of(y, x, y != 0)

    def back(p):
        y, backward = run(p)
        return factors_of(backward(upstream), upstream, y != 0)

    for p in (0.3, 0.8):
        yield Case(f"p = {p}: the factors on the way forward", lambda p=p: forward(p))
        yield Case(f"p = {p}: the factors on the way back", lambda p=p: back(p))
        yield Property(
            f"about {100 * p:.0f} % of the values are dropped",
            lambda p=p: abs(np.mean(run(p)[0] == 0) - p) < 0.08,
        )
    yield Property(
        "generators of the same seed drop the same values",
        lambda: np.array_equal(run(0.3)[0], run(0.3)[0]),
    )
    yield Property(
        "generators of two seeds drop different values",
        lambda: not np.array_equal(run(0.3)[0], run(0.3, seed + 1)[0]),
    )
    yield leaves_upstream(lambda: run(0.3))
    says = "p = 1 is refused"
    yield ask_vjp(solution, x, 1.0, generator, says=says, rng=rng, raises=ValueError)
    yield ask_vjp(solution, x, 0.3, 7, says="a seed", rng=rng, raises=TypeError)
