"""Check of chapter 15: early stopping, told figures one after another."""

from functools import partial
from math import inf, nan

import torch
from torch import nn

from encoderlab.lab.case import Case, Property, WrongForm


def EarlyStopping(solution, rng):  # noqa: N802  # named as what it checks
    def told(figures, patience, options):
        """What is said before the first figure and after each."""
        stopping, model = solution(patience, **options), nn.Linear(1, 1)
        said = _said(stopping, "before them")
        for number, figure in enumerate(figures, start=1):
            stopping.update(10 * number, figure, model)
            said |= _said(stopping, f"after {number} of them")
        return said

    def asked(*figures, patience=2, says="", high=False):
        says = says or ", ".join(f"{figure:g}" for figure in figures)
        kind, options = "losses", {}
        if high:
            kind, options = "accuracies", {"higher_is_better": True}
        says = f"{kind} {says} at steps 10, 20, …; patience {patience}"
        return Case(says, partial(told, figures, patience, options))

    yield asked(3.0, 1.0, 2.0, 1.5)
    yield asked(3.0, 2.0, 1.0)
    yield asked(0.5, 0.9, 0.8, 0.85, high=True)
    yield asked(2.0, 3.0, 1.0, 2.0, 0.5, 0.7)
    yield asked(3.0, 1.0, 1.0, 1.0, 1.0)
    yield asked(1.0, 0.99999, 2.0)
    yield asked(0.5, 0.9, 0.9, 0.9, high=True)
    yield asked(2.0, 3.0, 1.0, 1.5, patience=1)
    yield asked(0.0, -1.0, -2.0, -1.0)
    yield asked(-3.0, -1.0, -2.0, high=True)
    drawn = {"says": "drawn at random", "patience": 3}
    yield asked(*rng.permutation(12) / 4, **drawn)
    yield asked(*rng.permutation(12) / 12, high=True, **drawn)
    yield asked(1.0, nan, nan)
    yield asked(1.0, 2.0, nan, 0.5)
    yield asked(nan, 2.0, 3.0, 1.0)
    yield asked(nan, 0.2, nan, 0.3, nan, high=True)
    yield asked(nan, nan, nan)
    yield asked(inf, 5.0, 6.0)
    yield from _kept(solution, rng)
    for wrong in (0, -1):
        says = f"patience = {wrong}"
        yield Case(says, lambda wrong=wrong: solution(wrong), raises=ValueError)


def _said(stopping, when):
    best, over = stopping.best_step, stopping.is_over
    if callable(best) or callable(over):
        raise WrongForm("best_step and is_over are properties: write @property above")
    return {f"best_step {when}": best, f"is_over {when}": bool(over)}


def _kept(solution, rng):
    """Ask for the history, and for what comes back into the model."""
    start = torch.from_numpy(rng.standard_normal(4))

    def shift(model, number):
        """Add a number to all that the model holds, as a training may."""
        with torch.no_grad():
            for tensor in model.state_dict().values():
                tensor.add_(number)

    def watched(*figures, **options):
        """A model whose values grow by 1 a step, and what watched it."""
        stopping = solution(2, **options)
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).double()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(start)
        for step, figure in enumerate(figures, start=1):
            shift(model, 1)
            stopping.update(step, figure, model)
        return model, stopping

    def back(figures, times=1, **options):
        model, stopping = watched(*figures, **options)
        for _ in range(times):
            shift(model, 7)
            stopping.restore(model)
        return model

    def replaced():
        """Restored twice, by a training that replaces tensors, as model.to does."""
        model, stopping = watched(3.0)
        for step, figure in ((2, 1.0), (3, 2.0), (4, None), (5, None)):
            for parameter in model.parameters():
                parameter.data = parameter.data + 1
            if figure is None:
                stopping.restore(model)
            else:
                stopping.update(step, figure, model)
        return _parameters(model)

    def goes_on(figure):
        model, stopping = watched(3.0, 1.0, 2.0)
        stopping.restore(model)
        shift(model, 9)
        stopping.update(4, figure, model)
        shift(model, 7)
        stopping.restore(model)
        return _parameters(model)

    def same_parameters():
        model, stopping = watched(3.0, 1.0, 2.0)
        before = list(model.parameters())
        stopping.restore(model)
        after = model.parameters()
        return all(a is b for a, b in zip(before, after, strict=True))

    says = "the history of 3, nan, 4, 2"
    yield Case(says, lambda: watched(3.0, nan, 4.0, 2.0)[1].history)
    says = "the history of the accuracies 0.5, 0.9"
    high = {"higher_is_better": True}
    yield Case(says, lambda: watched(0.5, 0.9, **high)[1].history)
    says = "the parameters after losses 3, 1, 2, more training, and restore"
    yield Case(says, lambda: _parameters(back((3.0, 1.0, 2.0))))
    says = "the parameters after accuracies 0.2, 0.9, 0.8, and restore"
    yield Case(says, lambda: _parameters(back((0.2, 0.9, 0.8), **high)))
    says = "the buffers, which are a BatchNorm's means and variances"
    yield Case(says, lambda: dict(back((3.0, 1.0, 2.0)).named_buffers()))
    says = "restored, trained on, and restored again"
    yield Case(says, lambda: _parameters(back((3.0, 1.0, 2.0), times=2)))
    says = "the same, with a training that replaces the parameters' data"
    yield Case(says, replaced)
    for figure, name in ((0.5, "better"), (1.5, "worse")):
        says = f"a loss after restore that is {name}, and restore again"
        yield Case(says, partial(goes_on, figure))
    says = "the parameters after losses 3, 1, 2 without restore"
    yield Case(says, lambda: _parameters(watched(3.0, 1.0, 2.0)[0]))
    says = "restore before the first evaluation"
    yield Case(says, lambda: _parameters(back(())))
    yield Case("restore after nan and nan", lambda: _parameters(back((nan, nan))))
    says = "losses 2, nan, 2 and restore"
    yield Case(says, lambda: _parameters(back((2.0, nan, 2.0))))
    yield Property(
        "restore writes into the model's parameters, which an optimiser holds",
        same_parameters,
    )


def _parameters(model):
    return dict(model.named_parameters())
