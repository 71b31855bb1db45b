"""Checks of chapter 12: the way back of attention."""

from dataclasses import replace
from functools import partial

import numpy as np

from encoderlab.lab.case import Property, ask_vjp, give_weights
from encoderlab.lab.checks.with_numpy.gradients import leaves_upstream
from encoderlab.with_numpy.attention import MultiHeadAttention
from encoderlab.with_numpy.masks import padding_mask
from encoderlab.with_numpy.parameters import parameters


def attention_vjp(solution, rng):
    q, k, v = np.array([[1.0, 0.0]]), np.eye(2), np.array([[1.0], [3.0]])
    yield ask_vjp(solution, q, k, v, says="one query, two keys", rng=rng)
    q, k, v = _qkv(rng, (2,), 5, 7, 3)
    yield ask_vjp(solution, q, k, v, says="5 queries, 7 keys of width 4", rng=rng)
    square = _qkv(rng, (4,), 4, 4, 4)
    yield ask_vjp(solution, *square, says="4 queries, keys and values", rng=rng)
    heads = _qkv(rng, (2, 3), 5, 7, 3)
    mask = padding_mask([4, 7], 7)
    yield ask_vjp(solution, *heads, mask, says="3 heads, unequal padding", rng=rng)
    mask = rng.random((2, 5, 7)) < 0.6
    mask[1, 2] = False
    says = "a query that may attend to nothing"
    yield ask_vjp(solution, q, k, v, mask, says=says, rng=rng)
    options = {"rng": rng, "keywords": {"dropout_p": 0.3}}
    yield ask_vjp(solution, q, k, v, mask, says="dropout off, p = 0.3", **options)
    yield leaves_upstream(solution, q, k, v, mask)
    yield from _dropped_weights(solution, rng)
    says, error = "a mask of 0 and 1", {"rng": rng, "raises": TypeError}
    yield ask_vjp(solution, q, k, v, mask.astype(int), says=says, **error)
    says, error = "a value too few", {"rng": rng, "raises": ValueError}
    yield ask_vjp(solution, q, k, v[:, :6], says=says, **error)


def _dropped_weights(solution, rng):
    """Ask with equal weights and v = 1, where the context shows the weights kept."""
    q, k, v = np.zeros((5, 4)), rng.standard_normal((40, 4)), np.eye(40)
    d, seed = rng.standard_normal((5, 40)) + 0.3, int(rng.integers(2**31))

    def run(seed=seed, k=k):
        generator = np.random.default_rng(seed)
        return solution(q, k, v, dropout_p=0.3, rng=generator)

    def scaled():
        kept = run()[0]
        return np.allclose(np.unique(np.round(kept * 40, 6)), [0, 1 / 0.7], atol=1e-5)

    def for_values():
        context, backward = run()
        return np.allclose(backward(d)[2], context.T @ d)

    def for_queries():
        context, backward = run()
        d_weights = 40 * context * d
        d_scores = (d_weights - d_weights.mean(axis=-1, keepdims=True)) / 40
        return np.allclose(backward(d)[0], d_scores @ k / 2)

    yield Property("dropout zeroes weights and divides the others by 1 - p", scaled)
    yield Property("the gradient of v is that for the weights kept", for_values)
    yield Property("the gradient of q went back through dropout", for_queries)


def _qkv(rng, batch, T, S, E):
    shapes = (T, 4), (S, 4), (S, E)
    return [1.3 * rng.standard_normal((*batch, *shape)) + 0.1 for shape in shapes]


def split_heads_vjp(solution, rng):
    x = np.arange(8.0).reshape(2, 4)
    yield ask_vjp(solution, x, 2, says="2 tokens of width 4, 2 heads", rng=rng)
    x = rng.standard_normal((2, 5, 12))
    yield ask_vjp(solution, x, 3, says="2 sequences of 5 tokens, 3 heads", rng=rng)
    x = rng.standard_normal((3, 3, 9))
    yield ask_vjp(solution, x, 3, says="3 sequences of 3 tokens, 3 heads", rng=rng)
    yield leaves_upstream(solution, x, 3)
    says = "4 heads for a width of 9"
    yield ask_vjp(solution, x, 4, says=says, rng=rng, raises=ValueError)


