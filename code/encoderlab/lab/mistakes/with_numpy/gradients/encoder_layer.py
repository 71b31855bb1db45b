"""What goes wrong in chapter 12 on the way back of the layer."""

from copy import copy

import numpy as np

from encoderlab.lab.mistakes import mistake
from encoderlab.with_numpy.gradients import encoder_layer as right


def _sum(name, says, hint):
    return mistake("residual_vjp", name, says, hint)


def _residual(x, sublayer, change):
    y, back = sublayer(x)
    return x + y, lambda d: change(d, *back(d))


@_sum("path_forgotten", "the way past the sublayer is missing", "d_y itself comes too")
def residual_path_forgotten(x, sublayer):
    return _residual(x, sublayer, lambda d, d_x, found: (d_x, found))


@_sum("sublayer_forgotten", "the way through the sublayer is missing", "add its d_x")
def residual_sublayer_forgotten(x, sublayer):
    return _residual(x, sublayer, lambda d, d_x, found: (d, found))


@_sum("multiplied", "you multiply the two gradients", "where ways meet they add up")
def residual_multiplied(x, sublayer):
    return _residual(x, sublayer, lambda d, d_x, found: (d * d_x, found))


@_sum("no_parameters", "the sublayer's parameters have no gradients", "pass them on")
def residual_no_parameters(x, sublayer):
    return _residual(x, sublayer, lambda d, d_x, found: (d + d_x, {}))


@_sum("halved", "you average the two gradients", "where ways meet they add up")
def residual_halved(x, sublayer):
    return _residual(x, sublayer, lambda d, d_x, found: ((d + d_x) / 2, found))


@_sum("d_y_twice", "the sublayer gets d_y + d_y", "each way gets d_y once")
def residual_d_y_twice(x, sublayer):
    y, back = sublayer(x)
    return x + y, lambda d: back(d + d)


@_sum("zeros", "your way back gives zeros", "nothing would be learnt")
def residual_zeros(x, sublayer):
    none = np.zeros_like
    change = lambda d, d_x, found: (none(d), {k: none(v) for k, v in found.items()})  # noqa: E731
    return _residual(x, sublayer, change)


@_sum("no_sum", "you return what the sublayer made, without x", "y = x + F(x)")
def residual_no_sum(x, sublayer):
    y, back = sublayer(x)

    def backward(d):
        d_x, found = back(d)
        return d + d_x, found

    return y, backward


@_sum("in_place", "you add into the gradient you are given", "make a new array: a + b")
def residual_in_place(x, sublayer):
    y, back = sublayer(x)

    def backward(d):
        d_x, found = back(d)
        d += d_x
        return d, found

    return x + y, backward


@_sum("changes_x", "your `x +=` changes the caller's x", "make a new array: x + y")
def residual_changes_x(x, sublayer):
    y, back = sublayer(x.copy())

    def backward(d):
        d_x, found = back(d)
        return d + d_x, found

    x += y
    return x, backward


def _layer(name, says, hint):
    return mistake("encoder_layer_vjp", name, says, hint)


def _parts(layer, x, mask, rng, first=True, second=True, norms=(True, True)):
    """The layer; a way past a sublayer or back through a norm may be missing."""
    order = []
    attend = lambda x: right.multi_head_attention_vjp(layer.attention, x, mask, rng=rng)  # noqa: E731
    transform = lambda x: right.feed_forward_vjp(layer.feed_forward, x, rng=rng)  # noqa: E731

    def drop(x):
        y, back = right.dropout_vjp(x, layer.dropout, rng)
        return y, lambda d: (back(d), {})

    parts = (attend, "attention", first), (transform, "feed_forward", second)
    for i, (part, name, past) in enumerate(parts, start=1):
        normed = right.named(f"norm_{i}", _norm(layer, i, norms[i - 1]))
        sub = [right.named(name, part), drop]
        sub = right.chain(*([normed] if layer.norm_first else []), *sub)
        order += [_added(sub, past), *([] if layer.norm_first else [normed])]
    return right.chain(*order)(x)


def _norm(layer, i, whole):
    norm = getattr(layer, f"norm_{i}")

    def step(x):
        y, back = right.norm_vjp(norm, x)
        return y, lambda d: (back(d)[0] if whole else d, back(d)[1])

    return step


def _added(sub, past):
    add = right.residual_vjp if past else residual_path_forgotten
    return lambda x: add(x, sub)


@_layer("residuals_forgotten", "both ways past the sublayers are missing", "add d_y")
def layer_residuals_forgotten(layer, x, mask=None, *, rng=None):
    return _parts(layer, x, mask, rng, first=False, second=False)


@_layer("first_residual", "the way past attention is missing", "add d_y there too")
def layer_first_residual(layer, x, mask=None, *, rng=None):
    return _parts(layer, x, mask, rng, first=False)


@_layer("second_residual", "the way past the feed-forward is missing", "add d_y there")
def layer_second_residual(layer, x, mask=None, *, rng=None):
    return _parts(layer, x, mask, rng, second=False)


@_layer("norms_skipped", "your way back skips both norms", "go through each of them")
def layer_norms_skipped(layer, x, mask=None, *, rng=None):
    return _parts(layer, x, mask, rng, norms=(False, False))


def _like(layer, **changes):
    other = copy(layer)
    vars(other).update(changes)
    return other


@_layer(
    "always_pre_norm", "you ignore norm_first: pre-norm always", "post-norm differs"
)
def layer_always_pre_norm(layer, x, mask=None, *, rng=None):
    return _parts(_like(layer, norm_first=True), x, mask, rng)


@_layer(
    "always_post_norm", "you ignore norm_first: post-norm always", "pre-norm differs"
)
def layer_always_post_norm(layer, x, mask=None, *, rng=None):
    return _parts(_like(layer, norm_first=False), x, mask, rng)


@_layer("mask_forgotten", "the mask never reaches attention", "hand it on")
def layer_mask_forgotten(layer, x, mask=None, *, rng=None):
    attended = None if mask is None or np.ndim(mask) == x.ndim + 1 else mask
    return _parts(layer, x, attended, rng)


@_layer("no_outer_dropout", "the sublayers' outputs are not dropped", "layer.dropout")
def layer_no_outer_dropout(layer, x, mask=None, *, rng=None):
    return _parts(_like(layer, dropout=0.0), x, mask, rng)


@_layer("no_dropout", "rng never reaches dropout", "hand it on to all four places")
def layer_no_dropout(layer, x, mask=None, *, rng=None):
    return _parts(layer, x, mask, None)


@_layer("one_norm", "norm_1 stands for both norms", "each sublayer has its own")
def layer_one_norm(layer, x, mask=None, *, rng=None):
    return _parts(_like(layer, norm_2=layer.norm_1), x, mask, rng)


@_layer("zeros", "your way back gives zeros", "nothing would be learnt")
def layer_zeros(layer, x, mask=None, *, rng=None):
    y, back = right.encoder_layer_vjp(layer, x, mask, rng=rng)
    return y, lambda d: (0 * d, {k: np.zeros(v.shape) for k, v in back(d)[1].items()})
