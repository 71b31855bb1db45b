"""What goes wrong in chapter 12 on the way back of attention."""

from math import sqrt

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.lab.mistakes.with_numpy.gradients import (
    erring_attention,
    erring_heads,
    wrong_way_back,
    zeros_back,
)
from encoderlab.with_numpy import attention as ours
from encoderlab.with_numpy.gradients import attention as right


def _context(*inputs, **options):
    return ours.attention(*inputs, **options)[0]


def _one_head(name, says, hint):
    return mistake("attention_vjp", name, says, hint)


@_one_head("no_scale", "√d is missing in d_q and d_k", "the scores were divided by it")
def attention_no_scale(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    root = sqrt(q.shape[-1])
    return erring_attention(q, k, v, mask, dropout_p, rng, scales=(root, root))


@_one_head("no_scale_in_dq", "√d is missing in d_q", "d_q and d_k both need it")
def attention_no_scale_in_dq(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(
        q, k, v, mask, dropout_p, rng, scales=(sqrt(q.shape[-1]), 1)
    )


@_one_head("no_scale_in_dk", "√d is missing in d_k", "d_q and d_k both need it")
def attention_no_scale_in_dk(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(
        q, k, v, mask, dropout_p, rng, scales=(1, sqrt(q.shape[-1]))
    )


@_one_head(
    "scaled_twice", "you divide by d, not by √d, on the way back", "once is enough"
)
def attention_scaled_twice(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    scale = 1 / sqrt(q.shape[-1])
    return erring_attention(q, k, v, mask, dropout_p, rng, scales=(scale, scale))


@_one_head("no_softmax", "your way back skips the softmax", "d_scores is not d_weights")
def attention_no_softmax(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(q, k, v, mask, dropout_p, rng, softmax=lambda d, w: d)


@_one_head("times_weights", "softmax's way back lacks the sum", "subtract the mean")
def attention_times_weights(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(q, k, v, mask, dropout_p, rng, softmax=lambda d, w: w * d)


@_one_head("wrong_axis", "softmax's way back runs over the queries", "over the keys")
def attention_wrong_axis(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    def over_queries(d, w):
        return w * (d - (w * d).sum(axis=-2, keepdims=True))

    return erring_attention(q, k, v, mask, dropout_p, rng, softmax=over_queries)


@_one_head("dropout_only_for_v", "d_q and d_k ignore dropout", "go back through it too")
def attention_dropout_only_for_v(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(q, k, v, mask, dropout_p, rng, drop="values")


@_one_head("v_before_dropout", "d_v uses the weights before dropout", "use those kept")
def attention_v_before_dropout(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(q, k, v, mask, dropout_p, rng, drop="scores")


@_one_head("no_dropout", "you ignore dropout_p", "it drops weights, both ways")
def attention_no_dropout(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
    return erring_attention(q, k, v, mask, 0.0, rng)


_back = wrong_way_back("attention_vjp", _context)


@_back("mask_forgotten", "your way back forgets the mask", "keep the masked weights")
def attention_mask_forgotten(d, y, q, k, v, mask=None, **options):
    return right.attention_vjp(q, k, v)[1](d)


@_back("exchanged", "the gradients of q and k are exchanged", "q's is d_scores @ k")
def attention_exchanged(d, y, *inputs, **options):
    d_q, d_k, d_v = right.attention_vjp(*inputs, **options)[1](d)
    return d_k, d_q, d_v


@_back("weights_not_turned", "d_v needs the weights transposed", "weights.T @ d")
def attention_weights_not_turned(d, y, q, k, v, *others, **options):
    d_q, d_k, _ = right.attention_vjp(q, k, v, *others, **options)[1](d)
    return d_q, d_k, ours.attention(q, k, v, *others, **options)[1] @ d


@zeros_back("attention_vjp", _context)
def attention_zeros(d, y, q, k, v, *others, **options):
    return 0 * q, 0 * k, 0 * v


split = wrong_way_back("split_heads_vjp", ours.split_heads)
merge = wrong_way_back("merge_heads_vjp", ours.merge_heads)


@split("reshape", "your way back only reshapes", "swap heads and tokens back first")
def split_reshape(d, y, x, num_heads):
    return d.reshape(x.shape)


@mistake("split_heads_vjp", "both_reshape", "you only reshape", "heads before tokens")
def split_both_reshape(x, num_heads):
    y = ours.split_heads(x, num_heads)
    return x.reshape(y.shape), lambda d: d.reshape(x.shape)


@merge("reshape", "your way back only reshapes", "split, then swap heads and tokens")
def merge_reshape(d, y, x):
    return d.reshape(x.shape)


@mistake("merge_heads_vjp", "both_reshape", "you only reshape", "tokens before heads")
def merge_both_reshape(x):
    y = ours.merge_heads(x)
    return x.reshape(y.shape), lambda d: d.reshape(x.shape)


@merge("not_swapped", "your way back leaves tokens before heads", "swap the axes")
def merge_not_swapped(d, y, x):
    *batch, H, T, K = x.shape
    return d.reshape(*batch, T, H, K)


for _name, _forward in {"split": ours.split_heads, "merge": ours.merge_heads}.items():

    @zeros_back(f"{_name}_heads_vjp", _forward)
    def cut_zeros(d, y, x, *num_heads):
        return np.zeros(x.shape)


def _heads(name, says, hint):
    return mistake("multi_head_attention_vjp", name, says, hint)


@_heads(
    "only_through_q", "x gets the queries' gradient alone", "add the keys', values'"
)
def heads_only_through_q(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, rng, lambda parts, found: (parts[0], found))


@_heads(
    "only_through_v", "x gets the values' gradient alone", "add the queries', keys'"
)
def heads_only_through_v(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, rng, lambda parts, found: (parts[2], found))


@_heads(
    "averaged", "you average the three gradients of x", "where ways meet they add up"
)
def heads_averaged(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, rng, lambda p, found: (sum(p) / 3, found))


@_heads("transposed_dW", "the matrices' gradients are transposed", "x.T @ d_y")
def heads_transposed(layer, x, mask=None, *, rng=None):
    return erring_heads(
        layer, x, mask, rng, lambda p, f: (sum(p), {k: f[k].T for k in f})
    )


@_heads("no_biases", "the biases have no gradients", "they are learnt too")
def heads_no_biases(layer, x, mask=None, *, rng=None):
    def change(parts, found):
        return sum(parts), {k: d for k, d in found.items() if k.startswith("W")}

    return erring_heads(layer, x, mask, rng, change)


@_heads("zeros", "your way back gives zeros", "nothing would be learnt")
def heads_zeros(layer, x, mask=None, *, rng=None):
    def change(parts, found):
        return 0 * parts[0], {k: np.zeros(d.shape) for k, d in found.items()}

    return erring_heads(layer, x, mask, rng, change)


@_heads("root_of_d_model", "you divide by √d_model", "a head has d_model / H only")
def heads_root_of_d_model(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, rng, scale=layer.num_heads**-0.5)


@_heads("no_scale", "√d is missing in d_q and d_k", "the scores were divided by it")
def heads_no_scale(layer, x, mask=None, *, rng=None):
    root = sqrt(layer.d_model / layer.num_heads)
    return erring_heads(layer, x, mask, rng, scales=(root, root))


@_heads("reshaped", "the way back of the heads only reshapes", "swap heads and tokens")
def heads_reshaped(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, rng, merge=lambda d: d.reshape(x.shape))


@_heads("skips_W_o", "your way back skips W_o", "it comes first on the way back")
def heads_without_mixing(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, rng, skip_W_o=True)


@_heads("no_mask", "the mask never reaches attention", "hand it on")
def heads_no_mask(layer, x, mask=None, *, rng=None):
    layer(x, mask)
    return erring_heads(layer, x, None, rng)


@_heads("no_dropout", "you ignore the dropout of the weights", "hand p and rng on")
def heads_no_dropout(layer, x, mask=None, *, rng=None):
    return erring_heads(layer, x, mask, None)
