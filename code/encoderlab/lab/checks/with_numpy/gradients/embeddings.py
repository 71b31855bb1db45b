"""Checks of chapter 12: the way back of a look-up."""

import numpy as np

from encoderlab.lab.case import ask_vjp
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream


def embedding_vjp(solution, rng):
    table, ids = np.array([[0.0], [1.0], [2.0]]), np.array([2, 0])
    yield ask_vjp(solution, table, ids, says="each id once", rng=rng)
    ids = np.array([1, 1, 1])
    yield ask_vjp(solution, table, ids, says="one id three times", rng=rng)
    table = rng.standard_normal((7, 4))
    ids = np.array([[4, 0, 4, 4, 6], [1, 4, 0, 2, 2]])
    yield ask_vjp(solution, table, ids, says="2 sequences of 5 ids", rng=rng)
    ids = rng.integers(0, 7, (7, 7))
    yield ask_vjp(solution, table, ids, says="as many sequences as rows", rng=rng)
    yield ask_vjp(solution, table, np.array(3), says="a single id", rng=rng)
    yield leaves_upstream(solution, table, ids)
