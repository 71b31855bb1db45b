"""Checks of chapter 11: parameters counted, drawn and loaded."""

from math import sqrt
from types import SimpleNamespace

import numpy as np

from encoderlab.config import TextConfig
from encoderlab.lab.case import Case, Property, ask
from encoderlab.with_numpy.encoder import TextEncoder
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.parameters import cast, parameters


def _layer():
    return EncoderLayer(12, 3, 11, rng=np.random.default_rng(3))


def count(solution, rng):
    yield ask(solution, LayerNorm(4), says="a LayerNorm of width 4")
    matrix = SimpleNamespace(W=np.ones((3, 5)), b=np.ones(5), name="linear", eps=0.1)
    yield ask(solution, matrix, says="a layer with W (3, 5) and b (5,)")
    yield ask(solution, _layer(), says="an encoder layer: sublayers")
    mixed = SimpleNamespace(layers=[LayerNorm(4), LayerNorm(7), _layer()], W=np.ones(2))
    yield ask(solution, mixed, says="a list of layers of different sizes")
    deep = SimpleNamespace(
        parts=[SimpleNamespace(parts=[LayerNorm(int(rng.integers(2, 9)))])]
    )
    yield ask(solution, deep, says="a list in an item of a list")
    table = np.ones((6, 2))
    tied = SimpleNamespace(W=table, head=SimpleNamespace(W=table, b=np.ones(6)))
    yield ask(solution, tied, says="an array that is used in two places")
    norm = LayerNorm(3)
    shared = SimpleNamespace(norm_1=norm, norm_2=norm, norms=[norm, LayerNorm(3)])
    yield ask(solution, shared, says="a sublayer that is used in three places")
    sizes = {"d_model": 6, "num_heads": 2, "d_ff": 5, "num_layers": 2, "vocab_size": 9}
    for positions in ("learned", "none"):
        config = TextConfig(**sizes, max_seq_len=7, positions=positions)
        encoder = TextEncoder(config, rng=np.random.default_rng(3))
        yield ask(
            solution, encoder, says=f"an encoder of texts, positions: {positions}"
        )
    nothing = SimpleNamespace(name="empty", eps=0.1, table=None)
    yield ask(solution, nothing, says="a layer without parameters")


def xavier_uniform(solution, rng):
    seed = int(rng.integers(2**31))

    def draw(*shape, seed=seed):
        return solution(*shape, np.random.default_rng(seed))

    yield Case("the shape for widths 3 and 5", lambda: np.shape(draw(3, 5)))
    yield Case("the dtype", lambda: str(draw(3, 5).dtype))
    for shape in ((60, 100), (100, 60), (30, 200)):
        bound = sqrt(6 / sum(shape))
        widths = f"widths {shape[0]} and {shape[1]}"
        yield Case(
            f"{widths}: the largest value, as a share of the bound, to two decimals",
            lambda s=shape, bound=bound: np.round(np.max(draw(*s)) / bound, 2),
        )
        yield Case(
            f"{widths}: the spread, as a share of the bound, to one decimal (0.6)",
            lambda s=shape, bound=bound: np.round(np.std(draw(*s)) / bound, 1),
        )
        yield Property(
            f"{widths}: as many values are below 0 as above it",
            lambda s=shape: abs(np.mean(draw(*s) < 0) - 0.5) < 0.04,
        )
    yield Property(
        "no value is beyond the bound",
        lambda: np.abs(draw(40, 20)).max() <= sqrt(6 / 60) * (1 + 1e-6),
    )
    yield Property(
        "values are spread evenly: as many above half the bound as below it",
        lambda: abs(np.mean(np.abs(draw(100, 100)) < sqrt(0.03) / 2) - 0.5) < 0.03,
    )
    yield Property(
        "generators of one seed give the same matrix",
        lambda: np.array_equal(draw(3, 5), draw(3, 5)),
    )
    yield Property(
        "generators of different seeds give different ones",
        lambda: not np.array_equal(draw(3, 5), draw(3, 5, seed=seed + 1)),
    )
    one = np.random.default_rng(seed)
    yield Property(
        "one generator gives a new matrix each time",
        lambda: not np.array_equal(solution(3, 5, one), solution(3, 5, one)),
    )


def load(solution, rng):
    def weights_of(layer, dtype=np.float64):
        return {
            name: rng.standard_normal(array.shape).astype(dtype)
            for name, array in parameters(layer).items()
        }

    def loaded(layer, weights, **options):
        return {**parameters(solution(layer, weights, **options))}

    small = {"gamma": np.array([1.0, 2.0]), "beta": np.array([3.0, 3.0])}
    yield Case("a LayerNorm", lambda: loaded(LayerNorm(2), small))
    layer, new = _layer(), weights_of(_layer())
    yield Property("it returns the layer itself", lambda: solution(layer, new) is layer)
    yield Case("an encoder layer", lambda: loaded(_layer(), new), (*new.values(),))
    stack = SimpleNamespace(layers=[LayerNorm(4), LayerNorm(7)])
    items = weights_of(stack)
    yield Case("the items of a list", lambda: loaded(stack, items))
    yield Case("float64 into float32", lambda: loaded(_layer(), new), dtype=True)
    wide, single = cast(LayerNorm(5), np.float64), weights_of(LayerNorm(5), np.float32)
    yield Case("float32 into float64", lambda: loaded(wide, single), dtype=True)
    turned = dict(reversed(new.items()))
    yield Case("in another order", lambda: loaded(_layer(), turned))
    extra = {**new, "head.W": np.ones(3)}
    how = {"ignore": ["head.W", "head.b"]}
    yield Case("an extra name in `ignore`", lambda: loaded(_layer(), extra, **how))
    kept = {name: new[name] for name in new if name != "norm_1.beta"}
    wrong = {
        "an extra name": extra,
        "a missing name": kept,
        "a shape that would broadcast": {**new, "norm_1.beta": np.ones(1)},
        "a number for a vector": {**new, "norm_1.beta": 2.0},
        "a transposed matrix": {**new, "feed_forward.W_1": np.ones((11, 12))},
    }
    for says, weights in wrong.items():
        call = lambda weights=weights: solution(_layer(), weights) and None  # noqa: E731
        yield Case(says, call, raises=ValueError)
        yield Property(
            f"{says}: the layer is unchanged",
            lambda weights=weights: _unchanged(solution, weights),
        )
    several = {**extra, "norm_2.gamma": np.ones(1)}
    del several["attention.b_q"]
    yield Property(
        "the message names each of three problems",
        lambda: _names(solution, several, "head.W", "norm_2.gamma", "attention.b_q"),
    )
    yield Property(
        "weights changed afterwards do not change the layer",
        lambda: _copied(solution, LayerNorm(2)),
    )


def _unchanged(solution, weights):
    layer = _layer()
    before = {name: array.copy() for name, array in parameters(layer).items()}
    try:
        solution(layer, weights)
    except Exception:  # what it raises is asked for elsewhere
        after = parameters(layer)
        return all(np.array_equal(before[name], after[name]) for name in before)
    return False


def _names(solution, weights, *names):
    try:
        solution(_layer(), weights)
    except ValueError as error:
        return all(name in str(error) for name in names)
    return False


def _copied(solution, layer):
    weights = {"gamma": np.ones(2, np.float32), "beta": np.ones(2, np.float32)}
    solution(layer, weights)
    weights["beta"][:] = 9
    return (layer.beta == 1).all()
