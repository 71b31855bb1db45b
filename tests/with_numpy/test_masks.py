import numpy as np
import pytest
from numpy.testing import assert_array_equal

from encoderlab.with_numpy.masks import additive_mask, causal_mask, padding_mask


@pytest.mark.parametrize(
    "lengths", [[3, 0, 5], np.array([3, 0, 5], np.int32), (3, 0, 5)]
)
def test_padding_mask_allows_keys_below_the_length(lengths):
    mask = padding_mask(lengths, 5)
    assert mask.shape == (3, 1, 1, 5)
    assert mask.dtype == bool
    assert_array_equal(
        mask[:, 0, 0].astype(int), [[1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]
    )


def test_causal_mask_allows_what_comes_before():
    mask = causal_mask(3)
    assert mask.shape == (1, 1, 3, 3)
    assert mask.dtype == bool
    assert_array_equal(mask[0, 0].astype(int), [[1, 0, 0], [1, 1, 0], [1, 1, 1]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_additive_mask_is_zero_where_allowed(dtype):
    found = additive_mask(np.array([[True, False]]), dtype)
    assert found.dtype == dtype
    assert_array_equal(found, [[0, -np.inf]])


@pytest.mark.parametrize("length", [-1, 6])
def test_padding_mask_refuses_lengths_out_of_range(length):
    with pytest.raises(ValueError, match="lengths must be from 0 to max_len = 5, got"):
        padding_mask([3, length], 5)


@pytest.mark.parametrize("lengths", [[3.0, 2.0], [True, False]])
def test_padding_mask_refuses_lengths_that_are_not_whole(without_shape_checks, lengths):
    with pytest.raises(TypeError, match="lengths must be whole numbers, got"):
        padding_mask(lengths, 5)


def test_padding_mask_refuses_lengths_with_two_axes(without_shape_checks):
    with pytest.raises(
        ValueError, match=r"one number for each sequence, got .*\(1, 2\)"
    ):
        padding_mask(np.array([[3, 2]]), 5)


def test_causal_mask_refuses_an_empty_sequence():
    with pytest.raises(ValueError, match="T must be at least 1, got 0"):
        causal_mask(0)


def test_additive_mask_refuses_numbers(without_shape_checks):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        additive_mask(np.array([1, 0]), np.float32)


def test_additive_mask_refuses_integers_as_dtype():
    with pytest.raises(TypeError, match="dtype must be floating, got int64"):
        additive_mask(np.array([True]), np.int64)


def test_padding_mask_of_no_sequence_is_empty():
    assert padding_mask([], 5).shape == (0, 1, 1, 5)


def test_masks_refuse_a_length_that_is_not_whole(without_shape_checks):
    with pytest.raises(TypeError, match=r"T must be a whole number, got 2\.5"):
        causal_mask(2.5)
    with pytest.raises(TypeError, match=r"max_len must be a whole number, got 3\.5"):
        padding_mask([1], 3.5)
