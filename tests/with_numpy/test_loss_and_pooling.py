import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.loss import cross_entropy
from encoderlab.with_numpy.pooling import mean_pool


def torch_cross_entropy(logits, targets, **options):
    return torch.nn.functional.cross_entropy(
        torch.from_numpy(logits).flatten(0, -2),
        torch.from_numpy(targets).flatten(),
        **options,
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("ignore_index", [None, -100, 2])
def test_cross_entropy_matches_torch(rng, smoothing, ignore_index):
    logits = 3 * rng.standard_normal((2, 5, 7))
    targets = rng.integers(0, 7, (2, 5))
    targets[0, 1:3] = 2 if ignore_index is None else ignore_index
    found = cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=smoothing
    )
    expected = torch_cross_entropy(
        logits,
        targets,
        ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=smoothing,
    )
    assert_allclose(found, expected, rtol=1e-12)


def test_cross_entropy_of_even_logits_is_the_logarithm_of_the_classes():
    loss = cross_entropy(np.zeros((3, 7)), np.array([0, 6, 3]))
    assert_allclose(loss, np.log(7), rtol=1e-14)


def test_cross_entropy_survives_large_logits():
    logits = np.array([[1e4, 0.0], [0.0, 1e4]], np.float32)
    loss = cross_entropy(logits, np.array([0, 0]))
    assert loss == 5000
    assert loss.dtype == np.float32


def test_cross_entropy_with_every_target_ignored_is_zero():
    logits = np.ones((2, 7), np.float32)
    loss = cross_entropy(logits, np.array([-100, -100]), ignore_index=-100)
    assert loss == 0
    assert loss.dtype == np.float32


def test_cross_entropy_does_not_read_ignored_logits(rng):
    logits, targets = rng.standard_normal((3, 7)), np.array([1, -1, 4])
    poisoned = logits.copy()
    poisoned[1] = np.nan
    found = cross_entropy(poisoned, targets, ignore_index=-1)
    assert_allclose(found, cross_entropy(logits[[0, 2]], targets[[0, 2]]), rtol=1e-14)


def test_cross_entropy_is_nan_for_a_nan_that_counts(rng):
    logits = rng.standard_normal((3, 7))
    logits[1, 1] = np.nan
    assert np.isnan(cross_entropy(logits, np.array([1, 2, 4])))


@pytest.mark.parametrize("target", [-1, 7, -100])
def test_cross_entropy_refuses_targets_out_of_range(target):
    with pytest.raises(ValueError, match="targets must be from 0 to 6, got"):
        cross_entropy(np.ones((2, 7)), np.array([3, target]))


def test_cross_entropy_refuses_targets_that_are_not_whole(without_shape_checks):
    with pytest.raises(TypeError, match="targets must be whole numbers, got float64"):
        cross_entropy(np.ones((2, 7)), np.array([1.0, 2.0]))


def test_cross_entropy_refuses_targets_of_another_shape(without_shape_checks):
    with pytest.raises(ValueError, match=r"expected shape \(2,\), got \(3,\)"):
        cross_entropy(np.ones((2, 7)), np.array([1, 2, 3]))


@pytest.mark.parametrize("smoothing", [-0.1, 1.0, float("nan")])
def test_cross_entropy_refuses_label_smoothing(smoothing):
    with pytest.raises(ValueError, match=r"label_smoothing must be in \[0, 1\), got"):
        cross_entropy(np.ones((2, 7)), np.array([1, 2]), label_smoothing=smoothing)


def test_mean_pool_matches_exact_values():
    x = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0], [0.0, 2.0]])
    assert_array_equal(mean_pool(x, np.array([True, True, False, False])), [1, 0])


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_mean_pool_is_the_mean_over_real_tokens(rng, batch):
    x = rng.standard_normal((*batch, 5, 12))
    mask = rng.random((*batch, 5)) < 0.6
    mask[..., 0] = True
    pooled = mean_pool(x, mask)
    for index in np.ndindex(batch):
        expected = x[index][mask[index]].mean(axis=0)
        assert_allclose(pooled[index], expected, rtol=1e-12)


@pytest.mark.parametrize("content", [1e30, np.inf, np.nan])
def test_mean_pool_does_not_read_padding(rng, content):
    x, mask = rng.standard_normal((2, 5, 12)), np.arange(5) < [[3], [5]]
    before = mean_pool(x, mask)
    x[~mask] = content
    assert_array_equal(mean_pool(x, mask), before)


def test_mean_pool_of_nothing_is_zero():
    pooled = mean_pool(np.ones((2, 5, 12)), np.zeros((2, 5), bool))
    assert_array_equal(pooled, np.zeros((2, 12)))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_mean_pool_keeps_the_dtype(dtype):
    assert mean_pool(np.ones((5, 12), dtype), np.ones(5, bool)).dtype == dtype


def test_mean_pool_refuses_a_mask_of_numbers(without_shape_checks):
    with pytest.raises(TypeError, match="mask must be boolean"):
        mean_pool(np.ones((2, 5, 12)), np.ones((2, 5), int))


def test_mean_pool_refuses_a_mask_of_another_shape(without_shape_checks):
    with pytest.raises(
        ValueError, match=r"expected shape \(2, 5\), got \(2, 1, 1, 5\)"
    ):
        mean_pool(np.ones((2, 5, 12)), np.ones((2, 1, 1, 5), bool))


def test_cross_entropy_takes_an_impossible_wrong_class():
    assert cross_entropy(np.array([[0.0, -np.inf]]), np.array([0])) == 0


def test_mean_pool_survives_many_tokens_in_float16():
    x = np.full((30_000, 2), 3, np.float16)
    pooled = mean_pool(x, np.ones(30_000, bool))
    assert pooled.dtype == np.float16
    assert_array_equal(pooled, [3, 3])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_mean_pool_does_not_wrap_integers(without_shape_checks, dtype):
    pooled = mean_pool(np.full((300, 2), 100, dtype), np.ones(300, bool))
    assert_array_equal(pooled, [100, 100])
