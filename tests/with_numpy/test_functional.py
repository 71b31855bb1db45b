import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.functional import (
    gelu,
    gelu_tanh,
    linear,
    log_softmax,
    masked_softmax,
    relu,
    silu,
    softmax,
)

ACTIVATIONS = [relu, silu, gelu, gelu_tanh]
EACH = pytest.mark.parametrize("function", [softmax, log_softmax, *ACTIVATIONS])


def tensor(x):
    return torch.from_numpy(np.array(x))


# values


def test_softmax_matches_exact_values():
    expected = [0.09003057, 0.24472847, 0.66524096]
    assert_allclose(softmax(np.array([1000.0, 1001, 1002])), expected, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_softmax_matches_torch_along_every_axis(rng, axis):
    x = 3 * rng.standard_normal((2, 5, 7))
    assert_allclose(softmax(x, axis), tensor(x).softmax(axis), rtol=1e-13)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_log_softmax_matches_torch_along_every_axis(rng, axis):
    x = 3 * rng.standard_normal((2, 5, 7))
    assert_allclose(log_softmax(x, axis), tensor(x).log_softmax(axis), rtol=1e-12)


def test_masked_softmax_matches_exact_values():
    scores = np.array([0.43, -0.21, 0.99, 0.32, -0.35, 0.04])
    expected = [0.30506733, 0.16085969, 0.53407298, 0, 0, 0]
    assert_allclose(masked_softmax(scores, np.arange(6) < 3), expected, atol=1e-8)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_masked_softmax_matches_torch_with_infinite_fill(rng, axis):
    scores = 3 * rng.standard_normal((2, 5, 7))
    mask = rng.random((5, 7)) < 0.6
    mask[0] = mask[:, 0] = True  # so that no row is without an allowed score
    expected = tensor(scores).masked_fill(~tensor(mask), -torch.inf).softmax(axis)
    if axis == 0:  # one mask for the whole of axis 0: columns all or nothing
        expected = expected.nan_to_num()
    assert_allclose(masked_softmax(scores, mask, axis), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "oracle"),
    [
        (relu, torch.relu),
        (silu, torch.nn.functional.silu),
        (gelu, torch.nn.functional.gelu),
        (gelu_tanh, lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    ],
)
def test_activations_match_torch(function, oracle):
    x = np.linspace(-9, 9, 1801).reshape(-1, 1)
    assert_allclose(function(x), oracle(tensor(x)), rtol=1e-11, atol=1e-15)


def test_gelu_is_x_times_the_normal_distribution_function():
    xs = [-2.5, -1.0, 0.0, 0.3, 2.69894]
    expected = [x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in xs]
    assert_allclose(gelu(np.array(xs)), expected, rtol=1e-14)


def test_gelu_forms_differ_most_where_documented():
    x = np.linspace(0, 6, 600001)
    gap = np.abs(gelu(x) - gelu(x, approximate="tanh"))
    assert_allclose(gap.max(), 4.7323552e-4, rtol=1e-7)
    assert_allclose(x[gap.argmax()], 2.69894, atol=1e-4)


def test_gelu_has_its_minimum_where_documented():
    x = np.linspace(-2, 0, 200001)
    assert_allclose([gelu(x).min(), x[gelu(x).argmin()]], [-0.170, -0.752], atol=5e-4)


def test_silu_has_its_minimum_where_documented():
    x = np.linspace(-2, 0, 200001)
    assert_allclose([silu(x).min(), x[silu(x).argmin()]], [-0.278, -1.278], atol=5e-4)


@pytest.mark.parametrize("batch", [(), (5,), (2, 5), (2, 3, 5), (0, 5)])
def test_linear_matches_torch(rng, batch):
    x, W = rng.standard_normal((*batch, 12)), rng.standard_normal((12, 7))
    b = rng.standard_normal(7)
    expected = torch.nn.functional.linear(tensor(x), tensor(W.T), tensor(b))
    assert_allclose(linear(x, W, b), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(linear(x, W), linear(x, W, b) - b, rtol=1e-12, atol=1e-12)


def test_linear_accepts_a_view_that_is_not_contiguous(rng):
    x, W = rng.standard_normal((5, 2, 12)), rng.standard_normal((12, 7))
    assert_allclose(linear(x.swapaxes(0, 1), W), x.swapaxes(0, 1) @ W, rtol=1e-12)


# invariants


@given(
    arrays(np.float64, (3, 4), elements=st.floats(-1e4, 1e4)),
    st.sampled_from([0, 1]),
    st.floats(-1e4, 1e4),
)
def test_softmax_sums_to_one_and_ignores_a_shift(x, axis, shift):
    weights = softmax(x, axis)
    assert_allclose(weights.sum(axis), 1, rtol=1e-12)
    assert_allclose(softmax(x + shift, axis), weights, rtol=1e-7, atol=1e-12)


@given(arrays(np.float64, (3, 4), elements=st.floats(-1e4, 1e4)))
def test_log_softmax_is_the_logarithm_of_softmax(x):
    assert_allclose(np.exp(log_softmax(x)), softmax(x), rtol=1e-9, atol=1e-300)


@given(
    arrays(np.float64, (3, 4), elements=st.floats(-1e4, 1e4)),
    arrays(np.bool_, (3, 4)),
)
def test_masked_softmax_is_softmax_over_the_allowed(scores, mask):
    weights = masked_softmax(scores, mask)
    assert not weights[~mask].any()
    for row, allowed, found in zip(scores, mask, weights, strict=True):
        if allowed.any():
            assert_allclose(found[allowed], softmax(row[allowed]), rtol=1e-12)


def test_masked_softmax_row_with_nothing_allowed_is_zero():
    mask = np.array([[False, False], [True, True]])
    weights = masked_softmax(np.array([[3.0, 5.0], [0.0, 0.0]]), mask)
    assert_array_equal(weights, [[0, 0], [0.5, 0.5]])


@EACH
def test_functions_leave_their_input_unchanged(rng, function):
    x = rng.standard_normal((2, 5))
    before = x.copy()
    function(x)
    assert_array_equal(x, before)


def test_masked_softmax_leaves_its_input_unchanged(rng):
    scores, mask = rng.standard_normal((2, 5)), rng.random((2, 5)) < 0.5
    before = scores.copy(), mask.copy()
    masked_softmax(scores, mask)
    assert_array_equal(scores, before[0])
    assert_array_equal(mask, before[1])


# numerics


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax_survives_large_scores(dtype):
    x = np.array([[6e4, 5.9e4], [-6e4, -6e4]], dtype)
    assert_array_equal(softmax(x), [[1, 0], [0.5, 0.5]])
    assert_array_equal(masked_softmax(x, np.ones_like(x, bool)), softmax(x))


def test_softmax_gives_minus_infinity_no_weight():
    assert_array_equal(softmax(np.array([-np.inf, 0.0, 0.0])), [0, 0.5, 0.5])


def test_masked_softmax_beats_any_finite_score():
    scores = np.array([-2e4, -np.finfo(np.float64).max])
    assert_array_equal(masked_softmax(scores, np.array([False, True])), [0, 1])


@EACH
def test_functions_keep_nan_in_its_row(function):
    x = np.array([[1.0, np.nan, 2.0], [0.5, -1.0, 2.0]])
    y = function(x)
    assert np.isnan(y[0, 1])
    assert np.isfinite(y[1]).all()


def test_masked_softmax_keeps_nan_in_its_row():
    scores = np.array([[1.0, np.nan], [1.0, np.nan], [1.0, 1.0]])
    mask = np.array([[True, True], [True, False], [True, True]])
    weights = masked_softmax(scores, mask)
    assert np.isnan(weights[0]).all()
    assert_array_equal(weights[1:], [[1, 0], [0.5, 0.5]])


@EACH
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_functions_keep_a_floating_dtype(function, dtype):
    assert function(np.ones((2, 3), dtype)).dtype == dtype


@EACH
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_functions_compute_integers_in_float64(function, dtype):
    x = np.array([[1, 3, 2]], dtype)
    y = function(x)
    assert y.dtype == np.float64
    assert_allclose(y, function(x.astype(np.float64)), rtol=1e-15)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_masked_softmax_keeps_a_floating_dtype(dtype):
    weights = masked_softmax(np.ones((2, 3), dtype), np.ones((2, 3), bool))
    assert weights.dtype == dtype


def test_masked_softmax_computes_integers_in_float64():
    weights = masked_softmax(np.array([1, 1, 9]), np.array([True, True, False]))
    assert weights.dtype == np.float64
    assert_array_equal(weights, [0.5, 0.5, 0])


def test_linear_follows_promotion():
    x, W = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
    assert linear(x, W, np.ones(4, np.float32)).dtype == np.float32
    assert linear(x, W.astype(np.float64)).dtype == np.float64
    assert linear(x.astype(int), W.astype(int)).dtype == np.float64


# errors


def test_masked_softmax_refuses_a_mask_of_numbers(without_shape_checks):
    with pytest.raises(
        TypeError, match=r"mask must be boolean .* got float64; convert"
    ):
        masked_softmax(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(TypeError, match=r"mask must be boolean .* got int64"):
        masked_softmax(np.ones((2, 3)), np.ones((2, 3), np.int64))


@pytest.mark.parametrize("shape", [(3, 2), (4, 2, 3), (5,)])
def test_masked_softmax_refuses_a_mask_of_another_shape(shape):
    with pytest.raises(ValueError, match="mask must broadcast to the scores, got mask"):
        masked_softmax(np.ones((2, 3)), np.ones(shape, bool))


def test_gelu_refuses_an_unknown_form(without_shape_checks):
    with pytest.raises(ValueError, match="'none' or 'tanh', got 'erf'"):
        gelu(np.ones(2), approximate="erf")


@pytest.mark.parametrize("W", [(12, 7), (7,)])
def test_linear_refuses_weights_that_do_not_fit(without_shape_checks, W):
    with pytest.raises(ValueError, match="last axis of x must equal the rows of W"):
        linear(np.ones((2, 7)), np.ones(W))


def test_linear_refuses_a_bias_that_does_not_fit(without_shape_checks):
    with pytest.raises(
        ValueError, match=r"b must hold one value .* \(7,\), got \(2, 7\)"
    ):
        linear(np.ones((2, 12)), np.ones((12, 7)), np.ones((2, 7)))


@pytest.mark.parametrize("x", [np.array([1j]), np.array([None]), np.array([True])])
def test_functions_refuse_what_is_no_real_number(without_shape_checks, x):
    for function in (softmax, log_softmax, *ACTIVATIONS):
        with pytest.raises(TypeError, match="the values must be real numbers, got"):
            function(x)


def test_functions_take_lists(without_shape_checks):
    assert_allclose(softmax([[0.0, 0.0]]), [[0.5, 0.5]], rtol=1e-15)
    assert_allclose(linear([[1, 2]], [[1, 0], [0, 1]]), [[1, 2]], rtol=1e-15)
