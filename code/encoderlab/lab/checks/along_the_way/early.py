"""Checks of chapters 01 to 09: shapes, reach, embeddings, position-wise, a gradient."""

from functools import partial

import numpy as np

from encoderlab.lab.case import Case, Property, ask
from encoderlab.with_numpy.attention import attention
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.functional import softmax
from encoderlab.with_numpy.normalization import LayerNorm


def encoder_shapes(solution, rng):
    def in_words(*sizes):
        given = solution(*sizes)
        if not isinstance(given, dict):
            return given
        return {name: _shape_in_words(shape) for name, shape in given.items()}

    yield Case("B = 2, T = 5, D = 12, H = 3", partial(in_words, 2, 5, 12, 3))
    yield Case("B = 3, T = 7, D = 8, H = 4", partial(in_words, 3, 7, 8, 4))


def _shape_in_words(shape):
    if shape is ...:
        return "still to fill in"
    return str(tuple(shape) if isinstance(shape, list) else shape)


def reach(solution, rng):
    before = np.eye(6, k=-1, dtype=bool)
    near = abs(np.arange(7)[:, None] - np.arange(7)) <= 1
    some = rng.random((8, 8)) < 0.2
    some[[1, 2], [0, 5]] = True
    masks = {
        "each of 6 attends to the token before": before,
        "each of 6 attends to the token after": before.T,
        "each of 7 attends to its neighbours and itself": near,
        "a causal mask of 5 tokens": np.tri(5, dtype=bool),
        "a mask of 8 tokens drawn at random": some,
        "no token attends to any": np.zeros((3, 3), bool),
    }
    for name, mask in masks.items():
        for number in range(4):
            layers = f"{number} layer{'s' * (number != 1)}"
            yield ask(solution, mask, number, says=f"{name}, {layers}")
    yield ask(solution, before, 9, says="the token before, 9 layers for 6 tokens")


def embed(solution, rng):
    rows = np.array([[0.0, 3.0, 1.0, 0.0], [1.0, 0.0, 0.5, 0.0]])
    places = np.array([[0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0]])
    small = rows, places, np.array([[0.0, 0.0, 0.5, 0.0]]), LayerNorm(4, 0.0)
    ids = np.array([[1, 0]])
    yield ask(solution, ids, 0 * ids, *small, says="one text, the ids [1, 0]")
    tables = [rng.standard_normal((length, 8)) for length in (11, 7, 3)]
    norm = LayerNorm(8, 0.1)
    norm.gamma, norm.beta = rng.standard_normal((2, 8))
    for B, T in ((2, 5), (4, 4), (3, 7)):
        ids, segments = rng.integers(11, size=(B, T)), rng.integers(3, size=(B, T))
        ids[0, :2], segments[0, :2], segments[1, :2] = 10, (1, 2), (2, 0)
        says = f"{B} texts of {T} tokens, 11 ids, 7 positions, 3 segments"
        yield ask(solution, ids, segments, *tables, norm, says=says)
    yield Property(
        "text 1 does not change the vectors of text 0",
        lambda: np.allclose(
            solution(ids, segments, *tables, norm)[0],
            solution(ids[:1], segments[:1], *tables, norm)[0],
        ),
    )

    def refused(says, token_ids, segment_ids, positions=7):
        token, position, segment = tables

        def raises():
            given = np.array([token_ids]), np.array([segment_ids])
            try:
                solution(*given, token, position[:positions], segment, norm)
            except ValueError:
                return True
            return False

        return Property(f"{says}: a ValueError", raises)

    yield refused("the token id -1", [0, -1], [0, 0])
    yield refused("the token id 11, of 11 rows", [11, 0], [0, 0])
    yield refused("the segment -1", [0, 1], [-1, 0])
    yield refused("the segment 3, of 3 rows", [0, 1], [0, 3])
    yield refused("8 tokens, 7 positions", [1] * 8, [0] * 8)
    yield refused("2 tokens, 1 position", [1, 1], [0, 0], positions=1)


def is_position_wise(solution, rng):
    network = FeedForward(6, 8, rng=np.random.default_rng(int(rng.integers(2**31))))
    functions = {
        "a feed-forward network": network,
        "attention": lambda x: attention(x, x, x)[0],
        "a factor by position": lambda x: x * np.arange(1, len(x) + 1)[:, None],
        "a running sum": lambda x: x.cumsum(axis=0),
        "a running sum from the end": lambda x: x[::-1].cumsum(axis=0)[::-1],
        "a shift by one": lambda x: np.roll(x, 1, axis=0),
        "the mean in row 0": lambda x: np.vstack([x.mean(0), x[1:]]),
        "row 1 added to row 0": lambda x: np.vstack([x[:2].sum(0), x[1:]]),
        "row 0 doubled": lambda x: np.vstack([2 * x[:1], x[1:]]),
        "softmax over the width": softmax,
        "softmax over the tokens": lambda x: softmax(x, axis=0),
        "a thousandth of the mean added": lambda x: x + 1e-3 * x.mean(axis=0),
        "tanh, rounded otherwise for other tokens": lambda x: (
            np.tanh(x) * (1 + 1e-14 * abs(x).sum())
        ),
        "the same vector for every token": lambda x: np.full_like(x, 0.5),
    }
    x = rng.standard_normal((5, 6))

    def decide(f):
        answer = solution(f, x)
        return bool(answer) if isinstance(answer, np.bool_) else answer

    for name, f in functions.items():
        yield Case(f"f is {name}", partial(decide, f), (x,))


def dropout_backward(solution, rng):
    kept = np.array([True, False, True])
    small = np.array([1.0, 2.0, 3.0]), kept, 0.2
    yield ask(solution, *small, says="[1, 2, 3], the second dropped, p = 0.2")
    yield ask(solution, small[0], kept | True, 0.5, says="none dropped, p = 0.5")
    d_y = rng.standard_normal((2, 5, 7)) + 0.3
    for p in (0.2, 0.7):
        kept = rng.random(d_y.shape) >= p
        yield ask(solution, d_y, kept, p, says=f"an array (2, 5, 7), p = {p}")
    yield ask(solution, d_y, np.ones(d_y.shape, bool), 0.0, says="p = 0")
