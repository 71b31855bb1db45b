"""Checks of chapters 02, 04 and 08: linear maps, softmax, activations."""

import numpy as np

from encoderlab.lab.case import Property, ask
from encoderlab.with_numpy import masks


def linear(solution, rng):
    x, W = np.array([[1.0, 2.0]]), np.array([[1.0, 0.0, 3.0], [0.0, 1.0, 1.0]])
    yield ask(solution, x, W, says="[1, 2] by a 2 x 3 matrix, no bias")
    b = np.array([10.0, 20.0, 30.0])
    yield ask(solution, x, W, b, says="the same with the bias [10, 20, 30]")
    square = rng.standard_normal((4, 4))
    x, b = rng.standard_normal((3, 4)), rng.standard_normal(4)
    yield ask(solution, x, square, says="a square W")
    yield ask(solution, x, square, b, says="a square W and a bias")
    x, W, b = (rng.standard_normal(shape) for shape in ((2, 5, 12), (12, 11), 11))
    yield ask(solution, x, W, b, says="2 sequences of 5 tokens, width 12 to 11")
    yield ask(solution, x[0, 0], W, b, says="a single vector")
    alike = [rng.standard_normal(shape) for shape in ((5, 5, 4), (4, 5), 5)]
    yield ask(solution, *alike, says="5 sequences of 5 tokens to width 5")
    deep = [rng.standard_normal(shape) for shape in ((2, 3, 5, 4), (4, 7), 7)]
    yield ask(solution, *deep, says="two batch axes")
    whole = rng.integers(-3, 4, (2, 12))
    yield ask(solution, whole, W, b, says="x of whole numbers")
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: np.allclose(solution(x, W, b)[0], solution(x[:1], W, b)[0]),
    )
    wrong = {"raises": ValueError}
    yield ask(solution, x, W.T, says="W with a row for each output", **wrong)
    yield ask(solution, x, W, b[:-1], says="a bias that is too short", **wrong)


def softmax(solution, rng):
    yield ask(solution, np.array([1.0, 2.0, 3.0]), says="softmax of [1, 2, 3]")
    x = 2 * rng.standard_normal((3, 5))
    yield ask(solution, x, says="3 rows of 5 scores")
    yield ask(solution, x, says="the same along axis 0", keywords={"axis": 0})
    yield ask(solution, 2 * rng.standard_normal((4, 4)), says="4 rows of 4 scores")
    y = 2 * rng.standard_normal((2, 5, 7))
    yield ask(solution, y, says="a middle axis", keywords={"axis": 1})
    large = np.array([[1000.0, 1001.0, 1002.0]])
    yield ask(solution, large, says="scores of 1000")
    yield ask(solution, np.array([0.0, 1.0, -1e4]), says="0 and 1 beside -10000")
    apart = np.array([[0.0, 1.0], [1000.0, 1001.0]])
    yield ask(solution, apart, says="a row near 0 and a row near 1000")
    hidden = np.array([[0.5, -np.inf, 1.0]])
    yield ask(solution, hidden, says="a score of minus infinity")
    yield ask(solution, np.array([[1, 2], [3, 5]]), says="whole numbers")
    broken = np.array([[1.0, np.nan], [1.0, 2.0]])
    yield ask(solution, broken, says="a row with NaN, and one without")
    yield ask(solution, x.astype(np.float32), says="float32", rtol=1e-5)


def log_softmax(solution, rng):
    yield ask(solution, np.array([1.0, 2.0, 3.0]), says="log_softmax of [1, 2, 3]")
    x = 2 * rng.standard_normal((3, 5)) + 1
    yield ask(solution, x, says="3 rows of 5 scores")
    yield ask(solution, x, says="the same along axis 0", keywords={"axis": 0})
    yield ask(solution, 2 * rng.standard_normal((4, 4)), says="4 rows of 4 scores")
    y = 2 * rng.standard_normal((2, 5, 7))
    yield ask(solution, y, says="a middle axis", keywords={"axis": 1})
    yield ask(solution, np.array([0.0, -1000.0]), says="0 beside -1000")
    large = np.array([[1000.0, 1001.0, 1002.0]])
    yield ask(solution, large, says="scores of 1000")
    apart = np.array([[0.0, 1.0], [1000.0, 1001.0]])
    yield ask(solution, apart, says="a row near 0 and a row near 1000")
    yield ask(solution, np.array([[1, 2], [3, 5]]), says="whole numbers")


