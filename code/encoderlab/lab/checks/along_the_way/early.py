"""Checks of chapters 01 to 09: shapes, reach, embeddings, position-wise, a gradient."""

import numpy as np

from encoderlab.lab.case import Case, ask, give_weights
from encoderlab.with_numpy.attention import attention
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.normalization import LayerNorm


def encoder_shapes(solution, rng):
    names = "token_ids", "x", "scores", "weights", "output"

    def asked(name, *sizes):
        says = "shape of {} for B {}, T {}, D {}, H {}".format(name, *sizes)

        def call():
            shape = solution(*sizes)[name]
            return shape if shape is ... else np.array(shape)

        return Case(says, call)

    for sizes in ((2, 5, 12, 3), (3, 7, 8, 4), (6, 4, 10, 5)):
        for name in names:
            yield asked(name, *sizes)
    yield Case("the names", lambda: dict.fromkeys(solution(2, 5, 12, 3), 0))


def reach(solution, rng):
    near = abs(np.arange(7)[:, None] - np.arange(7)) <= 1
    before = np.eye(6, k=-1, dtype=bool)
    one = np.zeros((4, 4), bool)
    one[0, 2] = one[2, 3] = True
    patterns = {
        "only the token before": before,
        "a causal mask": np.tri(5, dtype=bool),
        "neighbours only": near,
        "only the token after": before.T,
        "0 attends to 2, 2 to 3, nothing else": one,
        "at random": rng.random((8, 8)) < 0.2,
    }
    for name, mask in patterns.items():
        for layers in (1, 0, 2, 3):
            after = f"after {layers} layer" + ("s" if layers != 1 else "")
            yield ask(solution, mask, layers, says=f"{name}, {after}")


def embed(solution, rng):
    tables = [rng.standard_normal((rows, 8)) for rows in (11, 7, 3)]
    norm = give_weights(LayerNorm(8), LayerNorm(8), rng)

    def asked(shape, says):
        ids, segments = rng.integers(11, size=shape), rng.integers(3, size=shape)
        segments[0, :2] = 1, 2
        return ask(solution, ids, segments, *tables, norm, says=says)

    yield asked((1, 2), "1 sequence of 2 tokens")
    yield asked((2, 5), "2 sequences of 5 tokens")
    yield asked((3, 3), "as many sequences as tokens")
    yield asked((4, 7), "as many tokens as positions")
    plain = [table.astype(float) for table in tables]
    token, segment = np.array([[10, 10, 0]]), np.array([[2, 0, 1]])
    yield ask(solution, token, segment, *plain, lambda x: 2 * x, says="another norm")
    no, wrong = np.zeros((1, 2), int), {"raises": ValueError}
    for name, bad, row in (
        ("a token id of -1", -1, 0),
        ("a token id of 11, with 11 rows", 11, 0),
        ("a segment id of -1", -1, 1),
        ("a segment id of 3, with 3 rows", 3, 1),
    ):
        both = [no.copy(), no.copy()]
        both[row][0, 1] = bad
        yield ask(solution, *both, *tables, norm, says=name, **wrong)
    long = np.ones((1, 8), int)
    yield ask(solution, long, 0 * long, *tables, norm, says="8 tokens", **wrong)
    short = [tables[0], tables[1][:1], tables[2]]
    yield ask(solution, no, no, *short, norm, says="2 tokens, 1 position", **wrong)


def is_position_wise(solution, rng):
    ffn = FeedForward(6, 8, rng=np.random.default_rng(0))
    functions = {
        "a feed-forward network": ffn,
        "attention": lambda x: attention(x, x, x)[0],
        "a shift by one": lambda x: np.roll(x, 1, axis=0),
        "the tokens in reverse": lambda x: x[::-1],
        "a norm of each token": LayerNorm(6),
        "a running sum": lambda x: x.cumsum(axis=0),
        "a running sum from the end": lambda x: x[::-1].cumsum(axis=0)[::-1],
        "the mean of all in row 0": lambda x: np.vstack([x.mean(0), x[1:]]),
        "a factor for each position": (lambda x: x * np.arange(1, len(x) + 1)[:, None]),
        "a factor for the last token": lambda x: np.vstack([x[:-1], 2 * x[-1:]]),
        "minus the mean of the tokens": lambda x: x - x.mean(axis=0),
        "the same tokens": lambda x: x,
        "zeros": lambda x: 0 * x,
        "rounded otherwise for one token": lambda x: x * (1 + 1e-13 * len(x)),
    }
    for name, f in functions.items():
        x = rng.standard_normal((5, 6))

        def call(f=f, x=x):
            answer = solution(f, x.copy())
            return answer if answer is None else bool(answer)

        yield Case(name, call)


def dropout_backward(solution, rng):
    d_y, kept = np.array([1.0, 3.0, -2.0]), np.array([False, True, True])
    yield ask(solution, d_y, kept, 0.5, says="[1, 3, -2], the first dropped, p = 0.5")
    d_y, kept = 1 + rng.standard_normal((2, 5, 7)), rng.random((2, 5, 7)) >= 0.3
    yield ask(solution, d_y, kept, 0.2, says="2 sequences of 5 tokens, p = 0.2")
    yield ask(solution, d_y, kept, 0.7, says="the same with p = 0.7")
    yield ask(solution, d_y, kept | True, 0.0, says="p = 0, nothing dropped")
