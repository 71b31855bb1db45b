"""Checks of chapter 14: positions and the embeddings of texts as modules."""

from functools import partial

import torch
from torch import nn

from encoderlab.config import TextConfig
from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import ask_gradients, close, give_weights, own_chance
from encoderlab.with_torch import embeddings as ours

WIDTHS = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 1, "eps": 0.1}
TEXT = {**WIDTHS, "vocab_size": 9, "max_seq_len": 7, "num_segments": 3}
DROPPED = 0.3


def sinusoidal_positions(solution, rng):
    double = torch.float64
    yield ask(solution, 2, 4, double, says="2 positions of width 4")
    yield ask(solution, 1, 6, double, says="position 0 alone")
    yield ask(solution, 5, 12, double, says="5 positions of width 12", dtype=True)
    yield ask(solution, 4, 4, double, says="4 positions of width 4")
    yield ask(solution, 7, 9, double, says="an odd width, 9")
    yield ask(solution, 3, 1, double, says="width 1")
    how = {"rtol": 1e-6, "dtype": True}
    yield ask(solution, 5, 6, says="no dtype given: float32", **how)
    says = "float32 at positions up to 4999: the angles in float64"
    yield ask(solution, 5000, 6, torch.float32, says=says, **how)
    yield ask(solution, 0, 4, says="no position", raises=ValueError)
    yield ask(solution, 4, 0, says="width 0", raises=ValueError)
    yield ask(solution, 2, 4, torch.int64, says="dtype int64", raises=TypeError)


def TextEmbeddings(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        config = TextConfig(**TEXT | choices)
        return give_weights(solution(config), ours.TextEmbeddings(config), rng)

    new = partial(solution, TextConfig(**TEXT))
    yield Property("it is an nn.Module", lambda: isinstance(new(), nn.Module))
    says = "the parameters that training would change, sinusoidal positions"
    clock = TextConfig(**TEXT, positions="sinusoidal")
    yield Case(says, lambda: sorted(n for n, _ in solution(clock).named_parameters()))
    module = built()
    few = torch.tensor([[1, 7, 2]])
    yield ask(module, few, says="the ids [1, 7, 2], no segments")
    ids = torch.from_numpy(rng.integers(9, size=(2, 5)))
    segments = torch.from_numpy(rng.integers(3, size=(2, 5)))
    ids[0, :3] = torch.tensor([4, 4, 0])
    segments[0, :2] = torch.tensor([1, 2])
    says = "2 sequences of 5 ids with their segments"
    yield ask(module, ids, segments, says=says)
    square = torch.from_numpy(rng.integers(9, size=(5, 5)))
    yield ask(module, square, says="5 sequences of 5 ids")
    longest = torch.from_numpy(rng.integers(9, size=(3, 7)))
    yield ask(module, longest, says="the longest sequence, 7 ids")
    yield ask(built(eps=1e-12), ids, says="eps = 1e-12")
    clocks, blind = built(positions="sinusoidal"), built(positions="none")
    yield ask(clocks, ids, says="sinusoidal positions", rtol=1e-6)
    yield ask(blind, ids, segments, says="no positions")
    yield Property(
        "without positions, permuting the ids permutes the vectors",
        lambda: close(blind(ids.flip(1)), blind(ids).flip(1)),
    )
    says = "the gradients of every table, a token and a segment repeated"
    yield ask_gradients(module, ids, segments, says=says, rng=rng)
    low = solution(clock).bfloat16().eval()
    yield Case(
        "its dtype after .bfloat16(), sinusoidal positions",
        lambda: str(low(few).dtype),
    )
    refused = {"raises": ValueError}
    yield ask(module, few - 2, says="the id -1", **refused)
    yield ask(module, few + 2, says="the id 9 of 9 tokens", **refused)
    for wrong in (-1, 3):
        some = torch.tensor([[0, wrong]])
        yield ask(module, some * 0, some, says=f"the segment {wrong} of 3", **refused)
    long = torch.ones(2, 8, dtype=int)
    yield ask(module, long, says="8 ids, one more than the longest", **refused)
    says = "8 ids, one more than the longest, without positions"
    yield ask(blind, long, says=says, **refused)
    yield ask(module, ids[:, :0], says="no token", **refused)
    yield ask(module, ids.double(), says="ids that are floats", raises=TypeError)
    fresh = new()
    yield Property(
        "the tables of a new module are drawn at random",
        lambda: all(w.std() > 0 for w in fresh.parameters() if w.ndim == 2),
    )
    yield from _dropped(built(dropout=DROPPED), longest.repeat(2, 1))


def _dropped(module, ids):
    """Ask for dropout of the result, in whatever order its mask is drawn."""
    yield ask(module, ids, says="dropout = 0.3, in evaluation: nothing is dropped")

    def trained():
        with own_chance(5):
            output = module.train()(ids)
        module.eval()
        return output

    yield Property(
        "in training, about 0.3 of the values are 0",
        lambda: abs((trained() == 0).double().mean() - DROPPED) < 0.1,
    )
    yield Property(
        "in training, what is not 0 is divided by 1 - 0.3",
        lambda: close(
            trained(), (module(ids) / (1 - DROPPED)).masked_fill(trained() == 0, 0)
        ),
    )