def masked_softmax(solution, rng):
    first = np.array([[1.0, 2.0, 9.0]]), np.array([[True, True, False]])
    yield ask(solution, *first, says="[1, 2, 9] with 9 masked")
    scores, pad = 2 * rng.standard_normal((2, 3, 5, 7)), masks.padding_mask([7, 4], 7)
    yield ask(solution, scores, pad, says="scores (2, 3, 5, 7), padded keys")
    scores, pad = (
        2 * rng.standard_normal((5, 3, 5, 5)),
        masks.padding_mask([5, 3, 1, 2, 4], 5),
    )
    yield ask(solution, scores, pad, says="5 sequences of 5 tokens, padded keys")
    causal = masks.causal_mask(5)
    yield ask(solution, scores, causal, says="a causal mask")
    some = rng.random((4, 6)) < 0.6
    some[0] = some[:, 0] = True
    x = 2 * rng.standard_normal((4, 6))
    yield ask(solution, x, some, says="along axis 0", keywords={"axis": 0})
    none = np.array([[True, False, True], [False, False, False]])
    rows = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    yield ask(solution, rows, none, says="a row with nothing allowed")
    keep = np.array([[True, True, False]])
    for value in (5000.0, np.inf, np.nan):
        hidden = np.array([[0.5, 1.5, value]])
        yield ask(solution, hidden, keep, says=f"a masked score of {value}")
    low = np.array([[-20000.0, -20001.0, -19999.0]])
    yield ask(solution, low, keep, says="scores near -20000")
    high = np.array([[1000.0, 1001.0, 3.0]])
    yield ask(solution, high, keep, says="scores of 1000")
    yield ask(solution, np.array([[1, 2, 9]]), keep, says="whole numbers")
    half = 2 * rng.standard_normal((3, 3))
    half, lower = half.astype(np.float16), np.tri(3, dtype=bool)
    yield ask(solution, half, lower, says="float16", rtol=5e-3)
    numbers = np.array([[1, 1, 0]])
    yield ask(solution, low, numbers, says="a mask of 0 and 1", raises=TypeError)
    wrong = {"raises": ValueError}
    yield ask(solution, low, keep[:, :2], says="a mask that is too short", **wrong)
    tall = np.ones((2, 3), bool)
    yield ask(solution, low, tall, says="a mask with more rows than scores", **wrong)


def relu(solution, rng):
    yield ask(solution, np.array([-1.0, 2.0]), says="relu of [-1, 2]")
    x = 2 * rng.standard_normal((2, 5, 12))
    yield ask(solution, x, says="2 sequences of 5 tokens of width 12")
    yield ask(solution, np.array([-50.0, 0.0, 50.0]), says="[-50, 0, 50]")
    yield ask(solution, np.array([-3, 0, 4]), says="whole numbers")
    yield ask(solution, np.array([np.nan, -1.0, 1.0]), says="NaN stays NaN")


def silu(solution, rng):
    yield ask(solution, np.array([0.0, 1.0, -1.0]), says="silu of [0, 1, -1]")
    x = 2 * rng.standard_normal((2, 5, 12))
    yield ask(solution, x, says="2 sequences of 5 tokens of width 12")
    yield ask(solution, np.array([-9.0, 9.0]), says="[-9, 9]")
    yield ask(solution, np.array([-1000.0, 1000.0]), says="[-1000, 1000]")
    yield ask(solution, np.array([-3, 0, 4]), says="whole numbers")


def gelu(solution, rng):
    tanh = {"keywords": {"approximate": "tanh"}}
    yield ask(solution, np.array([1.0, -1.0]), says="gelu of [1, -1]")
    yield ask(solution, np.array([2.7]), says="gelu of 2.7")
    x = 2 * rng.standard_normal((2, 5, 12))
    yield ask(solution, x, says="2 sequences of 5 tokens of width 12")
    yield ask(solution, x, "none", says="the same, approximate='none'")
    yield ask(solution, x, says="the same by tanh", **tanh)
    far = np.array([-30.0, 0.0, 30.0])
    yield ask(solution, far, says="[-30, 0, 30]")
    yield ask(solution, far, says="[-30, 0, 30] by tanh", **tanh)
    yield ask(solution, np.array([-3, 0, 2]), says="whole numbers")
    yield ask(solution, x, "sigmoid", says="approximate='sigmoid'", raises=ValueError)
