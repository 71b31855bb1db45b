import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.normalization import (
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)

ONES, ZEROS = np.ones(4), np.zeros(4)


@pytest.mark.parametrize(
    ("x", "eps", "expected"),
    [
        ([1, 0, 0, 0], 1e-5, [1.73200462, -0.57733487, -0.57733487, -0.57733487]),
        (
            [0, 1e-3, 2e-3, 3e-3],
            1e-12,
            [-1.34164025, -0.44721342, 0.44721342, 1.34164025],
        ),
        (
            [0, 1e-3, 2e-3, 3e-3],
            1e-5,
            [-0.44721360, -0.14907120, 0.14907120, 0.44721360],
        ),
    ],
)
def test_layer_norm_matches_exact_values(x, eps, expected):
    assert_allclose(
        layer_norm(np.array(x, float), ONES, ZEROS, eps), expected, atol=1e-8
    )


@pytest.mark.parametrize("batch", [(), (5,), (2, 5), (2, 3, 5)])
@pytest.mark.parametrize("eps", [0.1, 1e-12])
def test_layer_norm_matches_torch(rng, batch, eps):
    x = 3 * rng.standard_normal((*batch, 12)) + 1
    gamma, beta = rng.standard_normal((2, 12))
    tensors = map(torch.from_numpy, (x, gamma, beta))
    x_, gamma_, beta_ = tensors
    expected = torch.nn.functional.layer_norm(x_, (12,), gamma_, beta_, eps)
    assert_allclose(layer_norm(x, gamma, beta, eps), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("eps", [0.1, 1e-6])
def test_rms_norm_matches_torch(rng, eps):
    x, gamma = 3 * rng.standard_normal((2, 5, 12)) + 1, rng.standard_normal(12)
    expected = torch.nn.functional.rms_norm(
        torch.from_numpy(x), (12,), torch.from_numpy(gamma), eps
    )
    assert_allclose(rms_norm(x, gamma, eps), expected, rtol=1e-12)


def test_layers_match_their_functions(rng, disturb):
    x = rng.standard_normal((2, 5, 12))
    norm, rms = disturb(LayerNorm(12, eps=0.1)), disturb(RMSNorm(12, eps=0.2))
    assert_array_equal(norm(x), layer_norm(x, norm.gamma, norm.beta, 0.1))
    assert_array_equal(rms(x), rms_norm(x, rms.gamma, 0.2))


def test_layers_start_as_plain_normalisation_in_float32():
    norm, rms = LayerNorm(12), RMSNorm(12)
    assert_array_equal(
        [norm.gamma, norm.beta, rms.gamma], [[1] * 12, [0] * 12, [1] * 12]
    )
    assert {norm.gamma.dtype, norm.beta.dtype, rms.gamma.dtype} == {np.dtype("float32")}
    assert (norm.eps, rms.eps) == (1e-5, 1e-6)


# steps of 1/8 keep every variance but 0 far above eps
vectors = arrays(
    np.float64, (3, 4), elements=st.integers(-1000, 1000).map(lambda i: i / 8)
)


@given(vectors)
def test_layer_norm_output_has_mean_beta_and_unit_variance_or_less(x):
    y = layer_norm(x, ONES, ZEROS + 2)
    assert_allclose(y.mean(-1), 2, atol=1e-9)
    assert (y.var(-1) <= 1).all()
    varied = x.var(-1) > 0
    expected = (x.var(-1) / (x.var(-1) + 1e-5))[varied]
    assert_allclose(y.var(-1)[varied], expected, rtol=1e-9)


@given(vectors, st.integers(-1000, 1000), st.integers(1, 1000))
def test_layer_norm_ignores_shift_and_scale_without_eps(x, shift, scale):
    x[:, 0] += 1000  # no constant row
    expected = layer_norm(x, ONES, ZEROS, 0.0)
    found = layer_norm(scale * x + shift, ONES, ZEROS, 0.0)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "norm", [lambda x: layer_norm(x, ONES, ZEROS), lambda x: rms_norm(x, ONES)]
)
def test_norms_treat_each_vector_by_itself(rng, norm):
    x = rng.standard_normal((2, 5, 4))
    before = norm(x)
    x[1, 3] = 100 * rng.standard_normal(4)
    after = norm(x)
    after[1, 3] = before[1, 3]
    assert_array_equal(after, before)


