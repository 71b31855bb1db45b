"""Checks of chapter 14: one encoder layer as a module."""

import torch
from torch import nn

from encoderlab.lab.case import Property, ask
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    give_weights,
    in_training,
)
from encoderlab.with_torch import encoder_layer as ours
from encoderlab.with_torch.masks import causal_mask, padding_mask

SIZES = (12, 3, 11)
P = 0.3
ALL = {"keywords": {"need_weights": True}}


def EncoderLayer(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        module = solution(*SIZES, **choices)
        return give_weights(module, ours.EncoderLayer(*SIZES), rng)

    yield Property(
        "it is an nn.Module", lambda: isinstance(solution(*SIZES), nn.Module)
    )
    x = draw(rng, 2, 5, 12, scale=1.5, shift=0.3)
    mask = padding_mask([3, 5], 5)
    pre, post = built(), built(norm_first=False)
    small = x[:1, :1]
    yield ask(pre, small, says="a sequence of one token, pre-norm", **ALL)
    yield ask(post, small, says="a sequence of one token, post-norm", **ALL)
    yield ask(pre, x, says="2 sequences of 5 tokens, pre-norm", **ALL)
    yield ask(post, x, says="2 sequences of 5 tokens, post-norm", **ALL)
    yield ask(pre, x, says="pre-norm: None for the weights")
    yield ask(post, x, says="post-norm: None for the weights")
    yield ask(pre, x, mask, says="pre-norm, 3 tokens and 2 of padding", **ALL)
    yield ask(post, x, mask, says="post-norm, 3 tokens and 2 of padding", **ALL)
    yield ask(pre, x, causal_mask(5), says="a causal mask", **ALL)
    for eps in (0.1, 1e-12):
        low = built(eps=eps), built(eps=eps, norm_first=False)
        yield ask(low[0], 0.2 * x, says=f"eps = {eps}, pre-norm")
        yield ask(low[1], 0.2 * x, says=f"eps = {eps}, post-norm")
    for kind in ("relu", "gelu_tanh", "silu"):
        yield ask(built(activation=kind), x, says=f"the activation {kind}")
    leak, other = x.clone(), x.clone()
    leak[0, 3:] += 1
    other[1] += draw(rng, 12)
    yield Property(
        "what stands in the padding does not change the tokens",
        lambda: close(pre(leak, mask)[0][0, :3], pre(x, mask)[0][0, :3]),
    )
    yield Property(
        "sequence 1 does not change the result of sequence 0",
        lambda: close(post(other)[0][0], post(x)[0][0]),
    )
    for name, layer in (("pre", pre), ("post", post)):
        says = f"{name}-norm: the gradients of x and of every parameter"
        yield ask_gradients(layer, x, mask, says=says, rng=rng)
    yield Property(
        "a sequence of padding alone gives no NaN",
        lambda: bool(pre(x, padding_mask([5, 0], 5))[0].isfinite().all()),
    )
    yield from _dropped(built, rng)
    yield ask(solution, 12, 5, 11, says="12 in 5 heads", raises=ValueError)


def _dropped(built, rng):
    """Ask for dropout at each of its places, in whatever order the masks are drawn."""
    x = draw(rng, 40, 1, 12)
    pre, post = built(dropout=P), built(dropout=P, norm_first=False)
    yield ask(pre, x, says="dropout = 0.3, in evaluation: nothing is dropped", **ALL)
    yield ask(post, x, says="the same in post-norm", **ALL)

    def after(layer, seed=5):
        return in_training(layer, x, need_weights=True, seed=seed)

    def only(part, values, **choices):
        """Set to 0 what reaches the sums, but for some parameters of one part."""
        layer = _silence(built(dropout=P, **choices))
        with torch.no_grad():
            for name, value in values.items():
                parameter = layer.get_parameter(f"{part}.{name}")
                parameter.copy_(value)
        return layer

    def holds_only(layer, value):
        """Only the dropped parts of one sublayer are added: 0, or the value."""
        change = (after(layer)[0] - x).detach()
        dropped = change.abs() < 1e-9
        sizes = close(change[~dropped], torch.full_like(change[~dropped], value))
        return sizes and 0.15 < dropped.double().mean() < 0.7

    two, one = torch.tensor(2.0), torch.tensor(1.0)
    says = "in training, 0.3 of attention's output is dropped, and nothing else of h"
    layer = only("attention", {"out_proj.bias": two})
    yield Property(says, lambda layer=layer: holds_only(layer, 2 / (1 - P)))
    says = "in training, 0.3 of the feed-forward network's output is dropped"
    layer = only("feed_forward", {"linear_2.bias": two})
    yield Property(says, lambda layer=layer: holds_only(layer, 2 / (1 - P)))
    says = "in training, 0.3 of the attention weights are dropped as well"
    layer = only("attention", {"v_proj.bias": one, "out_proj.weight": torch.eye(12)})
    yield Property(says, lambda layer=layer: holds_only(layer, 1 / (1 - P) ** 2))
    says = "in training, 0.3 of the hidden values are dropped as well"
    first = {"linear_1.bias": torch.eye(11)[0], "linear_2.weight": torch.eye(11)[0]}
    layer = only("feed_forward", first, activation="relu")
    yield Property(says, lambda layer=layer: holds_only(layer, 1 / (1 - P) ** 2))
    yield Property(
        "the weights that are returned are those before dropout",
        lambda: close(after(pre)[1], pre(x, need_weights=True)[1]),
    )
    for name in ("attention.out_proj", "feed_forward.linear_2"):
        part, linear = name.split(".")
        bias = {f"{linear}.bias": draw(rng, 12)}
        layer = only(part, bias, norm_first=False)
        yield Property(
            f"in training, post-norm drops the output of {part} too",
            lambda layer=layer: not close(after(layer)[0], layer(x)[0]),
        )
    yield Property(
        "each call in training drops other places",
        lambda: not close(after(post)[0], after(post, 6)[0]),
    )


def _silence(layer):
    """Set to 0 all that reaches the residual sums."""
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name.startswith(("attention.v", "attention.out", "feed_forward.")):
                parameter.zero_()
    return layer
