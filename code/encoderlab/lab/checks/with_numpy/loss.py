"""Checks of chapters 12 and 13: the loss."""

import numpy as np

from encoderlab.lab.case import Case, Property, ask


def cross_entropy(solution, rng):
    row, third = np.array([[1.0, 2.0, 3.0]]), np.array([2])
    yield ask(solution, row, third, says="scores [1, 2, 3], the last class is right")
    x, t = 2 * rng.standard_normal((5, 7)), rng.integers(7, size=5)
    yield ask(solution, x, t, says="5 positions, 7 classes")
    x, t = 2 * rng.standard_normal((2, 5, 7)), rng.integers(7, size=(2, 5))
    yield ask(solution, x, t, says="2 sequences of 5 positions")
    square, same = 2 * rng.standard_normal((3, 3, 3)), rng.integers(3, size=(3, 3))
    yield ask(solution, square, same, says="3 sequences of 3 positions, 3 classes")
    padded = np.where([[True, True, True, True, False], [True] + [False] * 4], t, -100)
    without = {"ignore_index": -100}
    yield ask(solution, x, padded, says="ignore_index = -100", keywords=without)
    other = np.where(padded[..., None] == -100, 5 * x + 3, x)
    yield Property(
        "scores at ignored positions do not change the loss",
        lambda: np.isclose(
            solution(x, padded, **without), solution(other, padded, **without), 1e-9
        ),
    )
    t[0, 1], t[1, 3], t[1, 4] = 2, 2, 0
    yield ask(solution, x, t, says="ignore_index = 2", keywords={"ignore_index": 2})
    yield ask(solution, x, t, says="ignore_index = 0", keywords={"ignore_index": 0})
    smooth = {"label_smoothing": 0.1}
    yield ask(solution, x, t, says="label smoothing of 0.1", keywords=smooth)
    both = {"ignore_index": -100, "label_smoothing": 0.3}
    yield ask(solution, x, padded, says="both: -100 and 0.3", keywords=both)
    none = np.full((2, 5), -100)
    yield ask(solution, x, none, says="every target is ignored", keywords=without)
    near = np.array([[1000.0, 1001.0]])
    yield ask(solution, near, np.array([0]), says="scores of 1000 and 1001")
    far = np.array([[1000.0, 0.0, 1.0], [0.0, -1000.0, 2.0]])
    yield ask(solution, far, np.array([1, 1]), says="scores of 1000 and -1000")
    whole = np.array([[1, 2, 4], [3, 0, 1]])
    yield ask(solution, whole, np.array([1, 2]), says="scores in whole numbers")

    def refused(says, error, targets, **options):
        return Case(says, lambda: solution(x, targets, **options), raises=error)

    yield refused("targets in floating point", TypeError, t.astype(float))
    yield refused("targets of another shape", ValueError, t.T)
    yield refused("targets without the batch", ValueError, t[0])
    yield refused("class 7 of 7", ValueError, np.full((2, 5), 7))
    yield refused("class -1, not ignored", ValueError, np.full((2, 5), -1))
    yield refused("-100 where nothing is ignored", ValueError, padded)
    yield refused("label smoothing of 1", ValueError, t, label_smoothing=1.0)
    yield refused("label smoothing of -0.1", ValueError, t, label_smoothing=-0.1)
