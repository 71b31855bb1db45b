"""Early stopping keeps the best weights, and knows when to end."""

from math import nan

import pytest
import torch
from torch import nn

from encoderlab.with_torch.training import EarlyStopping


def watch(stopping, values):
    """A model whose only weight is the number of the evaluation."""
    model = nn.Linear(1, 1, bias=False)
    for step, value in enumerate(values, start=1):
        with torch.no_grad():
            model.weight.fill_(step)
        stopping.update(10 * step, value, model)
    return model


@pytest.mark.parametrize(
    ("values", "best", "over"),
    [
        ([3.0], 10, False),
        ([3.0, 2.0, 1.0], 30, False),
        ([3.0, 1.0, 2.0], 20, False),
        ([3.0, 1.0, 2.0, 1.5], 20, True),
        ([3.0, 1.0, 1.0, 1.0], 20, True),  # as good is no better
        ([1.0, nan, nan], 10, True),
        ([nan, 2.0, 3.0], 20, False),
    ],
)
def test_stopping_waits_for_its_patience(values, best, over):
    stopping = EarlyStopping(2)
    model = watch(stopping, values)
    assert (stopping.best_step, stopping.is_over) == (best, over)
    stopping.restore(model)
    assert model.weight.item() == best // 10


def test_stopping_may_watch_what_should_be_high():
    stopping = EarlyStopping(1, higher_is_better=True)
    watch(stopping, [0.5, 0.9, 0.8])
    assert (stopping.best_step, stopping.is_over) == (20, True)
    assert stopping.history == [(10, 0.5), (20, 0.9), (30, 0.8)]


def test_stopping_before_the_first_figure_changes_nothing():
    stopping = EarlyStopping(2)
    model = watch(stopping, [nan])
    stopping.restore(model)
    assert (stopping.best_step, stopping.is_over) == (None, False)
    assert model.weight.item() == 1.0


def test_stopping_keeps_copies():
    stopping = EarlyStopping(2)
    model = watch(stopping, [1.0])
    with torch.no_grad():
        model.weight.fill_(7.0)
    stopping.restore(model)
    assert model.weight.item() == 1.0


def test_stopping_keeps_the_better_of_two_evaluations_of_one_step():
    stopping, model = EarlyStopping(2), nn.Linear(1, 1, bias=False)
    for weight, value in ((1.0, 3.0), (2.0, 4.0)):
        with torch.no_grad():
            model.weight.fill_(weight)
        stopping.update(10, value, model)
    stopping.restore(model)
    assert model.weight.item() == 1.0


def test_stopping_goes_on_from_its_state():
    one, other = EarlyStopping(3), EarlyStopping(3)
    watch(one, [3.0, 1.0, nan, 2.0])
    other.load_state(one.state())
    model = watch(EarlyStopping(1), [])
    other.update(50, 4.0, model)
    assert (other.best_step, other.is_over) == (20, True)
    other.restore(model)
    assert model.weight.item() == 2.0


@pytest.mark.parametrize("patience", [0, 1.5, nan])
def test_stopping_refuses_what_is_no_patience(patience, without_shape_checks):
    message = "patience must be a whole number of at least 1, got"
    with pytest.raises(ValueError, match=message):
        EarlyStopping(patience)
