"""Checks of chapter 15: the loss, with targets that do not count."""

import torch

from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import ask_gradients, close, draw

NONE = -100


def cross_entropy(solution, rng):
    row, third = torch.tensor([[1.0, 2.0, 3.0]]).double(), torch.tensor([2])
    yield ask(solution, row, third, says="scores [1, 2, 3], the last class is right")
    x = draw(rng, 2, 5, 7, scale=2.0)
    t = torch.from_numpy(rng.integers(7, size=(2, 5)))
    yield ask(solution, x[0], t[0], says="5 positions, 7 classes")
    yield ask(solution, x, t, says="2 sequences of 5 positions")
    square = draw(rng, 3, 3, 3, scale=2.0)
    same = torch.from_numpy(rng.integers(3, size=(3, 3)))
    yield ask(solution, square, same, says="3 sequences of 3 positions, 3 classes")
    lengths = torch.tensor([[4], [1]])
    padded = t.masked_fill(torch.arange(5) >= lengths, NONE)
    without = {"ignore_index": NONE}
    yield ask(solution, x, padded, says="ignore_index = -100", keywords=without)
    other = torch.where(padded[..., None] == NONE, 5 * x + 3, x)
    yield Property(
        "scores at ignored positions do not change the loss",
        lambda: close(
            solution(x, padded, **without), solution(other, padded, **without)
        ),
    )
    t[0, 1], t[1, 3], t[1, 4] = 2, 2, 0
    yield ask(solution, x, t, says="ignore_index = 2", keywords={"ignore_index": 2})
    yield ask(solution, x, t, says="ignore_index = 0", keywords={"ignore_index": 0})
    smooth = {"label_smoothing": 0.1}
    yield ask(solution, x, t, says="label smoothing of 0.1", keywords=smooth)
    both = {"ignore_index": NONE, "label_smoothing": 0.3}
    yield ask(solution, x, padded, says="both: -100 and 0.3", keywords=both)
    none = torch.full((2, 5), NONE)
    yield ask(solution, x, none, says="every target is ignored", keywords=without)
    for targets, says in ((padded, "-100 and 0.3"), (none, "every target ignored")):
        says = f"the gradient: {says}"
        yield ask_gradients(solution, x, targets, says=says, rng=rng, keywords=both)
    near = torch.tensor([[1000.0, 1001.0]]).double()
    yield ask(solution, near, torch.tensor([0]), says="scores of 1000 and 1001")
    far = torch.tensor([[1000.0, 0.0, 1.0], [0.0, -1000.0, 2.0]]).double()
    yield ask(solution, far, torch.tensor([1, 1]), says="scores of 1000 and -1000")

    def refused(says, error, targets, **options):
        return Case(says, lambda: solution(x, targets, **options), raises=error)

    yield refused("targets in floating point", TypeError, t.double())
    yield refused("targets of another shape", ValueError, t.T)
    yield refused("targets without the batch", ValueError, t[0])
    yield refused("class 7 of 7", ValueError, torch.full((2, 5), 7))
    yield refused("class -1, not ignored", ValueError, torch.full((2, 5), -1))
    yield refused("-100 where nothing is ignored", ValueError, padded)
    yield refused("label smoothing of 1", ValueError, t, label_smoothing=1.0)
    yield refused("label smoothing of -0.1", ValueError, t, label_smoothing=-0.1)
