"""Checks of chapter 12: the chain rule as a function."""

import numpy as np

from encoderlab.lab.case import Case, ask_vjp


def _times(name, factor):
    """A step y = factor * x, whose factor is a parameter."""

    def step(x):
        return factor * x, lambda d: (factor * d, {name: (x * d).sum()})

    return step


def _square(x):
    return x * x, lambda d: (2 * x * d, {})


def _matrix(name, W):
    def step(x):
        return x @ W, lambda d: (d @ W.T, {name: x.T @ d})

    return step


def chain(solution, rng):
    def run(*steps):
        return lambda x: solution(*steps)(x)

    double, triple = _times("double", 2.0), _times("triple", 3.0)
    x = np.array([[3.0, -1.0]])
    yield ask_vjp(run(double), x, says="a single step, 2 x", rng=rng)
    yield ask_vjp(run(double, triple), x, says="2 x, then 3 times that", rng=rng)
    yield ask_vjp(run(double, _square), x, says="2 x, then its square", rng=rng)
    yield ask_vjp(run(_square, double), x, says="the square, then doubled", rng=rng)
    first = _matrix("first", rng.standard_normal((4, 3)))
    last = _matrix("last", rng.standard_normal((3, 5)))
    x = rng.standard_normal((2, 4))
    steps = first, _square, last, triple
    yield ask_vjp(run(*steps), x, says="two matrices and two more steps", rng=rng)

    def nested(x):
        return solution(solution(first, _square), solution(last, triple))(x)

    yield ask_vjp(nested, x, says="a chain of two chains", rng=rng)
    other, d = rng.standard_normal((2, 4)), rng.standard_normal((2, 5))

    def twice():
        step = solution(*steps)
        (_, back_from_x), (_, back_from_other) = step(x), step(other)
        return {"first": back_from_x(d), "second": back_from_other(d)}

    yield Case("one chain run on two inputs", twice, (x, other, d))