def merge_heads_vjp(solution, rng):
    x = np.arange(8.0).reshape(2, 2, 2)
    yield ask_vjp(solution, x, says="2 heads, 2 tokens, width 2", rng=rng)
    x = rng.standard_normal((2, 3, 5, 4))
    yield ask_vjp(solution, x, says="3 heads, 5 tokens, width 4", rng=rng)
    x = rng.standard_normal((3, 3, 3, 3))
    yield ask_vjp(solution, x, says="3 of everything", rng=rng)
    yield leaves_upstream(solution, x)


def multi_head_attention_vjp(solution, rng):
    layer = _layer(rng, 4, 1)
    x = 0.5 * rng.standard_normal((1, 3, 4))
    yield ask_layer(solution, layer, x, says="3 tokens of width 4, one head", rng=rng)
    layer = _layer(rng, 12, 3)
    x = 0.5 * rng.standard_normal((2, 5, 12)) + 0.1
    yield ask_layer(solution, layer, x, says="2 sequences, 3 heads", rng=rng)
    mask = padding_mask([3, 5], 5)
    yield ask_layer(solution, layer, x, mask, says="unequal padding", rng=rng)
    mask = rng.random((2, 3, 5, 5)) < 0.6
    mask[1, :, 2] = False
    says = "a query that may attend to nothing"
    yield ask_layer(solution, layer, x, mask, says=says, rng=rng)
    cube, mask = 0.5 * rng.standard_normal((3, 3, 12)), padding_mask([1, 3, 2], 3)
    yield ask_layer(solution, layer, cube, mask, says="3 of each", rng=rng)
    yield leaves_upstream(solution, layer, cube)
    dropping = _layer(rng, 12, 3, dropout=0.3)
    yield ask_layer(solution, dropping, x, says="dropout off, p = 0.3", rng=rng)
    yield from with_dropout(solution, dropping, x, mask=None)
    says, flat = "a mask of three axes", np.ones((2, 5, 5), bool)
    yield ask_layer(solution, layer, x, flat, says=says, rng=rng, raises=ValueError)


def _layer(rng, *sizes, **options):
    layer = MultiHeadAttention(*sizes, rng=rng, **options)
    return give_weights(layer, layer, rng)


def ask_layer(solution, layer, *args, **options):
    """Ask for a layer's way back; its parameters must stay as they are."""
    case = ask_vjp(solution, layer, *args, **options)
    return replace(case, inputs=(*case.inputs, *parameters(layer).values()))


def with_dropout(solution, layer, x, **options):
    """Ask for what holds under dropout, whichever way the factors are drawn."""

    def run(x, seed=5):
        return solution(layer, x, rng=np.random.default_rng(seed), **options)

    def steps():
        ends, ways = {}, np.random.default_rng(7)
        arrays = [x.copy(), *parameters(layer).values()]
        ways = [ways.standard_normal(array.shape) for array in arrays]
        kept = [array.copy() for array in arrays]
        for step in (-1e-5, 1e-5, 0):
            for array, start, way in zip(arrays, kept, ways, strict=True):
                array[...] = start + step * way
            ends[step], backward = run(arrays[0])
        d_x, gradients = backward(d := np.cos(np.arange(x.size)).reshape(x.shape))
        found = [d_x, *(gradients[name] for name in parameters(layer))]
        slope = np.sum(d * (ends[1e-5] - ends[-1e-5])) / 2e-5
        parts = [np.sum(a * b) for a, b in zip(found, ways, strict=True)]
        return abs(sum(parts) - slope) < 1e-6 * np.abs(parts).sum()

    yield Property(
        "generators of two seeds give two results",
        lambda: not np.allclose(run(x)[0], run(x, 6)[0]),
    )
    yield Property("under dropout the gradients agree with a small step", steps)
    unlike = partial(solution, layer, x, **options)
    yield Property(
        "with dropout the result is another than without",
        lambda: not np.allclose(run(x)[0], unlike()[0]),
    )
