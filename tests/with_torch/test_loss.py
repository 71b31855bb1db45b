import math

import pytest
import torch
from torch.testing import assert_close

from encoderlab.with_torch.loss import cross_entropy


@pytest.fixture
def logits():
    return 3 * torch.randn(2, 5, 7, dtype=torch.float64)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("ignore_index", [None, -100, 2])
def test_cross_entropy_matches_torch(logits, smoothing, ignore_index):
    targets = torch.randint(7, (2, 5))
    targets[0, 1:3] = 2 if ignore_index is None else ignore_index
    logits.requires_grad_()
    theirs = torch.nn.functional.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=smoothing,
    )
    ours = cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=smoothing
    )
    assert_close(ours, theirs, rtol=1e-13, atol=0)
    (found,) = torch.autograd.grad(ours, logits)
    (expected,) = torch.autograd.grad(theirs, logits)
    assert_close(found, expected, rtol=1e-12, atol=1e-15)


def test_cross_entropy_takes_one_row(logits):
    found = cross_entropy(logits[0, 0], torch.tensor(3))
    assert_close(found, -torch.log_softmax(logits[0, 0], -1)[3], rtol=1e-13, atol=0)


def test_cross_entropy_of_even_logits_is_the_logarithm_of_the_classes():
    loss = cross_entropy(torch.zeros(3, 7).double(), torch.tensor([0, 6, 3]))
    assert loss.item() == pytest.approx(math.log(7), rel=1e-14)


def test_cross_entropy_with_every_target_ignored_is_zero_and_moves_nothing():
    logits = torch.ones(2, 7, requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([-1, -1]), ignore_index=-1)
    loss.backward()
    assert loss == 0
    assert not logits.grad.any()


def test_cross_entropy_does_not_read_ignored_logits(logits):
    targets = torch.tensor([[1, 3, 0, 2, 6], [4, 5, 3, 3, 1]])
    poisoned = logits.clone()
    poisoned[:, 1] = torch.nan
    targets[:, 1] = -1
    kept = [0, 2, 3, 4]
    found = cross_entropy(poisoned, targets, ignore_index=-1)
    expected = cross_entropy(logits[:, kept], targets[:, kept])
    assert_close(found, expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32])
def test_cross_entropy_takes_small_whole_numbers(without_shape_checks, logits, dtype):
    targets = torch.randint(7, (2, 5))
    found = cross_entropy(logits, targets.to(dtype), ignore_index=2)
    expected = cross_entropy(logits, targets, ignore_index=2)
    assert_close(found, expected, rtol=0, atol=0)


def test_cross_entropy_takes_an_impossible_wrong_class():
    assert cross_entropy(torch.tensor([[0.0, -torch.inf]]), torch.tensor([0])) == 0


@pytest.mark.parametrize("ignore_index", [None, 5])
@pytest.mark.parametrize("target", [-1, 7, -100])
def test_cross_entropy_refuses_targets_out_of_range(target, ignore_index):
    with pytest.raises(ValueError, match="targets must be from 0 to 6, got"):
        cross_entropy(
            torch.ones(2, 7), torch.tensor([3, target]), ignore_index=ignore_index
        )


@pytest.mark.parametrize("targets", [[1.0, 2.0], [True, False]])
def test_cross_entropy_refuses_targets_that_are_not_whole(
    without_shape_checks, targets
):
    with pytest.raises(TypeError, match=r"targets must be whole numbers, got torch\."):
        cross_entropy(torch.ones(2, 7), torch.tensor(targets))


def test_cross_entropy_refuses_targets_of_another_shape(without_shape_checks):
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(3,\)"):
        cross_entropy(torch.ones(2, 7), torch.tensor([1, 2, 3]))


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, float("nan")])
def test_cross_entropy_refuses_label_smoothing(smoothing):
    with pytest.raises(ValueError, match=r"label_smoothing must be in \[0, 1\), got"):
        cross_entropy(torch.ones(2, 7), torch.tensor([1, 2]), label_smoothing=smoothing)
