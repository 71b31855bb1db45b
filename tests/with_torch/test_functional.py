import numpy as np
import pytest
import torch
from torch.testing import assert_close

from encoderlab.with_numpy import functional as in_numpy
from encoderlab.with_torch import functional
from encoderlab.with_torch.functional import masked_softmax, softmax

TOLERANCE = {"rtol": 1e-12, "atol": 1e-14}
DTYPES = pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64]
)


@pytest.fixture
def scores():
    return 3 * torch.randn(2, 3, 5, 7, dtype=torch.float64)


@pytest.fixture
def mask():
    """About half of the scores, and nothing in one row."""
    mask = torch.rand(2, 1, 5, 7) < 0.5
    mask[..., 0] = True
    mask[1, 0, 2] = False
    return mask


# softmax


@pytest.mark.parametrize("axis", [-1, 0, 2])
def test_softmax_matches_torch(scores, axis):
    assert_close(softmax(scores, axis), torch.softmax(scores, axis), **TOLERANCE)


def test_softmax_survives_large_scores():
    weights = softmax(torch.tensor([1000.0, 1001.0, 1002.0]))
    expected = torch.tensor([0.09003057, 0.24472847, 0.66524096])
    assert_close(weights, expected, rtol=0, atol=1e-7)


def test_softmax_gives_nothing_to_minus_infinity():
    weights = softmax(torch.tensor([0.0, -torch.inf, 0.0]))
    assert_close(weights, torch.tensor([0.5, 0.0, 0.5]), rtol=0, atol=0)


@DTYPES
def test_softmax_keeps_the_dtype(scores, dtype):
    found = softmax(scores.to(dtype))
    assert found.dtype == dtype
    expected = torch.softmax(scores, -1)
    error = torch.finfo(dtype).eps
    assert_close(found.double(), expected, rtol=0, atol=8 * error)


def test_softmax_gradient_matches_torch(scores):
    scores.requires_grad_()
    upstream = torch.randn_like(scores)
    (found,) = torch.autograd.grad(softmax(scores), scores, upstream)
    (expected,) = torch.autograd.grad(torch.softmax(scores, -1), scores, upstream)
    assert_close(found, expected, **TOLERANCE)


# masked softmax


def test_masked_softmax_is_the_softmax_of_what_is_allowed(scores, mask):
    weights = masked_softmax(scores, mask)
    allowed = scores.masked_fill(~mask, -torch.inf)
    seen = mask.any(-1).expand(2, 3, 5)
    assert_close(weights[seen], torch.softmax(allowed, -1)[seen], **TOLERANCE)
    assert not weights[~mask.expand_as(weights)].any()


def test_masked_softmax_of_nothing_is_zero_and_moves_nothing(scores, mask):
    scores.requires_grad_()
    weights = masked_softmax(scores, mask)
    assert not weights[1, :, 2].any()
    (gradient,) = torch.autograd.grad(weights, scores, torch.randn_like(weights))
    assert not gradient[~mask.expand_as(weights)].any()
    assert gradient.isfinite().all()
    seen = mask.any(-1).expand(2, 3, 5)
    assert gradient[seen].abs().amax(-1).max() > 1e-3


@pytest.mark.parametrize("poison", [torch.nan, torch.inf, 1e300])
def test_masked_softmax_does_not_read_what_is_masked(scores, mask, poison):
    poisoned = scores.masked_fill(~mask, poison).requires_grad_()
    weights = masked_softmax(poisoned, mask)
    assert_close(weights, masked_softmax(scores, mask), rtol=0, atol=0)
    (gradient,) = torch.autograd.grad(weights.square().sum(), poisoned)
    assert gradient.isfinite().all()


def test_masked_softmax_runs_along_any_axis(scores, mask):
    found = masked_softmax(scores, mask, axis=2)
    expected = masked_softmax(scores.mT, mask.mT).mT
    assert_close(found, expected, **TOLERANCE)


@DTYPES
def test_masked_softmax_keeps_the_dtype(scores, mask, dtype):
    assert masked_softmax(scores.to(dtype), mask).dtype == dtype


def test_masked_softmax_refuses_a_mask_of_numbers(without_shape_checks, scores):
    with pytest.raises(TypeError, match=r"must be boolean .* got torch\.int64.*== 1"):
        masked_softmax(scores, torch.ones(5, 7, dtype=torch.int64))


@pytest.mark.parametrize("shape", [(7, 5), (4, 2, 3, 5, 7), (2, 3, 5, 2)])
def test_masked_softmax_refuses_a_mask_of_another_shape(scores, shape):
    with pytest.raises(ValueError, match="mask must broadcast to the scores, got mask"):
        masked_softmax(scores, torch.ones(shape, dtype=torch.bool))


# the others are PyTorch's under the names of NumPy's


@pytest.mark.parametrize("name", ["relu", "silu", "gelu", "log_softmax"])
def test_functions_equal_those_in_numpy(scores, name):
    found = getattr(functional, name)(scores, **({"dim": -1} if "soft" in name else {}))
    expected = getattr(in_numpy, name)(scores.numpy())
    assert_close(found, torch.from_numpy(expected), **TOLERANCE)


def test_gelu_tanh_is_the_approximation(scores):
    found = functional.gelu_tanh(scores)
    expected = in_numpy.gelu(scores.numpy(), approximate="tanh")
    assert_close(found, torch.from_numpy(expected), **TOLERANCE)
    assert (found - functional.gelu(scores)).abs().max() > 1e-4


def test_linear_takes_a_matrix_from_out_to_in():
    x, W, b = np.ones((2, 4)), np.arange(12.0).reshape(4, 3), np.ones(3)
    found = functional.linear(*map(torch.from_numpy, (x, np.array(W.T), b)))
    assert_close(found, torch.from_numpy(in_numpy.linear(x, W, b)), **TOLERANCE)
