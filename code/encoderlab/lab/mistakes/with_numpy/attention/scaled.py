"""What goes wrong in chapter 03: scaled dot-product attention."""

from math import sqrt

import numpy as np

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.lab.mistakes.in_steps import answer, scores_of, weigh
from encoderlab.with_numpy.attention import attention
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.functional import softmax

here = wrong("attention")


@here
def no_scale(q, k, v, mask=None, **drop):
    """you do not divide the scores by √d

    divide them by the root of the width of a key
    """
    return answer(weigh(q @ k.mT, mask), v, **drop)


@here
def divided_by_d(q, k, v, mask=None, **drop):
    """you divide the scores by d, not by its root

    a sum of d products grows as √d, not as d
    """
    return answer(weigh(q @ k.mT / q.shape[-1], mask), v, **drop)


@here
def times_root_d(q, k, v, mask=None, **drop):
    """you multiply the scores by √d instead of dividing

    the scale is there to make the scores smaller
    """
    return answer(weigh(q @ k.mT * sqrt(q.shape[-1]), mask), v, **drop)


@here
def root_of_keys(q, k, v, mask=None, **drop):
    """you divide by the root of the number of keys, not of their width

    `shape[-1]` is the width, `shape[-2]` the number of keys
    """
    return answer(weigh(q @ k.mT / sqrt(k.shape[-2]), mask), v, **drop)


@here
def scale_of_a_fixed_width(q, k, v, mask=None, **drop):
    """you divide by 2, which is right for queries of width 4 alone

    take the width from the array: `q.shape[-1]`
    """
    return answer(weigh(q @ k.mT / 2.0, mask), v, **drop)


@here
def scaled_after_softmax(q, k, v, mask=None, **drop):
    """you divide by √d after the softmax: the weights no longer sum to 1

    scale the scores, before the softmax
    """
    return answer(weigh(q @ k.mT, mask) / sqrt(q.shape[-1]), v, **drop)


@here
def softmax_over_queries(q, k, v, mask=None, **drop):
    """your weights sum to 1 over the queries, not over the keys

    take the softmax along the last axis of the scores
    """
    return answer(weigh(scores_of(q, k), mask, axis=-2), v, **drop)


@here
def no_softmax(q, k, v, mask=True, **drop):
    """you use the scores themselves as weights, without a softmax

    weights are positive and sum to 1 for each query
    """
    return answer(np.where(mask, scores_of(q, k), 0.0), v, **drop)


@here
def weights_transposed(q, k, v, mask=None, **drop):
    """you multiply the values by the transposed weights

    row t of the weights belongs to query t: `weights @ v`
    """
    return answer(weigh(scores_of(q, k), mask).mT, v, **drop)


@here
def keys_for_values(q, k, v, mask=None, **drop):
    """you average the keys, where the values are asked for

    the last product is with `v`
    """
    return answer(weigh(scores_of(q, k), mask), k, **drop)


@here
def keys_times_queries(q, k, v, mask=None, **drop):
    """you compute k qᵀ, so that each row of scores belongs to a key

    rows are queries, columns are keys: q kᵀ
    """
    return answer(weigh(scores_of(k, q), mask), v, **drop)


@here
def mask_inverted(q, k, v, mask=None, **drop):
    """you hide what the mask allows, and allow what it hides

    True means "may attend"
    """
    return answer(weigh(scores_of(q, k), None if mask is None else ~mask), v, **drop)


@here
def mask_multiplied(q, k, v, mask=1, **drop):
    """you multiply the mask into the scores: a score of 0 still gets weight

    exp(0) is 1; a hidden score must be minus infinity
    """
    return answer(softmax(scores_of(q, k) * mask), v, **drop)


@here
def mask_added(q, k, v, mask=0, **drop):
    """you add the boolean mask to the scores: True counts as 1

    put minus infinity where the mask is False
    """
    return answer(softmax(scores_of(q, k) + mask), v, **drop)


