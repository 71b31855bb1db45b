"""What goes wrong in chapter 04: one vector for a whole sequence."""

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import pooling as ours


def _sum_and_count(x, mask):
    ours.mean_pool(x, mask)  # raises what the book raises
    return np.where(mask[..., None], x, 0).sum(-2), mask.sum(-1, keepdims=True)


@mistake(
    "mean_pool",
    "mask_ignored",
    "you average the padding as well",
    "sum only the tokens where the mask is True, and count only those",
)
def mean_pool_with_padding(x, mask):
    _sum_and_count(x, mask)
    return x.mean(axis=-2)


@mistake(
    "mean_pool",
    "divided_by_the_length",
    "you divide by the padded length; only the real tokens count",
    "divide by mask.sum(axis=-1)",
)
def mean_pool_by_the_length(x, mask):
    return _sum_and_count(x, mask)[0] / x.shape[-2]


@mistake(
    "mean_pool",
    "sum",
    "you add the vectors up and do not divide",
    "divide by mask.sum(axis=-1)",
)
def mean_pool_by_sum(x, mask):
    return _sum_and_count(x, mask)[0]


@mistake(
    "mean_pool",
    "inverted",
    "you average the padding and leave out the tokens",
    "True means that a token counts",
)
def mean_pool_inverted(x, mask):
    return ours.mean_pool(x, ~ours.require_bool(mask))


@mistake(
    "mean_pool",
    "count_of_the_batch",
    "you divide by the tokens of the whole batch; each sequence has its own number",
    "mask.sum(axis=-1, keepdims=True)",
)
def mean_pool_by_one_count(x, mask):
    total, count = _sum_and_count(x, mask)
    return total / np.maximum(count.sum(), 1)


@mistake(
    "mean_pool",
    "average_count",
    "you divide by the mean length; each sequence has its own number of tokens",
    "mask.sum(axis=-1, keepdims=True)",
)
def mean_pool_by_the_average_count(x, mask):
    total, count = _sum_and_count(x, mask)
    return total / np.maximum(count.mean(), 1)


@mistake(
    "mean_pool",
    "count_without_keepdims",
    "you drop the axis of the counts: another sequence's is divided by",
    "keepdims=True, so that (B, 1) stands beside (B, D)",
)
def mean_pool_without_keepdims(x, mask):
    total, count = _sum_and_count(x, mask)
    return total / np.maximum(count[..., 0], 1)


@mistake(
    "mean_pool",
    "maximum",
    "you take the largest value of each feature",
    "sum over the tokens and divide by their number",
)
def mean_pool_by_maximum(x, mask):
    _sum_and_count(x, mask)
    largest = np.where(mask[..., None], x, -np.inf).max(axis=-2)
    return np.where(mask.any(axis=-1, keepdims=True), largest, 0)


@mistake(
    "mean_pool",
    "first_token",
    "you return the first token's vector",
    "that is CLS pooling; the mean is asked for",
)
def mean_pool_by_first_token(x, mask):
    _sum_and_count(x, mask)
    return x[..., 0, :]


@mistake(
    "mean_pool",
    "feature_axis",
    "you average over the features; the tokens stand on the axis before",
    "axis=-2, and the mask needs an axis more: mask[..., None]",
)
def mean_pool_over_features(x, mask):
    _sum_and_count(x, mask)
    return np.where(mask, x.mean(axis=-1), 0)


@mistake(
    "mean_pool",
    "nothing_is_nan",
    "a sequence without tokens gives 0 / 0, NaN",
    "divide by the number of tokens, but at least by 1",
)
def mean_pool_with_nan(x, mask):
    total, count = _sum_and_count(x, mask)
    return total / count


@mistake(
    "mean_pool",
    "zero_times_nan",
    "you multiply by the mask, and 0 times NaN is NaN",
    "np.where leaves out what stands in the padding",
)
def mean_pool_by_a_product(x, mask):
    count = _sum_and_count(x, mask)[1]
    return (x * mask[..., None]).sum(axis=-2) / np.maximum(count, 1)


@mistake(
    "mean_pool",
    "one_added_to_the_count",
    "you add 1 to the number of tokens to avoid 0, and change every mean",
    "np.maximum(count, 1) changes 0 alone",
)
def mean_pool_by_one_more(x, mask):
    total, count = _sum_and_count(x, mask)
    return total / (count + 1)


@mistake(
    "mean_pool",
    "root_of_the_count",
    "you divide by the root of the number of tokens",
    "a mean divides by the number itself",
)
def mean_pool_by_root(x, mask):
    total, count = _sum_and_count(x, mask)
    return total / np.sqrt(np.maximum(count, 1))


@mistake(
    "mean_pool",
    "numbers_accepted",
    "you accept a mask of 0 and 1; it may as well mean the opposite",
    "raise TypeError unless mask.dtype is bool",
)
def mean_pool_of_numbers(x, mask):
    return ours.mean_pool(x, np.asarray(mask, bool))


@mistake(
    "mean_pool",
    "shape_unchecked",
    "you accept a mask that lacks an axis, and use one sequence's for all",
    "raise ValueError unless mask.shape == x.shape[:-1]",
)
def mean_pool_of_any_shape(x, mask):
    if ours.require_bool(mask).ndim < x.ndim - 1:
        mask = np.broadcast_to(mask, x.shape[:-1])
    return ours.mean_pool(x, mask)
