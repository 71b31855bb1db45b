import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.parameters import (
    cast,
    count,
    embedding_table,
    load,
    parameters,
    xavier_uniform,
    zeros,
)


class Stack:
    """Two norms in a list, one more beside it, and things that are no parameters."""

    def __init__(self, *layers):
        self.layers = list(layers)
        self.last = LayerNorm(5)
        self.nothing, self.name, self.sizes = None, "stack", [1, 2]


@pytest.fixture
def stack():
    return Stack(LayerNorm(3), LayerNorm(4))


def test_parameters_are_named_by_their_path(stack):
    shapes = {name: array.shape for name, array in parameters(stack).items()}
    assert shapes == {
        "layers.0.gamma": (3,),
        "layers.0.beta": (3,),
        "layers.1.gamma": (4,),
        "layers.1.beta": (4,),
        "last.gamma": (5,),
        "last.beta": (5,),
    }


def test_parameters_are_the_layers_own_arrays(stack):
    parameters(stack)["layers.1.beta"][2] = 7
    assert stack.layers[1].beta[2] == 7


@pytest.mark.parametrize(("D", "H", "F"), [(12, 3, 11), (8, 2, 32)])
def test_count_of_a_layer_follows_the_formula(rng, D, H, F):
    layer = EncoderLayer(D, H, F, rng=rng)
    assert count(layer) == 4 * (D * D + D) + 2 * D * F + F + D + 4 * D


def test_count_of_a_layer_with_four_times_the_width(rng):
    D = 768
    assert (
        count(EncoderLayer(D, 12, 4 * D, rng=rng)) == 7_087_872 == 12 * D * D + 13 * D
    )


def test_count_counts_a_shared_layer_once():
    shared = LayerNorm(3)
    assert count(Stack(shared, shared)) == count(Stack(shared)) == 16


def test_cast_changes_every_parameter_in_place(stack):
    assert cast(stack, np.float64) is stack
    assert {array.dtype for array in parameters(stack).values()} == {np.dtype(float)}
    assert cast(stack, "float16").last.gamma.dtype == np.float16


@pytest.mark.parametrize("dtype", [np.int64, bool])
def test_cast_refuses_a_dtype_that_is_not_floating(stack, dtype):
    with pytest.raises(TypeError, match="dtype must be floating, got"):
        cast(stack, dtype)


@pytest.fixture
def weights(rng, stack):
    return {k: rng.standard_normal(v.shape) for k, v in parameters(stack).items()}


def test_load_copies_weights_and_keeps_the_dtype(stack, weights):
    assert load(stack, weights) is stack
    for name, array in parameters(stack).items():
        assert array.dtype == np.float32
        assert_allclose(array, weights[name], rtol=1e-7)
    weights["last.beta"][0] = 99.0
    assert stack.last.beta[0] != 99.0


def test_load_ignores_what_it_is_told_to(stack, weights):
    weights["pooler.W"] = np.ones(3)
    assert load(stack, weights, ignore={"pooler.W"}).last.gamma.shape == (5,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"last.beta": None}, r"missing: last\.beta \(5,\)"),
        ({"last.delta": np.ones(2)}, r"extra: last\.delta \(2,\)"),
        (
            {"last.beta": np.ones((5, 1))},
            r"wrong shape: last\.beta, expected \(5,\), got",
        ),
    ],
)
def test_load_refuses_weights_that_do_not_fit_and_changes_nothing(
    stack, weights, change, message
):
    wrong = {k: v for k, v in (weights | change).items() if v is not None}
    with pytest.raises(ValueError, match=message):
        load(stack, wrong)
    assert_array_equal(stack.last.gamma, np.ones(5))


def test_load_names_every_problem_at_once(stack, weights):
    weights["other"] = weights.pop("last.gamma")
    with pytest.raises(ValueError, match=r"(?s)missing: last\.gamma.*extra: other"):
        load(stack, weights)


def test_xavier_uniform_fills_its_bounds(rng):
    W = xavier_uniform(300, 200, rng)
    bound = np.sqrt(6 / 500)
    assert W.shape == (300, 200)
    assert W.dtype == np.float32
    assert 0.99 * bound < W.max() <= bound
    assert_allclose(W.var(), bound**2 / 3, rtol=0.02)


def test_embedding_table_has_the_documented_spread(rng):
    table = embedding_table(300, 200, rng=rng)
    assert table.dtype == np.float32
    assert_allclose([table.mean(), table.std()], [0, 0.02], atol=3e-4)


def test_zeros_are_float32():
    assert_array_equal(zeros(2, 3), np.zeros((2, 3)))
    assert zeros(2).dtype == np.float32


def test_cast_and_load_keep_a_shared_array_shared():
    tied = LayerNorm(3)
    tied.beta = tied.gamma
    cast(tied, np.float64)
    assert tied.beta is tied.gamma
    load(tied, {"gamma": np.full(3, 2.0), "beta": np.full(3, 2.0)})
    assert tied.beta is tied.gamma
    assert count(tied) == 3


def test_load_changes_nothing_if_a_weight_is_no_number():
    norm = LayerNorm(2)
    with pytest.raises(ValueError, match="could not convert string to float"):
        load(norm, {"gamma": np.array([5.0, 6]), "beta": np.array(["a", "b"])})
    assert_array_equal(norm.gamma, [1, 1])


@pytest.mark.parametrize(
    "draw", [lambda r: xavier_uniform(2, 3, r), lambda r: embedding_table(2, rng=r)]
)
def test_initialisation_refuses_a_seed_for_a_generator(without_shape_checks, draw):
    message = r"rng must be a np\.random\.Generator, got int; make one with"
    with pytest.raises(TypeError, match=message):
        draw(0)
