"""Checks of chapter 14: one vector for a whole sequence."""

import torch

from encoderlab.lab.case import Property, ask
from encoderlab.lab.modules import ask_gradients, close, draw, exact


def mean_pool(solution, rng):
    x = exact([[1.0, 0.0], [3.0, 2.0], [8.0, 9.0], [0.0, 7.0]])
    mask = torch.tensor([True, True, False, False])
    yield ask(solution, x, mask, says="4 tokens, the last two padding")
    x = draw(rng, 2, 5, 12, shift=0.5)
    mask = torch.arange(5) < torch.tensor([[4], [2]])
    yield ask(solution, x, mask, says="2 sequences of 4 and 2 tokens")
    yield ask(solution, x, mask.flip(-1), says="padding in front")
    lower = torch.ones(5, 5).tril() == 1
    alike = draw(rng, 5, 5, 5)
    yield ask(solution, alike, lower, says="5 sequences of 1 to 5 tokens, width 5")
    some = torch.from_numpy(rng.random((2, 3, 5)) < 0.6)
    some[..., 2] = True
    deep = draw(rng, 2, 3, 5, 4)
    yield ask(solution, deep, some, says="two batch axes, padding in between")
    empty = mask & torch.tensor([[True], [False]])
    yield ask(solution, x, empty, says="a sequence without tokens")
    for value in (1e6, torch.nan):
        padded = x.masked_fill(~mask[..., None], value)
        yield ask(solution, padded, mask, says=f"padding that holds {value}")
    order = torch.from_numpy(rng.permutation(5))
    yield Property(
        "the order of the tokens does not matter",
        lambda: close(solution(x[:, order], mask[:, order]), solution(x, mask)),
    )
    yield ask_gradients(solution, x, mask, says="the gradient", rng=rng)
    says = "the gradient where a sequence has no tokens"
    yield ask_gradients(solution, x, empty, says=says, rng=rng)
    yield ask(solution, x, mask.int(), says="a mask of 0 and 1", raises=TypeError)
    wrong = {"raises": ValueError}
    yield ask(solution, x, mask[0], says="one mask for two sequences", **wrong)
    yield ask(solution, x, mask[..., None], says="a mask with an axis more", **wrong)
