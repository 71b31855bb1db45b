"""Checks of chapter 04: padding, causal and additive masks."""

import numpy as np

from encoderlab.lab.case import ask


def padding_mask(solution, rng):
    yield ask(solution, [3, 1], 3, says="lengths 3 and 1, padded to 3")
    lengths = rng.permutation(np.array([4, 2, 6]))
    yield ask(solution, lengths, 7, says="3 sequences, all shorter than 7")
    alike = rng.permutation(np.arange(1, 6))
    yield ask(solution, alike, 5, says="5 sequences padded to 5")
    yield ask(solution, [0, 2], 2, says="a sequence without tokens")
    wrong = {"raises": ValueError}
    yield ask(solution, [3, 1], 2, says="a length above max_len", **wrong)
    yield ask(solution, [-1, 2], 3, says="a length of -1", **wrong)
    yield ask(solution, np.array([[1, 2]]), 3, says="lengths with two axes", **wrong)
    yield ask(solution, [[3], [1]], 3, says="a column of lengths", **wrong)
    wrong = {"raises": TypeError}
    yield ask(solution, [1.5, 2.0], 3, says="a length of 1.5", **wrong)
    yield ask(solution, [1, 2], 3.5, says="max_len of 3.5", **wrong)


def causal_mask(solution, rng):
    for T in (3, 1, int(rng.integers(5, 8))):
        yield ask(solution, T, says=f"T = {T}")
    yield ask(solution, 0, says="T = 0", raises=ValueError)
    yield ask(solution, 2.5, says="T = 2.5", raises=TypeError)


def additive_mask(solution, rng):
    mask = np.array([True, False])
    yield ask(solution, mask, np.float64, says="[True, False] in float64")
    yield ask(solution, mask, np.float32, says="the same in float32", dtype=True)
    yield ask(solution, mask, np.float16, says="the same in float16", dtype=True)
    mask = rng.random((2, 1, 5, 7)) < 0.6
    mask[..., 0], mask[..., 1] = True, False
    yield ask(solution, mask, np.float64, says="a mask (2, 1, 5, 7)", dtype=True)
    numbers, wrong = np.array([1, 0]), {"raises": TypeError}
    yield ask(solution, numbers, np.float32, says="a mask of 0 and 1", **wrong)
    yield ask(solution, mask, np.int64, says="dtype int64", **wrong)
