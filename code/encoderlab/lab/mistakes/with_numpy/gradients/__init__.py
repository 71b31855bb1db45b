"""Mirrors the package; here stand parts that several mistakes are made of."""

from math import sqrt

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy import attention as ours
from encoderlab.with_numpy.functional import as_float
from encoderlab.with_numpy.gradients import dropout_vjp, linear_vjp
from encoderlab.with_numpy.gradients.functional import masked_softmax_vjp


def wrong_way_back(exercise, forward):
    """Make a decorator for a way back ``(d, y, *inputs)`` behind ``forward``."""

    def describe(name, says, hint):
        def enter(way_back):
            def vjp(*inputs, **options):
                y = forward(*inputs, **options)
                return y, lambda d: way_back(d, y, *inputs, **options)

            vjp.__module__ = way_back.__module__  # the file under which it is found
            return mistake(exercise, name, says, hint)(vjp)

        return enter

    return describe


def zeros_back(exercise, forward):
    """Enter a way back that gives zeros, as a template does that was never filled."""
    says = "your way back gives zeros: the right shape, and no gradient"
    return wrong_way_back(exercise, forward)("zeros", says, "nothing would be learnt")


def erring_attention(
    q, k, v, mask, p, rng, scales=(1, 1), softmax=None, drop="both", scale=1.0
):
    """Attention whose way back errs as the options say."""
    q, k, v = as_float(q), as_float(k), as_float(v)
    ours.require_matching(q, k, v)
    scale = scale / sqrt(q.shape[-1])
    scores = scale * q @ k.swapaxes(-1, -2)
    allowed = np.ones(scores.shape, bool) if mask is None else mask
    weights, back = masked_softmax_vjp(scores, allowed)
    kept, undrop = dropout_vjp(weights, p, rng)

    def backward(d):
        d_kept = d @ v.swapaxes(-1, -2)
        d_weights = undrop(d_kept) if drop != "values" else d_kept
        d_scores = back(d_weights) if softmax is None else softmax(d_weights, weights)
        d_scores = scale * d_scores
        d_v = (kept if drop != "scores" else weights).swapaxes(-1, -2) @ d
        d_q, d_k = d_scores @ k, d_scores.swapaxes(-1, -2) @ q
        return d_q * scales[0], d_k * scales[1], d_v

    return kept @ v, backward


def erring_heads(
    layer, x, mask, rng, change=None, merge=ours.merge_heads, skip_W_o=False, **options
):
    """Multi-head attention whose way back errs as the options say."""
    if mask is not None:
        ours.require_score_axes(mask, x)
    steps = [
        linear_vjp(x, getattr(layer, f"W_{s}"), getattr(layer, f"b_{s}")) for s in "qkv"
    ]
    pieces = [ours.split_heads(y, layer.num_heads) for y, _ in steps]
    context, through = erring_attention(*pieces, mask, layer.dropout, rng, **options)
    merged = ours.merge_heads(context)
    output, through_W_o = linear_vjp(merged, layer.W_o, layer.b_o)

    def backward(d):
        d_merged, W_o, b_o = through_W_o(d)
        d_context = ours.split_heads(d if skip_W_o else d_merged, layer.num_heads)
        found, parts = {"W_o": W_o, "b_o": b_o}, []
        for s, piece, (_, back) in zip("qkv", through(d_context), steps, strict=True):
            d_x, found[f"W_{s}"], found[f"b_{s}"] = back(merge(piece))
            parts.append(d_x)
        return change(parts, found) if change else (sum(parts), found)

    return output, backward
