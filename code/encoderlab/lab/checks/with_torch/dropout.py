"""Checks of chapter 14: dropout, whose places may be drawn in any way."""

from functools import partial

import torch

from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import own_chance


def dropout(solution, rng):
    seed = int(rng.integers(2**31))

    def drop(x, p, add=0):
        with own_chance(seed + add):
            return solution(x, p)

    ones = torch.ones(50, 100, dtype=torch.float64)
    x = torch.tensor([[1.0, -2.0, 0.5], [3.0, 4.0, -1.0]])
    yield ask(solution, x, 0.0, says="p = 0 drops nothing")
    for p in (0.2, 0.7):
        yield Case(f"the factors of p = {p}", partial(_values, drop, ones, p))
        says = f"share of zeros for p = {p}, to one decimal"
        yield Case(says, partial(_share, drop, ones, p))
    some = 1 + torch.from_numpy(rng.random((50, 100)))
    says = "each value is 0 or itself divided by 0.7"
    yield Case(says, lambda: (drop(some, 0.3) / some).round(decimals=6).unique()[:5])
    yield ask(drop, some.float(), 0.0, says="float32 stays float32", dtype=True)
    yield Property(
        "one seed drops the same places, another others",
        lambda: (
            torch.equal(drop(ones, 0.3), drop(ones, 0.3))
            and not torch.equal(drop(ones, 0.3), drop(ones, 0.3, 1))
        ),
    )
    for axis, name in enumerate(("rows", "columns")):
        yield Property(
            f"{name} are dropped independently of each other",
            lambda axis=axis: bool(drop(ones, 0.3).std(axis).all()),
        )
    yield Property(
        "how many are dropped is left to chance",
        lambda: len({int((drop(ones, 0.3, i) == 0).sum()) for i in range(6)}) > 1,
    )
    yield Property(
        "x is as it was",
        lambda: (drop(kept := some.clone(), 0.3), torch.equal(kept, some))[1],
    )
    yield Property(
        "the gradient passes where values are kept, divided by 0.7, and is 0 elsewhere",
        lambda: _passes(lambda x: drop(x, 0.3)),
    )
    for p in (1.0, -0.1, 1.5):
        yield ask(solution, x, p, says=f"p = {p}", raises=ValueError)


def _values(drop, x, p):
    """The different factors, at most 5 of them."""
    return drop(x, p).round(decimals=6).unique()[:5]


def _share(drop, x, p):
    """The share of zeros, to one decimal: free of how they were drawn."""
    return round(float((drop(x, p) == 0).double().mean()), 1)


def _passes(drop):
    x = torch.ones(20, 30, requires_grad=True)
    y = drop(x)
    (gradient,) = torch.autograd.grad(y, x, 2 + torch.zeros_like(y))
    return torch.allclose(gradient, 2 * y, rtol=1e-6)
