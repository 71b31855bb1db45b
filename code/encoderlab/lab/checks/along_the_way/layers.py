"""Checks of chapters 09 to 11: a test of dropout, a residual, a count."""

import numpy as np

from encoderlab.config import TextConfig
from encoderlab.lab.case import Case, ask, give_weights
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.normalization import LayerNorm


def _spoils_its_input(x, p, rng=None):
    y = x.copy()
    x *= 1 - p
    return y


DROPOUTS = {
    "the book's dropout": dropout,
    "one that returns a copy": lambda x, p, rng=None: x.copy(),
    "one that is wrong in training alone": (
        lambda x, p, rng=None: x if rng is None else 0 * x
    ),
    "one that multiplies by 1 - p": lambda x, p, rng=None: x * (1 - p),
    "one that divides by 1 - p": lambda x, p, rng=None: x / (1 - p),
    "one that goes on dropping": (
        lambda x, p, rng=None: dropout(x, p, np.random.default_rng(3))
    ),
    "one that returns absolute values": lambda x, p, rng=None: abs(x),
    "one that returns the values in reverse": lambda x, p, rng=None: np.flip(x),
    "one that is off by a thousandth": lambda x, p, rng=None: 1.001 * x,
    "one that changes x and returns it": (
        lambda x, p, rng=None: np.multiply(x, 1 - p, x)
    ),
    "one that changes x and returns a right copy": _spoils_its_input,
    "one that is wrong above p = 0.5 alone": (
        lambda x, p, rng=None: x if p <= 0.5 else 0 * x
    ),
    "one that is wrong at p = 0 alone": lambda x, p, rng=None: x if p > 0 else 0 * x,
}


def identity_in_evaluation(solution, rng):
    def asked(says, f):
        def call():
            answer = solution(f)
            return answer if answer is None else bool(answer)

        return Case(says, call)

    for says, f in DROPOUTS.items():
        yield asked(says, f)


def residual(solution, rng):
    def both(says, x, sublayer, norm):
        for order, name in ((True, "pre-norm"), (False, "post-norm")):
            yield ask(solution, x, sublayer, norm, order, says=f"{says}, {name}")

    small = np.array([[1.0, 3.0]])
    square, centre = lambda z: z * z, lambda z: z - z.mean(axis=-1, keepdims=True)
    yield from both("[[1, 3]], z * z and z - mean", small, square, centre)
    norm, W = LayerNorm(12), rng.standard_normal((12, 12)) / 3
    give_weights(norm, norm, rng)
    mixed = lambda z: np.tanh(z.mean(axis=-2, keepdims=True) + z @ W)  # noqa: E731
    x = 1.5 * rng.standard_normal((3, 2, 5, 12)) + 0.3
    yield from both("2 sequences of 5 tokens", x[0], mixed, norm)
    yield from both("one sequence of 5 tokens", x[0, 0], mixed, norm)
    yield from both("3 groups of 2 sequences", x, mixed, norm)
    yield from both("a sublayer that gives its input back", x[1], lambda z: z, norm)


def parameter_count(solution, rng):
    names = "d_model", "num_heads", "d_ff", "num_layers"
    names += "vocab_size", "max_seq_len", "num_segments"

    def asked(sizes, norm_first, more=""):
        values = dict(zip(names, sizes, strict=True))
        config = TextConfig(**values, norm_first=norm_first)
        order = "pre-norm" if norm_first else "post-norm"
        says = "D {}, H {}, F {}, N {}, V {}, P {}, G {}, ".format(*sizes) + order
        return Case(says + more, lambda: solution(config), rtol=0.0)

    small, *others = (
        (2, 1, 3, 1, 7, 5, 4),
        (8, 2, 11, 3, 29, 17, 5),
        (20, 5, 7, 4, 23, 13, 1),
        (12, 3, 48, 5, 29, 17, 2),
    )
    yield asked(small, norm_first=False)
    yield asked(small, norm_first=True)
    for sizes in others:
        yield asked(sizes, norm_first=True)
        yield asked(sizes, norm_first=False)
    huge = (8, 2, 11, 3, 2**50, 17, 5)
    yield asked(huge, norm_first=True, more=": no memory holds its arrays")
