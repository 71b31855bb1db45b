"""Checks of chapters 03 and 05: attention, and the layer that runs it in heads."""

from typing import Any

import numpy as np

from encoderlab.lab.case import Case, FromChapter, Property, ask, give_weights
from encoderlab.with_numpy import attention as ours


def attention(solution, rng):
    q = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    k = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    yield ask(solution, q, k, np.eye(2), says="2 queries, 2 keys, values of I")
    q, k, v = (rng.standard_normal(s) for s in ((2, 5, 4), (2, 7, 4), (2, 7, 6)))
    yield ask(solution, q, k, v, says="5 queries, 7 keys, values of width 6")
    yield ask(solution, k, 1 - k, v, says="as many queries as keys")
    heads = [rng.standard_normal((2, 3, 5, 4)) for _ in "qkv"]
    yield ask(solution, *heads, says="3 heads, with equal lengths")
    yield FromChapter(4)
    mask = np.arange(7) < np.array([7, 4])[:, None, None]
    yield ask(solution, q, k, v, mask, says="7 and 4 of 7 keys allowed")
    square = np.arange(7) < np.array([3, 6])[:, None, None]
    yield ask(solution, k, 1 - k, v, square, says="a mask, 7 queries and 7 keys")
    each = rng.random((5, 7)) < 0.6
    each[:, 2] = True
    yield ask(solution, q, k, v, each, says="another mask for each query")
    other = np.where(mask.swapaxes(-1, -2), k, 9.0), np.where(mask.mT, v, -9.0)
    yield Property(
        "what stands at masked keys and values changes nothing",
        lambda: np.allclose(solution(q, k, v, mask)[0], solution(q, *other, mask)[0]),
    )
    nothing = mask & np.array([True, False])[:, None, None]
    yield ask(solution, q, k, v, nothing, says="sample 1 may attend to nothing: zeros")
    deep = np.zeros((3, 4))
    deep[:, 0] = [-4e4, -4.0001e4, 0]
    allowed = np.array([True, True, False])
    low = np.array([[1.0, 0, 0, 0]]), deep, np.eye(3), allowed
    yield ask(solution, *low, says="scores of -20000 beside a masked 0")
    half = [a.astype(np.float16) for a in (q, k, v)]
    yield ask(solution, *half, mask, says="float16, with a mask", rtol=1e-2)
    yield FromChapter(9)
    yield from _dropout_of_weights(solution, rng)
    some = {"dropout_p": 0.4}
    yield ask(solution, q, k, v, says="dropout_p without rng: off", keywords=some)
    wrong = {"raises": ValueError}
    yield ask(solution, q, k[..., :3], v, says="keys of another width", **wrong)
    yield ask(solution, q, k, v[:, :6], says="fewer values than keys", **wrong)
    yield ask(solution, q, k[:, :0], v[:, :0], says="no key at all", **wrong)
    bad = {"dropout_p": 1.0, "rng": np.random.default_rng(0)}
    yield ask(solution, q, k, v, says="dropout_p = 1", keywords=bad, **wrong)
    as_numbers = mask.astype(int)
    yield ask(solution, q, k, v, as_numbers, says="a 0/1 mask", raises=TypeError)


def _dropout_of_weights(solution, rng):
    q, k = rng.standard_normal((40, 4)), rng.standard_normal((60, 4))
    v = np.hstack([np.eye(60), np.eye(60)])
    seed = int(rng.integers(2**31))

    def dropped():
        return solution(q, k, v, dropout_p=0.2, rng=np.random.default_rng(seed))

    def factors():
        context, weights = dropped()
        return np.asarray(context)[:, :60] / weights

    yield Case("with dropout on, the weights before it", lambda: dropped()[1])
    yield Case("factors of dropout 0.2", lambda: values(factors()))
    yield Case("share of dropped weights, 0.2", lambda: share(factors()))
    yield Property(
        "dropout drops weights, so equal columns of values give equal results",
        lambda: np.ptp(np.reshape(dropped()[0], (40, 2, 60)), axis=1).max() < 1e-9,
    )


def values(factors):
    """The different factors, at most 5 of them."""
    return np.unique(np.round(np.asarray(factors, float), 6))[:5]


def share(factors):
    """The share of zeros, to one decimal: free of how they were drawn."""
    return np.round(np.mean(np.asarray(factors) == 0), 1)


