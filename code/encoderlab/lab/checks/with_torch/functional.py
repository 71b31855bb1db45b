"""Checks of chapter 14: softmax and masked softmax of tensors."""

import torch

from encoderlab.lab.case import ask
from encoderlab.lab.modules import ask_gradients, draw, exact
from encoderlab.with_torch import masks


def softmax(solution, rng):
    yield ask(solution, exact([1.0, 2.0, 3.0]), says="softmax of [1, 2, 3]")
    x, y = draw(rng, 3, 5, scale=2.0), draw(rng, 2, 5, 7, scale=2.0)
    yield ask(solution, x, says="3 rows of 5 scores")
    yield ask(solution, x, says="the same along axis 0", keywords={"axis": 0})
    yield ask(solution, draw(rng, 4, 4, scale=2.0), says="4 rows of 4 scores")
    yield ask(solution, y, says="a middle axis", keywords={"axis": 1})
    large = exact([[1000.0, 1001.0, 1002.0]])
    yield ask(solution, large, says="scores of 1000")
    apart = exact([[0.0, 1.0], [1000.0, 1001.0]])
    yield ask(solution, apart, says="a row near 0 and a row near 1000")
    hidden = exact([[0.5, -torch.inf, 1.0]])
    yield ask(solution, hidden, says="a score of minus infinity")
    broken = exact([[1.0, torch.nan], [1.0, 2.0]])
    yield ask(solution, broken, says="a row with NaN, and one without")
    single = {"rtol": 1e-5, "dtype": True}
    yield ask(solution, x.float(), says="float32 stays float32", **single)
    yield ask_gradients(solution, x, says="the gradient", rng=rng)
    middle = {"keywords": {"axis": 1}}
    yield ask_gradients(solution, y, says="along a middle axis", rng=rng, **middle)


def masked_softmax(solution, rng):
    keep = torch.tensor([[True, True, False]])
    first = exact([[1.0, 2.0, 9.0]])
    yield ask(solution, first, keep, says="[1, 2, 9] with 9 masked")
    scores, pad = draw(rng, 2, 3, 5, 7, scale=2.0), masks.padding_mask([7, 4], 7)
    yield ask(solution, scores, pad, says="scores (2, 3, 5, 7), padded keys")
    square = draw(rng, 5, 3, 5, 5, scale=2.0)
    padded = masks.padding_mask([5, 3, 1, 2, 4], 5)
    yield ask(solution, square, padded, says="5 sequences of 5 tokens, padded keys")
    yield ask(solution, square, masks.causal_mask(5), says="a causal mask")
    some = torch.from_numpy(rng.random((4, 6)) < 0.6)
    some[0] = some[:, 0] = True
    x = draw(rng, 4, 6, scale=2.0)
    yield ask(solution, x, some, says="along axis 0", keywords={"axis": 0})
    none = torch.tensor([[True, False, True], [False, False, False]])
    rows = exact([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    yield ask(solution, rows, none, says="a row with nothing allowed")
    for value in (5000.0, torch.inf, torch.nan):
        hidden = exact([[0.5, 1.5, value]])
        yield ask(solution, hidden, keep, says=f"a masked score of {value}")
    low = exact([[-20000.0, -20001.0, -19999.0]])
    yield ask(solution, low, keep, says="scores near -20000")
    high = exact([[1000.0, 1001.0, 3.0]])
    yield ask(solution, high, keep, says="scores of 1000")
    half, lower = draw(rng, 3, 3, scale=2.0).half(), masks.causal_mask(3)[0, 0]
    options = {"rtol": 5e-3, "dtype": True}
    yield ask(solution, half, lower, says="float16", **options)
    yield ask_gradients(solution, scores, pad, says="the gradient", rng=rng)
    says = "the gradient where a row allows nothing"
    yield ask_gradients(solution, rows.double(), none, says=says, rng=rng)
    numbers = torch.tensor([[1, 1, 0]])
    yield ask(solution, low, numbers, says="a mask of 0 and 1", raises=TypeError)
    wrong = {"raises": ValueError}
    yield ask(solution, low, keep[:, :2], says="a mask that is too short", **wrong)
    tall = torch.ones(2, 3) == 1
    yield ask(solution, low, tall, says="a mask with more rows than scores", **wrong)