def test_norms_leave_their_input_unchanged(rng):
    x = rng.standard_normal((5, 4))
    before = x.copy()
    layer_norm(x, ONES, ZEROS)
    rms_norm(x, ONES)
    assert_array_equal(x, before)


def test_layer_norm_of_a_constant_vector_is_beta():
    beta = np.array([1.0, -2, 3, 0.5])
    assert_array_equal(layer_norm(np.full((2, 4), 7.0), 3 * ONES, beta), [beta, beta])


@pytest.mark.parametrize("constant", [0.1, 3.3, 1000.1])
def test_layer_norm_of_a_constant_vector_is_beta_where_the_mean_is_rounded(constant):
    x, beta = np.full((2, 384), constant, np.float32), np.float32(0.25)
    beta = np.full(384, beta)
    assert_array_equal(layer_norm(x, beta + 2, beta, 1e-12), np.tile(beta, (2, 1)))


def test_norms_of_float16_match_torch_where_its_squares_overflow():
    x, one = np.zeros(384, np.float16), np.ones(384, np.float16)
    x[0] = 300
    x_, one_ = torch.from_numpy(x), torch.from_numpy(one)
    expected = torch.nn.functional.layer_norm(x_, (384,), one_, 0 * one_)
    assert_allclose(layer_norm(x, one, 0 * one), expected, rtol=2e-3, atol=1e-3)
    expected = torch.nn.functional.rms_norm(x_, (384,), one_, 1e-6)
    assert_allclose(rms_norm(x, one), expected, rtol=2e-3, atol=1e-3)


def test_layer_norm_keeps_precision_far_from_zero():
    x = np.array([40000, 40001, 40002, 40003], np.float32)
    found = layer_norm(x, ONES.astype(np.float32), ZEROS.astype(np.float32))
    expected = [-1.34163542, -0.44721181, 0.44721181, 1.34163542]
    assert found.dtype == np.float32
    assert_allclose(found, expected, rtol=1e-6)


def test_norms_give_nan_where_the_variance_overflows():
    x = np.array([[1e20, 2e20, 3e20, 4e20], [1, 2, 3, 4]], np.float32)
    one = ONES.astype(np.float32)
    with pytest.warns(RuntimeWarning, match="overflow"):
        found = layer_norm(x, one, 0 * one)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()
    with pytest.warns(RuntimeWarning, match="overflow"):
        found = rms_norm(x, one)
    assert np.isnan(found[0]).all()
    assert np.isfinite(found[1]).all()


@pytest.mark.parametrize(
    "norm", [lambda x: layer_norm(x, ONES, ZEROS), lambda x: rms_norm(x, ONES)]
)
def test_norms_keep_nan_in_its_vector(rng, norm):
    x = rng.standard_normal((3, 4))
    x[1, 2] = np.nan
    assert_array_equal(np.isnan(norm(x)).all(-1), [False, True, False])
    assert_array_equal(np.isnan(norm(x)).any(-1), [False, True, False])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_norms_keep_the_dtype(dtype):
    x, one = np.arange(4, dtype=dtype), ONES.astype(dtype)
    assert layer_norm(x, one, one).dtype == dtype
    assert rms_norm(x, one).dtype == dtype


@pytest.mark.parametrize("shape", [(5,), (1,), (2, 4)])
def test_norms_refuse_parameters_that_do_not_fit(without_shape_checks, shape):
    x, wrong = np.ones((2, 4)), np.ones(shape)
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
        layer_norm(np.ones(4), ONES, ZEROS, eps)
    with pytest.raises(ValueError, match=message):
        rms_norm(np.ones(4), ONES, eps)
    with pytest.raises(ValueError, match=message):
        LayerNorm(4, eps)
    with pytest.raises(ValueError, match=message):
        RMSNorm(4, eps)


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_norm_layers_refuse_a_width(norm):
    with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
        norm(0)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_norms_do_not_wrap_integers(without_shape_checks, dtype):
    x = np.array([[200, 20, 100, 90]], dtype)
    assert_array_equal(rms_norm(x, ONES), rms_norm(x.astype(float), ONES))
    assert_array_equal(layer_norm(x, ONES, ZEROS), layer_norm(x * 1.0, ONES, ZEROS))
