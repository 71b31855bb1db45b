"""Check of chapter 15: how often a classifier is right."""

import torch

from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import draw


def accuracy(solution, rng):
    def share(x, t, **keywords):
        """The share, a tensor of it as its number: below it is asked once for the type.

        So a solution that only forgets to make a float of it fails that question alone.
        """
        found = solution(x, t, **keywords)
        one = isinstance(found, torch.Tensor) and found.ndim == 0
        return found.item() if one else found

    def asked(x, t, says, **keywords):
        return ask(share, x, t, says=says, keywords=keywords, rtol=1e-5)

    eye, three = torch.eye(3).double(), torch.tensor([0, 1, 1])
    yield asked(eye, three, "2 of 3 are right")
    yield Property(
        "the result is a Python float", lambda: isinstance(solution(eye, three), float)
    )
    x = draw(rng, 2, 5, 7)
    x[0, 0, 2] += 9
    x[0, 1, 4] += 9
    x[0, 2, 2] += 9  # a wrong guess of 2: below, only a target of 2 is ignored
    highest, lowest = x.argmax(-1), x.argmin(-1)
    t = highest.where(torch.from_numpy(rng.random((2, 5)) < 0.6), lowest)
    t[0], t[1, 0] = highest[0], highest[1, 0]
    t[0, 2], t[1, 1] = lowest[0, 2], lowest[1, 1]
    yield asked(x, t, "2 sequences of 5 positions, 7 classes")
    yield asked(x.float(), t, "scores in float32")
    padded = t.masked_fill(torch.arange(5) >= torch.tensor([[5], [2]]), -100)
    yield asked(x, padded, "unequal padding, ignored by -100")
    says = "ignore_index = 2, one of the classes"
    yield asked(x, padded.where(padded != -100, 2), says, ignore_index=2)
    minus = padded.where(padded != -100, -1)
    yield asked(x, minus, "padding ignored by -1", ignore_index=-1)
    says = "ignore_index = -1: the targets of -100 count, and are never right"
    yield asked(x, padded, says, ignore_index=-1)
    cube = torch.eye(3)[torch.tensor([[1, 0, 2], [1, 1, 0], [2, 2, 1]])].double()
    cube = cube + 0.1 * torch.from_numpy(rng.random((3, 3, 3)))
    right = torch.tensor([[1, 0, 1], [0, 1, 0], [2, 2, 0]])
    yield asked(cube, right, "3 sequences of 3 positions, 3 classes")
    deep = draw(rng, 2, 3, 4, 5)
    some = deep.argmax(-1).where(torch.from_numpy(rng.random((2, 3, 4)) < 0.5), 0)
    yield asked(deep, some, "three batch axes")
    yield asked(x - 10, t, "scores below 0 alone")
    yield asked(x.masked_fill(x < -1, -torch.inf), t, "scores of minus infinity too")
    yield asked(x.clone().requires_grad_(), t, "scores that a gradient goes back to")
    ranks = draw(rng, 700, 3).argsort(-1)
    third = torch.where(torch.arange(700) % 3 > 0, ranks.argmax(-1), ranks.argmin(-1))
    yield asked(ranks.bfloat16(), third, "700 positions, scores in bfloat16")
    for places, says in ((highest, "the target's score"), (lowest, "another score")):
        broken = x.clone()
        broken[0, 1, places[0, 1]] = torch.nan
        yield asked(broken, highest, f"{says} is NaN at one position")
    refused = {"raises": ValueError}
    none = torch.full((2, 5), -100)
    yield Case("no target counts", lambda: solution(x, none), **refused)
    yield Case("no target at all", lambda: solution(x[:0], t[:0]), **refused)
    for wrong, says in (
        (t[0], "targets without the batch"),
        (t[:1], "targets of one sequence for two"),
        (t[..., None], "targets with an axis more"),
        (t.T, "targets with their axes swapped"),
        (t[:, :3], "too few targets"),
    ):
        yield Case(says, lambda wrong=wrong: solution(x, wrong), **refused)
