"""Checks of chapter 14: padding, causal and additive masks as tensors."""

import torch

from encoderlab.lab.case import Case, ask


def padding_mask(solution, rng):
    yield ask(solution, [3, 1], 3, says="lengths 3 and 1, padded to 3")
    lengths = torch.from_numpy(rng.permutation([4, 2, 6]))
    yield ask(solution, lengths, 7, says="3 sequences, all shorter than 7")
    alike = torch.from_numpy(rng.permutation([1, 2, 3, 4, 5]))
    yield ask(solution, alike, 5, says="5 sequences padded to 5")
    yield ask(solution, [0, 2], 2, says="a sequence without tokens")
    wrong = {"raises": ValueError}
    yield ask(solution, [3, 1], 2, says="a length above max_len", **wrong)
    yield ask(solution, [-1, 2], 3, says="a length of -1", **wrong)
    table = torch.tensor([[1, 2]])
    yield ask(solution, table, 3, says="lengths with two axes", **wrong)
    yield ask(solution, [[3], [1]], 3, says="a column of lengths", **wrong)
    yield ask(solution, [1.5, 2.0], 3, says="a length of 1.5", raises=TypeError)


def causal_mask(solution, rng):
    for T in (3, 1, int(rng.integers(5, 8))):
        yield ask(solution, T, says=f"T = {T}")
    yield ask(solution, 0, says="T = 0", raises=ValueError)


def additive_mask(solution, rng):
    mask = torch.tensor([True, False])
    yield ask(solution, mask, torch.float64, says="[True, False] in float64")
    for dtype in (torch.float32, torch.float16):
        yield ask(solution, mask, dtype, says=f"the same in {dtype}", dtype=True)
    yield Case(
        "its dtype in bfloat16", lambda: str(solution(mask, torch.bfloat16).dtype)
    )
    mask = torch.from_numpy(rng.random((2, 1, 5, 7)) < 0.6)
    mask[..., 0], mask[..., 1] = True, False
    yield ask(solution, mask, torch.float64, says="a mask (2, 1, 5, 7)", dtype=True)
    numbers, wrong = torch.tensor([1, 0]), {"raises": TypeError}
    yield ask(solution, numbers, torch.float32, says="a mask of 0 and 1", **wrong)
    yield ask(solution, mask, torch.int64, says="dtype int64", **wrong)