@here
def sentinel_positive(q, k, v, mask=True, **drop):
    """you fill hidden scores with +1e9: they get all the weight

    look at the sign of what you fill in
    """
    return answer(softmax(np.where(mask, scores_of(q, k), 1e9)), v, **drop)


@here
def sentinel_tiny(q, k, v, mask=True, **drop):
    """you fill hidden scores with -1e-9, which is next to 0

    look at the exponent: -1e9, or minus infinity
    """
    return answer(softmax(np.where(mask, scores_of(q, k), -1e-9)), v, **drop)


@here
def sentinel_small(q, k, v, mask=True, **drop):
    """you fill hidden scores with -1e4, and other scores may be lower

    minus infinity is lower than every score
    """
    return answer(softmax(np.where(mask, scores_of(q, k), -1e4)), v, **drop)


@here
def not_renormalised(q, k, v, mask=True, **drop):
    """you zero hidden weights after the softmax: the others no longer sum to 1

    mask the scores, or divide the weights by their sum again
    """
    return answer(softmax(scores_of(q, k)) * mask, v, **drop)


@here
def mask_ignored(q, k, v, mask=None, **drop):
    """you do not use the mask

    hidden scores must get weight 0
    """
    return answer(softmax(scores_of(q, k)), v, **drop)


@here
def mask_on_queries(q, k, v, mask=None, **drop):
    """you apply the mask to the rows, which are queries

    the last axis of mask and scores belongs to the keys
    """
    return answer(weigh(scores_of(q, k), None if mask is None else mask.mT), v, **drop)


@here
def nan_if_nothing_allowed(q, k, v, mask=True, **drop):
    """a query that may attend to nothing gets NaN

    -inf minus -inf is NaN: set such rows to 0
    """
    return answer(softmax(np.where(mask, scores_of(q, k), -np.inf)), v, **drop)


@here
def uniform_if_nothing_allowed(q, k, v, mask=True, **drop):
    """a query that may attend to nothing averages all that is hidden

    equal scores of -1e9 give equal weights: set such rows to 0
    """
    return answer(softmax(np.where(mask, scores_of(q, k), -1e9)), v, **drop)


@here
def zero_times_infinity(q, k, v, mask=True, **drop):
    """you multiply (1 - mask) by minus infinity: 0 times infinity is NaN

    choose with `np.where` instead of multiplying
    """
    hidden = 1 - np.asarray(mask, int)
    return answer(softmax(scores_of(q, k) + hidden * -np.inf), v, **drop)


@here
def sentinel_in_float16(q, k, v, mask=True, **drop):
    """-1e9 is -inf in float16, and 0 times that is NaN

    choose with `np.where`, and fill with what the dtype can hold
    """
    hidden = np.asarray(~np.asarray(mask), q.dtype) * np.asarray(-1e9).astype(q.dtype)
    seen = np.any(mask, axis=-1, keepdims=True)
    return answer(softmax(scores_of(q, k) + hidden) * seen, v, **drop)


@here
def dropout_ignored(q, k, v, mask=None, dropout_p=0.0, rng=None):
    """you never drop a weight

    hand `dropout_p` and `rng` on to `dropout`
    """
    return attention(q, k, v, mask, dropout_p=dropout_p)


@here
def dropout_without_rng(q, k, v, mask=None, dropout_p=0.0, rng=None):
    """you drop weights although `rng` is None

    without a generator dropout is off
    """
    rng = rng or np.random.default_rng(0)
    return attention(q, k, v, mask, dropout_p=dropout_p, rng=rng)


@here
def dropout_on_context(q, k, v, mask=None, dropout_p=0.0, rng=None):
    """you drop values of the result, not weights

    dropout comes between the softmax and the product with `v`
    """
    context, weights = attention(q, k, v, mask)
    return dropout(context, dropout_p, rng), weights


@here
def dropped_weights_returned(q, k, v, mask=None, dropout_p=0.0, rng=None):
    """you return the weights after dropout

    return what the softmax gave; drop only for the product
    """
    weights = dropout(attention(q, k, v, mask)[1], dropout_p, rng)
    return weights @ v, weights
