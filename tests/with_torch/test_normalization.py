import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.with_numpy import normalization as in_numpy
from encoderlab.with_torch.normalization import (
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)

ONES, ZEROS = torch.ones(4), torch.zeros(4)
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def x():
    return 3 * torch.randn(2, 5, 12, dtype=torch.float64) + 1


@pytest.fixture
def vectors():
    return torch.randn(2, 12, dtype=torch.float64)


@pytest.mark.parametrize("eps", [0.1, 1e-12])
@pytest.mark.parametrize("batch", [(), (5,), (2, 5), (2, 3, 5)])
def test_layer_norm_matches_torch(vectors, batch, eps):
    x = 3 * torch.randn(*batch, 12, dtype=torch.float64) + 1
    expected = nn.functional.layer_norm(x, (12,), *vectors, eps)
    assert_close(layer_norm(x, *vectors, eps), expected, **TOLERANCE)


@pytest.mark.parametrize("eps", [0.1, 1e-12])
def test_rms_norm_matches_torch(x, vectors, eps):
    expected = nn.functional.rms_norm(x, (12,), vectors[0], eps)
    assert_close(rms_norm(x, vectors[0], eps), expected, **TOLERANCE)


def test_norms_match_numpy(x, vectors):
    gamma, beta = vectors
    expected = in_numpy.layer_norm(*(a.numpy() for a in (x, gamma, beta)), 0.1)
    assert_close(layer_norm(x, gamma, beta, 0.1), torch.tensor(expected), **TOLERANCE)
    expected = in_numpy.rms_norm(x.numpy(), gamma.numpy(), 0.1)
    assert_close(rms_norm(x, gamma, 0.1), torch.tensor(expected), **TOLERANCE)


def test_modules_match_their_functions(disturb, x):
    norm, rms = disturb(LayerNorm(12, 0.1)), disturb(RMSNorm(12, 0.2))
    expected = layer_norm(x, norm.weight, norm.bias, 0.1)
    assert_close(norm(x), expected, **TOLERANCE)
    assert_close(rms(x), rms_norm(x, rms.weight, 0.2), **TOLERANCE)


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm"])
def test_modules_match_torch_with_the_same_state(disturb, x, kind):
    ours = disturb({"LayerNorm": LayerNorm, "RMSNorm": RMSNorm}[kind](12, 0.1))
    theirs = getattr(nn, kind)(12, 0.1, dtype=torch.float64)
    theirs.load_state_dict(ours.state_dict())
    assert_close(ours(x), theirs(x), **TOLERANCE)


def test_layer_norm_gradients_match_torch(x, vectors):
    inputs = [t.clone().requires_grad_() for t in (x, *vectors)]
    upstream = torch.randn_like(x)
    found = torch.autograd.grad(layer_norm(*inputs, 0.1), inputs, upstream)
    theirs = nn.functional.layer_norm(inputs[0], (12,), *inputs[1:], 0.1)
    expected = torch.autograd.grad(theirs, inputs, upstream)
    assert_close(found, expected, rtol=1e-10, atol=1e-12)


def test_modules_start_as_plain_normalisation():
    norm, rms = LayerNorm(12), RMSNorm(12)
    assert norm.weight.tolist() == rms.weight.tolist() == [1] * 12
    assert norm.bias.tolist() == [0] * 12
    assert (norm.eps, rms.eps) == (1e-5, 1e-6)


def test_layer_norm_of_a_constant_vector_is_beta():
    beta = torch.tensor([1.0, -2, 3, 0.5])
    found = layer_norm(torch.full((2, 4), 7.0), 3 * ONES, beta)
    assert_close(found, beta.expand(2, 4), rtol=0, atol=0)


def test_norms_treat_each_vector_by_itself(x, vectors):
    gamma, beta = vectors
    for norm in (lambda x: layer_norm(x, gamma, beta), lambda x: rms_norm(x, gamma)):
        before, changed = norm(x), x.clone()
        changed[1, 3] = torch.nan
        after = norm(changed)
        assert after[1, 3].isnan().all()
        after[1, 3] = before[1, 3]
        assert_close(after, before, rtol=0, atol=0)


def test_norms_of_float16_survive_squares_that_overflow():
    x, one = torch.zeros(384).half(), torch.ones(384).half()
    x[0] = 300
    tolerance = {"rtol": 2e-3, "atol": 1e-3}
    expected = nn.functional.layer_norm(x, (384,), one, 0 * one)
    assert_close(layer_norm(x, one, 0 * one), expected, **tolerance)
    expected = nn.functional.rms_norm(x, (384,), one, 1e-6)
    assert_close(rms_norm(x, one), expected, **tolerance)


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64]
)
def test_norms_keep_the_dtype(dtype):
    x, one = torch.arange(4, dtype=dtype), ONES.to(dtype)
    assert layer_norm(x, one, one).dtype == rms_norm(x, one).dtype == dtype
    for module in (LayerNorm(4), RMSNorm(4)):
        assert module.to(dtype)(x).dtype == dtype


@pytest.mark.parametrize("shape", [(5,), (1,), (2, 4)])
def test_norms_refuse_parameters_that_do_not_fit(without_shape_checks, shape):
    x, wrong = torch.ones(2, 4), torch.ones(shape)
    with pytest.raises(ValueError, match=r"gamma must have one value .* \(4,\), got"):
        layer_norm(x, wrong, ZEROS)
    with pytest.raises(ValueError, match=r"beta must have one value .* \(4,\), got"):
        layer_norm(x, ONES, wrong)
    with pytest.raises(ValueError, match=r"gamma must have one value .* \(4,\), got"):
        rms_norm(x, wrong)


@pytest.mark.parametrize("eps", [-1e-9, float("nan")])
def test_norms_refuse_eps(eps):
    message = "eps must be at least 0, got"
    with pytest.raises(ValueError, match=message):
        layer_norm(ONES, ONES, ZEROS, eps)
    with pytest.raises(ValueError, match=message):
        rms_norm(ONES, ONES, eps)
    for kind in (LayerNorm, RMSNorm):
        with pytest.raises(ValueError, match=message):
            kind(4, eps)


@pytest.mark.parametrize("kind", [LayerNorm, RMSNorm])
def test_modules_refuse_a_width(kind):
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        kind(0)
