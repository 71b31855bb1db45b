"""Checks of chapter 10: one encoder layer."""

import numpy as np

from encoderlab.lab.case import Case, Property, ask, give_weights
from encoderlab.with_numpy import encoder_layer as ours
from encoderlab.with_numpy.masks import causal_mask, padding_mask

SIZES = (12, 3, 11)
P = 0.3


def EncoderLayer(solution, rng):  # noqa: N802  # named as what it checks
    start = np.random.default_rng(3)
    names = ours.EncoderLayer(*SIZES, rng=np.random.default_rng(3))

    def built(**choices):
        return give_weights(solution(*SIZES, **choices, rng=start), names, rng)

    x = 1.5 * rng.standard_normal((2, 5, 12)) + 0.3
    mask = padding_mask([3, 5], 5)
    pre, post = built(), built(norm_first=False)
    small = x[:1, :1]
    yield ask(pre, small, says="a sequence of one token, pre-norm")
    yield ask(post, small, says="a sequence of one token, post-norm")
    yield ask(pre, x, says="2 sequences of 5 tokens, pre-norm")
    yield ask(post, x, says="2 sequences of 5 tokens, post-norm")
    yield ask(pre, x, mask, says="pre-norm, 3 tokens and 2 of padding")
    yield ask(post, x, mask, says="post-norm, 3 tokens and 2 of padding")
    yield ask(pre, x, causal_mask(5), says="a causal mask")
    square = rng.standard_normal((5, 5, 12))
    each = rng.random((5, 1, 5, 5)) < 0.5
    each |= np.eye(5, dtype=bool)
    yield ask(pre, square, each, says="5 sequences of 5 tokens, each with its mask")
    for eps in (0.1, 1e-12):
        low = built(eps=eps), built(eps=eps, norm_first=False)
        yield ask(low[0], 0.2 * x, says=f"eps = {eps}, pre-norm")
        yield ask(low[1], 0.2 * x, says=f"eps = {eps}, post-norm")
    for kind in ("relu", "gelu_tanh", "silu"):
        yield ask(built(activation=kind), x, says=f"the activation {kind}")
    order = rng.permutation(5)
    yield Property(
        "permuting the tokens permutes the result",
        lambda: np.allclose(pre(x[:, order])[0], pre(x)[0][:, order]),
    )
    leak, other = x.copy(), x.copy()
    leak[0, 3:] += 1
    other[1] += rng.standard_normal(12)
    yield Property(
        "what stands in the padding does not change the tokens",
        lambda: np.allclose(pre(leak, mask)[0][0, :3], pre(x, mask)[0][0, :3]),
    )
    yield Property(
        "sequence 1 does not change the result of sequence 0",
        lambda: np.allclose(post(other)[0][0], post(x)[0][0]),
    )
    empty = padding_mask([5, 0], 5)
    yield Property(
        "a sequence of padding alone gives no NaN",
        lambda: np.isfinite(pre(x, empty)[0]).all(),
    )
    yield Case(
        "12 is no multiple of 5 heads",
        lambda: solution(12, 5, 11, rng=np.random.default_rng(3)),
        raises=ValueError,
    )
    yield from _dropped(built, rng)


def _dropped(built, rng):
    """Ask for dropout at each of its places, in whatever order the masks are drawn."""
    x = rng.standard_normal((40, 1, 12))
    pre, post = built(dropout=P), built(dropout=P, norm_first=False)
    yield ask(pre, x, says="dropout = 0.3, but no rng: nothing is dropped")

    def after(layer):
        return layer(x, rng=np.random.default_rng(5))

    def holds_only(layer, value):
        """Only the dropped parts of one sublayer are added: 0, or the value."""
        change = after(layer)[0] - x
        dropped = np.isclose(change, 0)
        sizes = np.allclose(change[~dropped], value)
        return sizes and 0.15 < dropped.mean() < 0.7

    says = "with an rng, 0.3 of attention's output is dropped, and nothing else of h"
    only = _silence(built(dropout=P))
    only.attention.b_o[:] = 2.0
    yield Property(says, lambda only=only: holds_only(only, 2 / (1 - P)))
    says = "with an rng, 0.3 of the feed-forward network's output is dropped"
    only = _silence(built(dropout=P))
    only.feed_forward.b_2[:] = 2.0
    yield Property(says, lambda only=only: holds_only(only, 2 / (1 - P)))
    says = "with an rng, 0.3 of the attention weights are dropped as well"
    only = _silence(built(dropout=P))
    only.attention.b_v[:], only.attention.W_o[:] = 1.0, np.eye(12)
    yield Property(says, lambda only=only: holds_only(only, 1 / (1 - P) ** 2))
    says = "with an rng, 0.3 of the hidden values are dropped as well"
    only = _silence(built(dropout=P, activation="relu"))
    only.feed_forward.b_1[:], only.feed_forward.W_2[0] = 0.0, 1.0
    only.feed_forward.b_1[0] = 1.0
    yield Property(says, lambda only=only: holds_only(only, 1 / (1 - P) ** 2))
    yield Property(
        "the weights that are returned are those before dropout",
        lambda: np.allclose(after(pre)[1], pre(x)[1]),
    )
    for name in ("attention.b_o", "feed_forward.b_2"):
        part, bias = name.split(".")
        only = _silence(built(dropout=P, norm_first=False))
        getattr(getattr(only, part), bias)[:] = rng.standard_normal(12)
        yield Property(
            f"with an rng, post-norm drops the output of {part} too",
            lambda only=only: not np.allclose(after(only)[0], only(x)[0]),
        )
    yield Property(
        "two generators drop different places",
        lambda: (
            not np.allclose(after(post)[0], post(x, rng=np.random.default_rng(6))[0])
        ),
    )


def _silence(layer):
    """Set to 0 all that reaches the residual sums."""
    for name in ("W_v", "b_v", "W_o", "b_o"):
        getattr(layer.attention, name)[:] = 0
    for name in ("W_1", "b_1", "W_2", "b_2"):
        getattr(layer.feed_forward, name)[:] = 0
    return layer
