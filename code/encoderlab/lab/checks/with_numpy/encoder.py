"""Checks of chapter 11: the stack of layers, and the encoder of texts."""

import numpy as np

from encoderlab.config import EncoderConfig, TextConfig
from encoderlab.lab.case import Case, Property, ask, give_weights
from encoderlab.with_numpy import encoder as ours
from encoderlab.with_numpy.masks import causal_mask, padding_mask

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}
TABLES = {"vocab_size": 9, "max_seq_len": 7, "num_segments": 3}


def _built(solution, reference, config, rng):
    parts = (
        kind(config, rng=np.random.default_rng(3)) for kind in (solution, reference)
    )
    return give_weights(*parts, rng)


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
    return {name: np.where(rows[p.ndim], p, 0) for name, p in parts.items()}


def Encoder(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        config = EncoderConfig(**SIZES | choices)
        return _built(solution, ours.Encoder, config, rng)

    x = rng.standard_normal((2, 5, 12)) + 0.3
    mask = padding_mask([3, 5], 5)
    yield ask(_traced, built(num_layers=1), x[:1], says="one layer, pre-norm")
    pre, post = built(eps=0.1), built(eps=0.1, norm_first=False)
    yield ask(_traced, pre, x, says="2 layers, pre-norm, eps = 0.1")
    yield ask(_traced, post, x, says="2 layers, post-norm, eps = 0.1")
    yield ask(_traced, pre, x, mask, says="pre-norm, 3 tokens and 2 of padding")
    yield ask(_traced, post, x, mask, says="post-norm, 3 tokens and 2 of padding")
    yield ask(_traced, pre, x, causal_mask(5), says="a causal mask")
    deep = built(activation="relu", num_layers=3)
    yield ask(_traced, deep, x, says="3 layers with relu")
    yield Case(
        "without trace, the last vectors alone", lambda: tuple(pre(x, mask)), (x,)
    )
    yield Property(
        "a post-norm stack has no final norm: final_norm is None",
        lambda: post.final_norm is None,
    )
    leak, other = x.copy(), x.copy()
    leak[0, 3:] += rng.standard_normal(12)
    other[1] += rng.standard_normal(12)
    yield Property(
        "what stands in the padding does not change the tokens",
        lambda: np.allclose(pre(leak, mask)[0][0, :3], pre(x, mask)[0][0, :3]),
    )
    yield Property(
        "sequence 1 does not change the result of sequence 0",
        lambda: np.allclose(pre(other)[0][0], pre(x)[0][0]),
    )
    fresh = solution(EncoderConfig(**SIZES), rng=np.random.default_rng(3))
    yield Property(
        "the layers of a new stack start with different weights",
        lambda: (
            not np.array_equal(
                fresh.layers[0].attention.W_q, fresh.layers[1].attention.W_q
            )
        ),
    )
    yield Property(
        "each layer has its own attention, feed-forward network and norms",
        lambda: _apart(fresh.layers),
    )
    yield from _dropped(built(dropout=0.3), x)


def TextEncoder(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        config = TextConfig(**SIZES | TABLES | {"eps": 0.1} | choices)
        return _built(solution, ours.TextEncoder, config, rng)

    post = built(norm_first=False)
    yield ask(_traced, post, np.array([[5, 6, 7]]), says="the ids [5, 6, 7]")
    ids, segments = rng.integers(9, size=(2, 5)), rng.integers(3, size=(2, 5))
    ids[0, 3:], segments[0, :2] = 0, (1, 2)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    shown = mask == 1
    yield ask(_traced, post, ids, says="2 sequences of 5 ids, no mask")
    says = "3 tokens and 2 of padding, compared at the tokens"
    how = {"attention_mask": mask, "shown": shown}
    yield ask(_traced, post, ids, keywords=how, says=says)
    hole = np.array([[0, 1, 1, 0, 1], [1, 0, 1, 1, 1]])
    how = {"attention_mask": hole == 1, "shown": hole == 1}
    says = "padding first and in the middle, a boolean mask"
    yield ask(_traced, post, ids, keywords=how, says=says)
    how = {"causal": True, "attention_mask": hole, "shown": hole == 1}
    yield ask(_traced, post, ids, keywords=how, says="the same with causal = True")
    how = {"segment_ids": segments}
    yield ask(_traced, post, ids, keywords=how, says="with segments")
    yield ask(_traced, post, ids, keywords={"causal": True}, says="causal = True")
    for positions in ("learned", "sinusoidal", "none"):
        pre = built(positions=positions)
        how = {"attention_mask": mask, "shown": shown}
        says = f"pre-norm, positions: {positions}"
        yield ask(_traced, pre, ids, keywords=how, says=says, rtol=1e-6)
    square = rng.integers(9, size=(5, 5))
    some = np.tri(5)
    how = {"attention_mask": some, "shown": some == 1}
    says = "5 sequences of 1 to 5 tokens, a mask of floats"
    yield ask(_traced, post, square, keywords=how, says=says)
    other = np.where(shown, ids, 8 - ids)
    yield Property(
        "which ids stand in the padding does not change the tokens",
        lambda: np.allclose(post(other, mask)[0][shown], post(ids, mask)[0][shown]),
    )
    refused = {"raises": ValueError}
    yield ask(post, ids - 9, says="ids below 0", **refused)
    yield ask(post, np.ones((2, 8), int), says="8 ids of at most 7", **refused)
    yield ask(post, ids, 2 * mask, says="a mask that holds a 2", **refused)
    additive = np.where(shown, 0.0, -np.inf)
    yield ask(post, ids, additive, says="a mask of 0 and minus infinity", **refused)
    yield Property(
        "a mask of another shape than the ids is refused",
        lambda: _refuses(post, ids, mask[:, :1]),
    )
    yield from _dropped(built(dropout=0.3), ids)


def _apart(layers):
    parts = ("attention", "feed_forward", "norm_1", "norm_2")
    different = {id(getattr(layer, part)) for layer in layers for part in parts}
    return len(different) == len(parts) * len(layers)


def _refuses(encoder, *inputs):
    try:
        encoder(*inputs)
    except (TypeError, ValueError):
        return True
    return False


def _dropped(encoder, x):
    def run(seed):
        output = encoder(x, rng=np.random.default_rng(seed), trace=True)
        return [*output.hidden_states, output.last_hidden_state]

    yield Case("dropout = 0.3, but no rng: nothing is dropped", lambda: encoder(x)[0])
    yield Property(
        "with an rng, every layer drops something",
        lambda: _all_changes_differ(run(5), run(6)),
    )
    yield Property(
        "with an rng, what enters the first layer is as it should be",
        lambda: _entrance(encoder, x),
    )


def _all_changes_differ(one, two):
    return not any(map(np.allclose, np.diff(one, axis=0), np.diff(two, axis=0)))


def _entrance(encoder, x):
    entering = encoder(x, rng=np.random.default_rng(5), trace=True).hidden_states[0]
    dropped = np.mean(entering == 0)
    return np.array_equal(entering, x) if x.ndim == 3 else 0.1 < dropped < 0.5
