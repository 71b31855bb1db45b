"""Checks of chapter 14: the feed-forward network as a module."""

import torch
from torch import nn

from encoderlab.lab.case import Property, ask
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    give_weights,
    in_training,
)
from encoderlab.with_torch import feed_forward as ours

D, F = 12, 11


def FeedForward(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        return give_weights(solution(D, F, **choices), ours.FeedForward(D, F), rng)

    yield Property("it is an nn.Module", lambda: isinstance(solution(D, F), nn.Module))
    x = draw(rng, 2, 5, D)
    for activation in ("gelu", "relu", "gelu_tanh", "silu"):
        module = built(activation=activation)
        yield ask(module, x, says=f"2 sequences of 5 tokens, {activation}")
    module = built()
    yield ask(module, x, says="no activation named: gelu")
    yield ask(module, x[0, 0], says="a single vector")
    yield ask(module, draw(rng, 5, 5, D), says="5 sequences of 5 tokens")
    order = torch.tensor([2, 0, 3, 4, 1])
    yield Property(
        "permuting the tokens permutes the output",
        lambda: close(module(x)[:, order], module(x[:, order])),
    )
    says = "the gradients of x and of every parameter"
    yield ask_gradients(module, x, says=says, rng=rng)
    fresh = solution(D, F)
    yield Property(
        "the weights of a new module are not all the same number",
        lambda: all(w.std() > 0 for w in fresh.parameters() if w.ndim == 2),
    )
    yield ask(built(dropout=0.25), x, says="dropout 0.25, in evaluation: off")
    yield from _dropout(built)
    wrong = {"raises": ValueError}
    for says, choice in (
        ("an unknown activation", {"activation": "tanh"}),
        ("dropout of 1", {"dropout": 1.0}),
        ("dropout of -0.1", {"dropout": -0.1}),
    ):
        yield ask(solution, D, F, says=says, keywords=choice, **wrong)
    yield ask(solution, 0, F, says="d_model of 0", **wrong)
    yield ask(module, x[..., :-1], says="x one value too narrow", **wrong)


def _dropout(built):
    """With these weights each output but the last is a hidden value, silu(1 + 1)."""
    module = built(activation="silu", dropout=0.25)
    with torch.no_grad():
        for linear, bias in ((module.linear_1, 1.0), (module.linear_2, 5.0)):
            linear.weight.copy_(torch.eye(*linear.weight.shape))
            linear.bias.fill_(bias)
    x = torch.ones(2, 100, D, dtype=torch.float64)
    hidden = float(nn.functional.silu(torch.tensor(2.0, dtype=torch.float64)))

    def dropped(seed=7):
        return in_training(module, x, seed=seed).detach() - 5

    largest = "in training, the largest output where every hidden value is silu(2)"
    yield ask(lambda: dropped().max(), says=largest, rtol=1e-6)
    yield Property(
        "dropout leaves of a hidden value 0, or 1 / (1 - p) of it",
        lambda: close(dropped() * (dropped() - hidden / 0.75), 0 * x),
    )
    yield Property(
        "dropout does not touch the output itself",
        lambda: close(dropped()[..., -1], 0 * x[..., -1]),
    )
    yield Property(
        "about a quarter of the hidden values is dropped with p = 0.25",
        lambda: abs((dropped()[..., :F].abs() < 1e-9).double().mean() - 0.25) < 0.05,
    )
    yield Property(
        "each token of each sequence has its own places dropped, each time others",
        lambda: (
            dropped().std(0).any()
            and dropped().std(1).any()
            and not close(dropped(), dropped(8))
        ),
    )
