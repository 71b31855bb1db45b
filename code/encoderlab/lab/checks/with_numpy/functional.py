"""Checks of chapters 02, 04 and 08: linear maps, softmax, activations."""

import numpy as np

from encoderlab.lab.case import ask


def softmax(solution, rng):
    yield ask(solution, np.array([1.0, 2.0, 3.0]), says="softmax of [1, 2, 3]")
    x = 2 * rng.standard_normal((3, 5))
    yield ask(solution, x, says="3 rows of 5 scores")
    yield ask(solution, x, says="the same along axis 0", keywords={"axis": 0})
    y = 2 * rng.standard_normal((2, 4, 3))
    yield ask(solution, y, says="a middle axis", keywords={"axis": 1})
    large = np.array([[1000.0, 1001.0, 1002.0], [0.0, 1.0, -1e4]])
    yield ask(solution, large, says="scores of 1000, and 0 beside -10000")
    hidden = np.array([[0.5, -np.inf, 1.0]])
    yield ask(solution, hidden, says="a score of minus infinity")
    yield ask(solution, np.array([[1, 2], [3, 5]]), says="whole numbers")
    yield ask(solution, x.astype(np.float32), says="float32", rtol=1e-5, dtype=True)