def split_heads(solution, rng):
    x = np.array([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]])
    yield ask(solution, x, 2, says="2 tokens of width 4, 2 heads")
    x = rng.standard_normal((2, 5, 12))
    yield ask(solution, x, 3, says="2 sequences of 5 tokens, 3 heads of width 4")
    yield ask(solution, x[:, :3], 3, says="as many tokens as heads")
    yield ask(solution, x, 1, says="1 head")
    yield ask(solution, x, 5, says="12 in 5 heads", raises=ValueError)


def merge_heads(solution, rng):
    x = np.array([[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]])
    yield ask(solution, x, says="2 heads, 2 tokens, width 2")
    x = rng.standard_normal((2, 3, 5, 4))
    yield ask(solution, x, says="2 sequences, 3 heads, 5 tokens, width 4")
    yield ask(solution, x[:, :, :3], says="as many tokens as heads")
    y = rng.standard_normal((2, 5, 12))
    split = ours.split_heads(y, 3)
    yield ask(solution, split, says="undoes split_heads")


def MultiHeadAttention(solution, rng):  # noqa: N802  # named as what it checks
    def new(width=12, heads=3, **options):
        return solution(width, heads, rng=np.random.default_rng(0), **options)

    book = ours.MultiHeadAttention(12, 3, rng=np.random.default_rng(0))
    layer: Any = give_weights(new(), book, rng)
    x = 0.6 * rng.standard_normal((2, 5, 12))
    yield ask(layer, x[:1, :1], says="1 token: it can only attend to itself")
    yield ask(layer, x, says="2 sequences of 5 tokens, 3 heads of width 4")
    yield ask(layer, x[:, :2], says="as many sequences as tokens")
    yield ask(layer, x[:, :3], says="as many tokens as heads")
    mask = np.arange(5) < np.array([5, 2])[:, None, None, None]
    yield ask(layer, x, mask, says="padding after 5 and 2 tokens")
    each = rng.random((2, 3, 5, 5)) < 0.5
    each[..., 1] = True
    yield ask(layer, x, each, says="another mask for each head and query")
    nothing = mask & np.array([False, True])[:, None, None, None]
    yield ask(layer, x, nothing, says="sample 0 may attend to nothing")
    padded, other = x.copy(), x.copy()
    padded[1, 2:] += 5
    other[1] += 1
    yield Property(
        "padding does not change the tokens before it",
        lambda: np.allclose(layer(x, mask)[0][1, :2], layer(padded, mask)[0][1, :2]),
    )
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: np.allclose(layer(x)[0][0], layer(other)[0][0]),
    )
    order = rng.permutation(5)
    yield Property(
        "permuting the tokens permutes the output",
        lambda: np.allclose(layer(x)[0][:, order], layer(x[:, order])[0]),
    )
    wrong = {"raises": ValueError}
    yield ask(new, 10, 3, says="width 10 in 3 heads", **wrong)
    yield FromChapter(9)
    yield from _dropout_of_heads(new, book, rng)
    yield ask(new, says="dropout = 1", keywords={"dropout": 1.0}, **wrong)
    yield ask(layer, x[..., :6], says="tokens of another width", **wrong)
    yield ask(layer, x, mask[:, 0], says="a mask without the axis of heads", **wrong)
    yield ask(layer, x, mask.astype(int), says="a 0/1 mask", raises=TypeError)


def _dropout_of_heads(new, book, rng):
    layer: Any = give_weights(new(dropout=0.2), book, rng)
    x = 0.6 * rng.standard_normal((2, 5, 12))
    seed = int(rng.integers(2**31))
    yield ask(layer, x, says="dropout 0.2 without rng: off")
    yield Case(
        "dropout on, the weights before it",
        lambda: layer(x, rng=np.random.default_rng(seed))[1],
        (x,),
    )
    plain: Any = give_weights(new(dropout=0.2), book, rng)
    for name in "qkvo":
        setattr(plain, f"W_{name}", np.eye(12))
        setattr(plain, f"b_{name}", np.zeros(12))
    one = 1 + rng.random((800, 1, 12))

    def factors():
        output, _ = plain(one, rng=np.random.default_rng(seed))
        return (np.asarray(output) / one).reshape(800, 3, 4)

    yield Case("one token a sequence: factors of its weight", lambda: values(factors()))
    yield Case("share of dropped weights, 0.2", lambda: share(factors()))
    yield Property(
        "dropout drops a head's weight: its 4 values together, not singly",
        lambda: bool((np.ptp(factors(), axis=-1) < 1e-9).all()),
    )
    yield Property(
        "each head drops its own weights",
        lambda: bool((np.ptp(factors(), axis=-2) > 0.1).any()),
    )
