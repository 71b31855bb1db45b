import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.dropout import dropout, dropout_mask


def test_dropout_without_generator_returns_its_input(rng):
    x = rng.standard_normal((2, 5))
    assert dropout(x, 0.3) is x


def test_dropout_with_probability_zero_returns_its_input(rng):
    x = rng.standard_normal((2, 5))
    assert dropout(x, 0.0, rng) is x


@pytest.mark.parametrize("p", [0.1, 0.25, 0.9])
def test_dropout_zeroes_a_share_p_and_scales_the_rest(rng, p):
    x = rng.uniform(1, 2, (200, 500))
    y = dropout(x, p, rng)
    kept = y != 0
    # four standard deviations of a mean of 100,000 coin tosses
    assert abs((1 - kept.mean()) - p) < 4 * np.sqrt(p * (1 - p) / x.size)
    assert_allclose(y[kept], x[kept] / (1 - p), rtol=1e-12)


def test_dropout_keeps_the_expected_value(rng):
    x = np.array([1.0, -2.0, 3.0, 0.5])
    mean = np.mean([dropout(x, 0.3, rng) for _ in range(20_000)], axis=0)
    # a value's deviation is |x| sqrt(p / (1 - p)); four of them of the mean
    assert (np.abs(mean - x) < 4 * np.abs(x) * np.sqrt(0.3 / 0.7 / 20_000)).all()


def test_dropout_leaves_its_input_unchanged(rng):
    x = rng.standard_normal((2, 5))
    before = x.copy()
    dropout(x, 0.5, rng)
    assert_array_equal(x, before)


def test_dropout_is_repeated_by_its_seed():
    x = np.ones((5, 7))
    first, second, other = (
        dropout(x, 0.5, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert_array_equal(first, second)
    assert (first != other).any()


def test_dropout_drops_single_values_not_rows(rng):
    y = dropout(np.ones((20, 30)), 0.5, rng)
    assert (y == 0).any(0).all()
    assert (y != 0).any(0).all()
    assert (y == 0).any(1).all()
    assert (y != 0).any(1).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dropout_keeps_the_dtype(rng, dtype):
    assert dropout(np.ones(7, dtype), 0.3, rng).dtype == dtype


def test_dropout_mask_draws_the_same_places_in_every_dtype():
    masks = [
        dropout_mask((5, 7), 0.3, np.random.default_rng(2), dtype)
        for dtype in (np.float32, np.float64)
    ]
    assert_array_equal(masks[0] == 0, masks[1] == 0)
    assert_allclose(masks[0], masks[1], rtol=1e-7)


def test_dropout_mask_has_two_values(rng):
    assert_allclose(
        np.unique(dropout_mask((9, 9), 0.2, rng, np.float64)), [0, 1.25], rtol=1e-15
    )


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.1, float("nan")])
def test_dropout_refuses_a_probability(rng, p):
    message = r"the dropout probability must be in \[0, 1\), got"
    with pytest.raises(ValueError, match=message):
        dropout(np.ones(3), p)
    with pytest.raises(ValueError, match=message):
        dropout_mask((3,), p, rng, np.float64)


@pytest.mark.parametrize("p", [0.0, 0.5])
def test_dropout_refuses_a_seed_for_a_generator(without_shape_checks, p):
    with pytest.raises(
        TypeError, match=r"must be a np.random.Generator, got int; make"
    ):
        dropout(np.ones(3), p, 0)
