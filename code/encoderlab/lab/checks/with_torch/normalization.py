"""Checks of chapter 14: LayerNorm and RMSNorm, as functions and as modules."""

from functools import partial

import torch
from torch import nn

from encoderlab.lab.case import Case, Property, WrongForm, ask
from encoderlab.lab.modules import ask_gradients, close, draw, exact, give_weights
from encoderlab.with_torch import normalization as ours


def layer_norm(solution, rng):
    x, ones = exact([1.0, 0.0, 0.0, 0.0]), exact([1.0] * 4)
    yield ask(solution, x, ones, 0 * ones, says="[1, 0, 0, 0]")
    gamma, beta = draw(rng, 12, shift=1.5), draw(rng, 12)
    yield from _of_vectors(lambda x, **o: solution(x, gamma, beta, **o), rng)
    constant = exact([[3.0] * 4] * 2)
    yield ask(solution, constant, ones, 0 * ones, says="a constant row gives beta")
    far, one = 1e4 + torch.arange(4.0), torch.ones(4)
    yield ask(solution, far, one, 0 * one, says="float32 near 10000", rtol=1e-4)
    half = [part.half() for part in (draw(rng, 2, 12, scale=300.0), gamma, beta)]
    yield ask(solution, *half, says="float16, squares above 65504", rtol=1e-2)
    inputs = draw(rng, 2, 5, 12, scale=2.0, shift=0.7), gamma, beta
    yield ask_gradients(solution, *inputs, says="the gradients", rng=rng)
    wrong = {"raises": ValueError}
    other = exact([1.0] * 5)
    yield ask(solution, x, other, 0 * ones, says="gamma of another width", **wrong)
    yield ask(solution, x, ones, other, says="beta of another width", **wrong)
    yield ask(solution, x, ones, 0 * ones, -1.0, says="a negative eps", **wrong)


def rms_norm(solution, rng):
    none = {"keywords": {"eps": 0.0}}
    x = exact([3.0, 4.0])
    yield ask(solution, x, exact([1.0] * 2), says="[3, 4], eps 0", **none)
    gamma = draw(rng, 12, shift=1.5)
    yield from _of_vectors(lambda x, **o: solution(x, gamma, **o), rng)
    inputs = draw(rng, 2, 5, 12, scale=2.0, shift=0.7), gamma
    yield ask_gradients(solution, *inputs, says="the gradients", rng=rng)
    wrong = {"raises": ValueError}
    yield ask(solution, x, exact([1.0] * 5), says="gamma of another width", **wrong)
    yield ask(solution, x, exact([1.0] * 2), -1.0, says="a negative eps", **wrong)


def _of_vectors(norm, rng):
    x = draw(rng, 2, 5, 12, scale=2.0, shift=0.7)
    yield ask(norm, x, says="2 sequences of 5 tokens of width 12")
    yield ask(norm, x[:, :2], says="as many sequences as tokens")
    yield ask(norm, x[0], says="5 tokens without a batch axis")
    wide = {"keywords": {"eps": 0.1}}
    yield ask(norm, x, says="eps = 0.1", **wide)
    yield ask(norm, 0.02 * x, says="eps = 0.1, small values", **wide)
    yield ask(norm, 0.002 * x, says="the eps of the signature, small values")
    yield ask(norm, 0 * x[0], says="rows of zeros")
    yield from _alone(norm, x, rng)


def _alone(norm, x, rng):
    other = x.clone()
    other[1] += draw(rng, 5, 12)
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: close(norm(x)[0], norm(other)[0]),
    )


def LayerNorm(solution, rng):  # noqa: N802  # named as what it checks
    yield from _of_module(solution, ours.LayerNorm, {"weight": 1.0, "bias": 0.0}, rng)


def RMSNorm(solution, rng):  # noqa: N802
    yield from _of_module(solution, ours.RMSNorm, {"weight": 1.0}, rng)


def _of_module(solution, book, starts, rng):
    yield Property("it is an nn.Module", lambda: isinstance(solution(12), nn.Module))
    for name in starts:
        yield Case(f"{name} of a new module", partial(_start, solution, name))
    yield Case(
        "the parameters that training would change",
        lambda: sorted(name for name, _ in solution(12).named_parameters()),
    )
    yield Case(
        "the names that a file of weights has",
        lambda: sorted(solution(12).state_dict()),
    )
    module = give_weights(solution(12, eps=0.1), book(12), rng)
    usual = give_weights(solution(12), book(12), rng)
    x = draw(rng, 2, 5, 12, scale=2.0, shift=0.7)
    yield ask(module, x, says="2 sequences of 5 tokens, eps = 0.1")
    yield ask(module, 0.02 * x, says="small values, eps = 0.1")
    yield ask(usual, 0.002 * x, says="small values, the eps of the signature")
    yield ask(usual, x[:, :2], says="as many sequences as tokens")
    yield from _alone(module, x, rng)
    says = "the gradients of x and of the parameters"
    yield ask_gradients(module, x, says=says, rng=rng)
    yield ask(solution, 0, says="d_model = 0", raises=ValueError)
    yield ask(solution, 12, -1.0, says="a negative eps", raises=ValueError)


def _start(solution, name):
    module = solution(12)
    if not hasattr(module, name):
        raise WrongForm(f"a new module has no {name}")
    return getattr(module, name)
