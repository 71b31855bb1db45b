"""Checks of chapter 04: one vector for a whole sequence."""

import numpy as np

from encoderlab.lab.case import Property, ask


def mean_pool(solution, rng):
    x = np.array([[1.0, 0.0], [3.0, 2.0], [8.0, 9.0], [0.0, 7.0]])
    mask = np.array([True, True, False, False])
    yield ask(solution, x, mask, says="4 tokens, the last two padding")
    x = rng.standard_normal((2, 5, 12)) + 0.5
    mask = np.array([[True] * 4 + [False], [True] * 2 + [False] * 3])
    yield ask(solution, x, mask, says="2 sequences of 4 and 2 tokens")
    yield ask(solution, x, mask[:, ::-1], says="padding in front")
    alike = rng.standard_normal((5, 5, 5))
    lower = np.tri(5, dtype=bool)
    yield ask(solution, alike, lower, says="5 sequences of 1 to 5 tokens, width 5")
    deep, some = rng.standard_normal((2, 3, 5, 4)), rng.random((2, 3, 5)) < 0.6
    some[..., 2] = True
    yield ask(solution, deep, some, says="two batch axes, padding in between")
    empty = mask.copy()
    empty[1] = False
    yield ask(solution, x, empty, says="a sequence without tokens")
    for value in (1e6, np.nan):
        padded = np.where(mask[..., None], x, value)
        yield ask(solution, padded, mask, says=f"padding that holds {value}")
    order = rng.permutation(5)
    yield Property(
        "the order of the tokens does not matter",
        lambda: np.allclose(
            solution(x[:, order], mask[:, order]), solution(x, mask), 1e-9
        ),
    )
    numbers = mask.astype(int)
    yield ask(solution, x, numbers, says="a mask of 0 and 1", raises=TypeError)
    wrong = {"raises": ValueError}
    yield ask(solution, x, mask[0], says="one mask for two sequences", **wrong)
    yield ask(solution, x, mask[..., None], says="a mask with an axis more", **wrong)
