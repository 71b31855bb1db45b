"""Checks of chapter 09: dropout, whose masks may be drawn in any way."""

from functools import partial

import numpy as np

from encoderlab.lab.case import Case, Property, ask


def dropout(solution, rng):
    seed = int(rng.integers(2**31))

    def drop(x, p, add=0):
        return np.asarray(solution(x, p, np.random.default_rng(seed + add)))

    x = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.0]])
    yield ask(solution, x, 0.4, says="no rng: x as it is")
    off = {"p": 0.0, "rng": np.random.default_rng(seed)}
    yield ask(solution, x, says="p = 0 drops nothing", keywords=off)
    yield from _factors(lambda p, add=0: drop(np.ones((50, 100)), p, add))
    x = 1 + rng.random((50, 100))
    yield Case(
        "each value is 0 or itself divided by 0.7",
        lambda: np.unique(np.round(drop(x, 0.3) / x, 6))[:5],
        (x,),
    )
    yield from _refuses(lambda p, rng: solution(x, p, rng))


def dropout_mask(solution, rng):
    seed = int(rng.integers(2**31))

    def draw(p, add=0, dtype=np.float64):
        return solution((50, 100), p, np.random.default_rng(seed + add), dtype)

    yield Case(
        "p = 0, shape (2, 3): ones",
        lambda: solution((2, 3), 0.0, np.random.default_rng(seed), np.float64),
    )
    yield from _factors(lambda p, add=0: np.asarray(draw(p, add)))
    yield Case("the shape", lambda: np.shape(draw(0.3)))
    for dtype in (np.float32, np.float64):
        name = np.dtype(dtype).name
        ones = partial(draw, 0.0, dtype=dtype)
        yield Case(f"p = 0 in {name}", ones, dtype=True)
        yield Case(f"dtype of the factors, {name}", partial(name_of, draw, dtype))
    yield Property(
        "one seed draws the same places in float32 and float64",
        lambda: np.array_equal(draw(0.3) > 0, draw(0.3, dtype=np.float32) > 0),
    )
    yield from _refuses(lambda p, rng: solution((2, 3), p, rng, np.float64))


def values_of(draw, p):
    """The different factors, at most 5 of them."""
    return np.unique(np.round(np.asarray(draw(p), float), 6))[:5]


def share_of(draw, p):
    """The share of zeros, to one decimal: free of how they were drawn."""
    return np.round(np.mean(draw(p) == 0), 1)


def name_of(draw, dtype):
    """The dtype of the factors of p = 0.3, by name."""
    return np.asarray(draw(0.3, dtype=dtype)).dtype.name


def _factors(draw):
    """What holds of the factors (50, 100), in whatever order they are drawn."""
    for p in (0.2, 0.7):
        yield Case(f"the factors of p = {p}", partial(values_of, draw, p))
        yield Case(
            f"share of zeros for p = {p}, to one decimal", partial(share_of, draw, p)
        )
    yield Property(
        "the same seed drops the same places",
        lambda: np.array_equal(draw(0.3), draw(0.3)),
    )
    yield Property(
        "another seed drops other places",
        lambda: not np.array_equal(draw(0.3), draw(0.3, 1)),
    )
    yield Property(
        "rows are dropped independently of each other",
        lambda: bool(np.ptp(draw(0.3), axis=0).all()),
    )
    yield Property(
        "columns are dropped independently of each other",
        lambda: bool(np.ptp(draw(0.3), axis=1).all()),
    )
    yield Property(
        "how many are dropped is left to chance",
        lambda: len({int((draw(0.3, i) == 0).sum()) for i in range(6)}) > 1,
    )


def _refuses(draw):
    for p in (1.0, -0.1, 1.5):
        call = partial(draw, p, np.random.default_rng(0))
        yield Case(f"p = {p}", call, raises=ValueError)
    yield Case("a seed for rng", lambda: draw(0.3, 3), raises=TypeError)
