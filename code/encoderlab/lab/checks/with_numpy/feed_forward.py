"""Checks of chapter 08: the feed-forward network."""

import numpy as np

from encoderlab.lab.case import FromChapter, Property, ask, give_weights
from encoderlab.with_numpy import feed_forward as ours

D, F = 12, 11
NAMES = ("W_1", "b_1", "W_2", "b_2")


def FeedForward(solution, rng):  # noqa: N802  # named as what it checks
    def build(activation="gelu", dropout=0.0, seed=0):
        draws = np.random.default_rng(seed)
        options = {"dropout": dropout} if dropout else {}
        return solution(D, F, activation=activation, rng=draws, **options)

    def weights(seed):
        layer = build(seed=seed)
        return [np.array(getattr(layer, name)) for name in NAMES]

    shapes = "shapes of W_1, b_1, W_2 and b_2"
    yield ask(lambda: tuple(np.array(np.shape(w)) for w in weights(0)), says=shapes)
    yield from _small(solution)
    reference = ours.FeedForward(D, F, rng=np.random.default_rng(0))
    seed, x = rng.integers(2**31), rng.standard_normal((2, 5, D))

    def given(layer):
        return give_weights(layer, reference, np.random.default_rng(seed))

    for activation in ("gelu", "relu", "gelu_tanh", "silu"):
        layer = given(build(activation))
        yield ask(layer, x, says=f"2 sequences of 5 tokens, {activation}")
    layer = given(solution(D, F, rng=np.random.default_rng(0)))
    yield ask(layer, x, says="no activation named: gelu")
    yield ask(layer, x[0, 0], says="a single vector")
    yield ask(layer, rng.standard_normal((5, 5, D)), says="5 sequences of 5 tokens")
    order = rng.permutation(4)
    order = np.append(order[order > 0], [4, 0])
    yield Property(
        "permuting the tokens permutes the output",
        lambda: np.allclose(layer(x)[:, order], layer(x[:, order]), 1e-9),
    )
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: np.allclose(layer(x)[0], layer(x[:1])[0], 1e-9),
    )
    yield Property(
        "the weights of a new layer are not all the same number",
        lambda: all(np.ptp(weights(0)[i]) > 0 for i in (0, 2)),
    )
    yield Property(
        "W_1 and W_2 are two arrays, not views of one",
        lambda: (lambda new: not np.shares_memory(new.W_1, new.W_2))(build()),
    )
    yield Property(
        "the initial weights come from rng: the same seed gives the same",
        lambda: all(map(np.array_equal, weights(0), weights(0))),
    )
    yield Property(
        "another seed gives other initial weights",
        lambda: not np.allclose(weights(0)[0], weights(1)[0]),
    )
    yield FromChapter(9)
    yield ask(given(build(dropout=0.25)), x, says="dropout 0.25, but no rng")
    off = given(build())
    with_rng = {"keywords": {"rng": np.random.default_rng(3)}}
    yield ask(off, x, says="dropout 0, with an rng", **with_rng)
    yield from _dropout(build)
    wrong = {"raises": ValueError}
    yield ask(lambda: build("tanh"), says="an unknown activation", **wrong)
    yield ask(lambda: build(dropout=1.0), says="dropout of 1", **wrong)
    yield ask(lambda: build(dropout=-0.1), says="dropout of -0.1", **wrong)
    draws = {"rng": np.random.default_rng(0)}
    yield ask(solution, 0, F, says="d_model of 0", keywords=draws, **wrong)
    yield ask(solution, D, 0, says="d_ff of 0", keywords=draws, **wrong)
    yield ask(layer, x[..., :-1], says="x one value too narrow", **wrong)


def _small(solution):
    """A network small enough to work by hand."""
    layer = solution(2, 3, activation="relu", rng=np.random.default_rng(0))
    layer.W_1 = np.array([[1.0, -1.0, 2.0], [1.0, 1.0, 0.0]])
    layer.b_1 = np.array([0.0, -2.0, 1.0])
    layer.W_2 = np.array([[1.0, 0.0], [5.0, 5.0], [0.0, -1.0]])
    layer.b_2 = np.array([0.5, 1.0])
    yield ask(layer, np.array([[1.0, 2.0]]), says="[1, 2] by hidden width 3, relu")


def _dropout(build):
    """With these weights each output but the last is a hidden value, silu(1 + 1)."""
    layer = build("silu", dropout=0.25)
    layer.W_1, layer.b_1 = np.eye(D, F), np.ones(F)
    layer.W_2, layer.b_2 = np.eye(F, D), np.full(D, 5.0)
    x, hidden = np.ones((2, 100, D)), 2 / (1 + np.exp(-2.0))

    def dropped(seed=7):
        return layer(x, rng=np.random.default_rng(seed)) - 5

    largest = "the largest output where every hidden value is silu(2), p = 0.25"
    yield ask(lambda: dropped().max(), says=largest, rtol=1e-5)
    yield Property(
        "dropout leaves of a hidden value 0, or 1 / (1 - p) of it",
        lambda: np.all(np.isclose(dropped(), 0) | np.isclose(dropped(), hidden / 0.75)),
    )
    yield Property(
        "dropout does not touch the output itself",
        lambda: np.allclose(dropped()[..., -1], 0),
    )
    yield Property(
        "about a quarter of the hidden values is dropped with p = 0.25",
        lambda: abs(np.isclose(dropped()[..., :F], 0).mean() - 0.25) < 0.05,
    )
    yield Property(
        "dropout keeps the mean",
        lambda: abs(dropped()[..., :F].mean() / hidden - 1) < 0.08,
    )
    yield Property(
        "each token of each sequence has its own places dropped",
        lambda: np.ptp(dropped(), axis=0).any() and np.ptp(dropped(), axis=1).any(),
    )
    yield Property(
        "another rng drops other places",
        lambda: not np.array_equal(dropped(7), dropped(8)),
    )
