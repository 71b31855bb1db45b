import pytest
import torch

from encoderlab.with_numpy import masks as in_numpy
from encoderlab.with_torch.masks import (
    additive_mask,
    causal_mask,
    padding_mask,
    require_bool,
    require_mask,
)


@pytest.mark.parametrize(
    "lengths", [[3, 0, 5], (3, 0, 5), torch.tensor([3, 0, 5], dtype=torch.int32)]
)
def test_padding_mask_allows_keys_below_the_length(lengths):
    mask = padding_mask(lengths, 5)
    assert mask.dtype == torch.bool
    assert mask.shape == (3, 1, 1, 5)
    expected = [[1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]
    assert mask[:, 0, 0].int().tolist() == expected


def test_padding_mask_of_no_sequence_is_empty():
    assert padding_mask([], 5).shape == (0, 1, 1, 5)


def test_causal_mask_allows_what_comes_before():
    mask = causal_mask(3)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]


def test_masks_equal_those_in_numpy():
    lengths = [4, 0, 7]
    assert padding_mask(lengths, 7).tolist() == (
        in_numpy.padding_mask(lengths, 7).tolist()
    )
    assert causal_mask(5).tolist() == in_numpy.causal_mask(5).tolist()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_additive_mask_is_zero_where_allowed(dtype):
    found = additive_mask(torch.tensor([[True, False]]), dtype)
    assert found.dtype == dtype
    assert found.tolist() == [[0, -torch.inf]]


@pytest.mark.parametrize("length", [-1, 6])
def test_padding_mask_refuses_lengths_out_of_range(length):
    with pytest.raises(ValueError, match="lengths must be from 0 to max_len = 5, got"):
        padding_mask([3, length], 5)


@pytest.mark.parametrize("lengths", [[3.0, 2.0], [True, False], [1j]])
def test_padding_mask_refuses_lengths_that_are_not_whole(without_shape_checks, lengths):
    with pytest.raises(TypeError, match=r"lengths must be whole numbers, got torch\."):
        padding_mask(lengths, 5)


def test_padding_mask_refuses_lengths_with_two_axes(without_shape_checks):
    with pytest.raises(
        ValueError, match=r"one number for each sequence, got shape \(1, 2\)"
    ):
        padding_mask(torch.tensor([[3, 2]]), 5)


def test_causal_mask_refuses_an_empty_sequence():
    with pytest.raises(ValueError, match="T must be at least 1, got 0"):
        causal_mask(0)


def test_additive_mask_refuses_numbers(without_shape_checks):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        additive_mask(torch.tensor([1, 0]), torch.float32)


def test_additive_mask_refuses_integers_as_dtype():
    with pytest.raises(TypeError, match=r"dtype must be floating, got torch\.int64"):
        additive_mask(torch.tensor([True]), torch.int64)


def test_require_bool_says_how_to_convert():
    with pytest.raises(TypeError, match=r"`mask == 1`, an additive one .*`mask == 0`"):
        require_bool(torch.zeros(5))


@pytest.mark.parametrize("shape", [(), (7,), (5, 7), (1, 1), (2, 1, 5, 1)])
def test_require_mask_takes_what_broadcasts(shape):
    size = torch.Size([2, 3, 5, 7])
    mask = torch.ones(shape, dtype=torch.bool)
    require_mask(mask, size)
    assert mask.expand(size).shape == size


@pytest.mark.parametrize("shape", [(5,), (7, 5), (3, 5, 7, 1), (1, 2, 3, 5, 7)])
def test_require_mask_refuses_what_does_not(shape):
    message = r"mask must broadcast to the scores, got .* and scores \(2, 3, 5, 7\)"
    with pytest.raises(ValueError, match=message):
        require_mask(torch.ones(shape) == 1, torch.Size([2, 3, 5, 7]))
