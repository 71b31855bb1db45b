"""Checks of chapter 14: the stack of layers and the encoder of texts as modules."""

import torch
from torch import nn

from encoderlab.config import EncoderConfig, TextConfig
from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    give_weights,
    in_training,
)
from encoderlab.with_torch import encoder as ours
from encoderlab.with_torch.masks import causal_mask, padding_mask

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}
TABLES = {"vocab_size": 9, "max_seq_len": 7, "num_segments": 3}


def _traced(encoder, *inputs, shown=None, **options):
    """All that the encoder computed; of sequences only what is shown, the rest as 0."""
    output = encoder(*inputs, trace=True, **options)
    states, weights = output.hidden_states, output.attention_weights
    parts = {"last_hidden_state": output.last_hidden_state}
    parts |= {f"hidden_states[{i}]": state for i, state in enumerate(states)}
    parts |= {f"attention_weights[{i}]": w for i, w in enumerate(weights)}
    if shown is None:
        return parts
    rows = {3: shown[:, :, None], 4: shown[:, None, :, None]}
    return {name: p.masked_fill(~rows[p.ndim], 0) for name, p in parts.items()}


def Encoder(solution, rng):  # noqa: N802  # named as what it checks
    def new(**choices):
        return solution(EncoderConfig(**SIZES | choices))

    def built(**choices):
        book = ours.Encoder(EncoderConfig(**SIZES | choices))
        return give_weights(new(**choices), book, rng)

    yield Property("it is an nn.Module", lambda: isinstance(new(), nn.Module))
    x, mask = draw(rng, 2, 5, 12, shift=0.3), padding_mask([3, 5], 5)
    yield ask(_traced, built(num_layers=1), x[:1], says="one layer, pre-norm")
    yield Property(
        "each layer has its own attention, feed-forward network and norms",
        lambda: _apart(new().layers),
    )
    pre, post = built(eps=0.1), built(eps=0.1, norm_first=False)
    yield ask(_traced, pre, x, says="2 layers, pre-norm, eps = 0.1")
    yield ask(_traced, post, x, says="2 layers, post-norm, eps = 0.1")
    yield ask(_traced, pre, x, mask, says="pre-norm, 3 tokens and 2 of padding")
    yield ask(_traced, post, x, mask, says="post-norm, 3 tokens and 2 of padding")
    yield ask(_traced, pre, x, causal_mask(5), says="a causal mask")
    deep = built(activation="relu", num_layers=3)
    yield ask(_traced, deep, x, says="3 layers with relu")
    says = "without trace, the last vectors alone"
    yield ask(lambda *inputs: tuple(pre(*inputs)), x, mask, says=says)
    leak, other = x.clone(), x.clone()
    leak[0, 3:] += draw(rng, 12)
    other[1] += draw(rng, 12)
    yield Property(
        "what stands in the padding does not change the tokens",
        lambda: close(pre(leak, mask)[0][0, :3], pre(x, mask)[0][0, :3]),
    )
    yield Property(
        "sequence 1 does not change the result of sequence 0",
        lambda: close(pre(other)[0][0], pre(x)[0][0]),
    )
    for name, encoder in (("pre", pre), ("post", post)):
        says = f"{name}-norm: the gradients of x and of every parameter"
        yield ask_gradients(encoder, x, mask, says=says, rng=rng)
    yield Property(
        "the layers of a new stack start with different weights",
        lambda: _different(new().layers),
    )
    yield from _dropped(built(dropout=0.3), x)


def TextEncoder(solution, rng):  # noqa: N802  # named as what it checks
    def new(**choices):
        return solution(TextConfig(**SIZES | TABLES | {"eps": 0.1} | choices))

    def built(**choices):
        config = TextConfig(**SIZES | TABLES | {"eps": 0.1} | choices)
        return give_weights(new(**choices), ours.TextEncoder(config), rng)

    yield Property("it is an nn.Module", lambda: isinstance(new(), nn.Module))
    post = built(norm_first=False)
    few = torch.tensor([[5, 6, 7]])
    yield ask(_traced, post, few, says="the ids [5, 6, 7]")
    ids = torch.from_numpy(rng.integers(9, size=(2, 5)))
    segments = torch.from_numpy(rng.integers(3, size=(2, 5)))
    ids[0, 3:] = 0
    segments[0, :2] = torch.tensor([1, 2])
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    shown = mask == 1
    yield ask(_traced, post, ids, says="2 sequences of 5 ids, no mask")
    says = "3 tokens and 2 of padding, compared at the tokens"
    how = {"attention_mask": mask, "shown": shown}
    yield ask(_traced, post, ids, keywords=how, says=says)
    hole = torch.tensor([[0, 1, 1, 0, 1], [1, 0, 1, 1, 1]]) == 1
    how = {"attention_mask": hole, "shown": hole}
    says = "padding first and in the middle, a boolean mask"
    yield ask(_traced, post, ids, keywords=how, says=says)
    how = {"causal": True, **how}
    yield ask(_traced, post, ids, keywords=how, says="the same with causal = True")
    how = {"segment_ids": segments}
    yield ask(_traced, post, ids, keywords=how, says="with segments")
    yield ask(_traced, post, ids, keywords={"causal": True}, says="causal = True")
    for positions in ("learned", "sinusoidal", "none"):
        pre = built(positions=positions)
        how = {"attention_mask": mask, "shown": shown}
        says = f"pre-norm, positions: {positions}"
        yield ask(_traced, pre, ids, keywords=how, says=says, rtol=1e-6)
    other = ids.where(shown, 8 - ids)
    yield Property(
        "which ids stand in the padding does not change the tokens",
        lambda: close(post(other, mask)[0][shown], post(ids, mask)[0][shown]),
    )
    says = "the gradients of every parameter"
    some = {"keywords": {"segment_ids": segments}}
    yield ask_gradients(post, ids, says=says, rng=rng, **some)
    refused = {"raises": ValueError}
    yield ask(post, ids - 9, says="ids below 0", **refused)
    yield ask(post, few.repeat(1, 3), says="9 ids of at most 7", **refused)
    yield ask(post, ids, 2 * mask, says="a mask that holds a 2", **refused)
    additive = torch.zeros(2, 5).masked_fill(~shown, -torch.inf)
    yield ask(post, ids, additive, says="a mask of 0 and minus infinity", **refused)
    yield ask(post, ids, mask[:, :1], says="a mask that is too short", **refused)
    yield from _dropped(built(dropout=0.3), ids)


PARTS = ("attention", "feed_forward", "norm_1", "norm_2")


def _apart(layers):
    different = {id(getattr(layer, part)) for layer in layers for part in PARTS}
    return len(different) == len(PARTS) * len(layers)


def _different(layers):
    one, other = (list(layer.parameters()) for layer in layers)
    return not any(
        torch.equal(*both) for both in zip(one, other, strict=True) if both[0].ndim == 2
    )


def _dropped(encoder, x):
    def run(seed):
        output = in_training(encoder, x, trace=True, seed=seed)
        return [*output.hidden_states, output.last_hidden_state]

    says = "dropout = 0.3, in evaluation: nothing is dropped"
    yield Case(says, lambda: encoder(x)[0])
    yield Property(
        "in training, every layer drops something",
        lambda: _all_changes_differ(run(5), run(6)),
    )
    yield Property(
        "in training, what enters the first layer is as it should be",
        lambda: _entrance(run(5)[0], x),
    )


def _all_changes_differ(one, two):
    one, two = (torch.stack(states).diff(dim=0) for states in (one, two))
    return not any(map(close, one, two))


def _entrance(entering, x):
    if x.ndim == 3:
        return torch.equal(entering, x)
    return 0.1 < (entering == 0).double().mean() < 0.5
