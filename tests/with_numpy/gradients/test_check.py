"""The check of gradients finds wrong ones, and says what it cannot check."""

import numpy as np
import pytest

from encoderlab.with_numpy.gradients import check_gradient, linear_vjp, softmax_vjp
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.parameters import cast


@pytest.fixture
def arrays(rng):
    return rng.standard_normal((5, 12)), rng.standard_normal((12, 11))


def test_check_gradient_passes_a_right_one(arrays):
    assert check_gradient(linear_vjp, *arrays) < 1e-8


@pytest.mark.parametrize("place", [0, 1])
def test_check_gradient_finds_one_wrong_gradient_of_several(arrays, place):
    def wrong(x, W):
        y, backward = linear_vjp(x, W)

        def slightly_off(d_y):
            gradients = list(backward(d_y))
            gradients[place] = gradients[place] * 1.0001
            return tuple(gradients)

        return y, slightly_off

    assert check_gradient(wrong, *arrays) > 1e-5


def test_check_gradient_finds_what_an_upstream_of_ones_cannot_see(arrays):
    def forgetful(x):
        y, _ = softmax_vjp(x)
        return y, lambda d_y: y * (d_y - d_y.mean(axis=-1, keepdims=True))

    ones = np.ones_like(arrays[0])
    np.testing.assert_allclose(forgetful(arrays[0])[1](ones), 0, atol=1e-15)
    np.testing.assert_allclose(softmax_vjp(arrays[0])[1](ones), 0, atol=1e-15)
    assert check_gradient(forgetful, arrays[0]) > 0.01


def test_check_gradient_takes_a_gradient_of_nothing_for_right(arrays):
    def constant(x):
        return np.ones(3), lambda d_y: np.zeros_like(x)

    assert check_gradient(constant, arrays[0]) == 0


def test_check_gradient_steps_in_proportion_to_large_values():
    def square(x):
        return x * x, lambda d_y: 2 * x * d_y

    assert check_gradient(square, np.array([1e5, -2e4])) < 1e-9


def test_check_gradient_checks_only_as_many_places_as_it_is_told(arrays):
    runs = []

    def counted(x, W):
        runs.append(1)
        return linear_vjp(x, W)

    assert check_gradient(counted, *arrays, places=3) < 1e-8
    assert len(runs) == 1 + 2 * (3 + 3)


def test_check_gradient_uses_the_generator_it_is_given(arrays):
    wrong = lambda x: (x, lambda d_y: 1.01 * d_y + 0.1)  # noqa: E731
    results = {
        check_gradient(wrong, arrays[0], rng=np.random.default_rng(seed))
        for seed in range(3)
    }
    assert len(results) == 3


def test_check_gradient_leaves_arrays_and_layer_as_they_were(arrays):
    layer = cast(LayerNorm(12), np.float64)
    kept = arrays[0].copy(), layer.gamma.copy()

    def scaled(x):
        y = x * layer.gamma + layer.beta

        def backward(d_y):
            d_gamma = (d_y * x).sum(axis=0)
            return d_y * layer.gamma, {"gamma": d_gamma, "beta": d_y.sum(axis=0)}

        return y, backward

    assert check_gradient(scaled, arrays[0], layer=layer) < 1e-8
    np.testing.assert_array_equal(arrays[0], kept[0])
    np.testing.assert_array_equal(layer.gamma, kept[1])


def test_check_gradient_refuses_float32(arrays):
    with pytest.raises(TypeError, match="input 1 must be float64, got float32"):
        check_gradient(linear_vjp, arrays[0], arrays[1].astype(np.float32))
    with pytest.raises(TypeError, match="gamma must be float64, got float32"):
        check_gradient(lambda: None, layer=LayerNorm(12))


def test_check_gradient_refuses_a_missing_gradient(arrays):
    def forgetful_of_weights(x, W):
        y, backward = linear_vjp(x, W)
        return y, lambda d_y: backward(d_y)[0]

    with pytest.raises(ValueError, match="missing or unknown: input 1"):
        check_gradient(forgetful_of_weights, *arrays)


def test_check_gradient_refuses_a_gradient_of_another_shape(arrays):
    def transposed(x, W):
        y, backward = linear_vjp(x, W)
        return y, lambda d_y: (backward(d_y)[0], backward(d_y)[1].T)

    message = r"input 1 must have its shape, \(12, 11\), got \(11, 12\)"
    with pytest.raises(ValueError, match=message):
        check_gradient(transposed, *arrays)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_check_gradient_finds_what_is_not_finite(arrays, value):
    def broken(x):
        def backward(d_y):
            d_x = 2 * x * d_y
            d_x[0, 0] = value
            return d_x

        return x * x, backward

    with np.errstate(invalid="ignore"):
        assert check_gradient(broken, arrays[0]) == np.inf
        assert check_gradient(lambda x: (value * x, lambda d: d), arrays[0]) == np.inf


def test_check_gradient_finds_a_small_error_beside_a_large_output():
    def shifted(x):
        return x + 100.0, lambda d_y: 1.0001 * d_y

    assert check_gradient(shifted, np.ones(5)) > 1e-5


def test_check_gradient_puts_a_place_back_when_the_function_fails():
    layer = cast(LayerNorm(3), np.float64)
    runs = []

    def fails():
        runs.append(1)
        if len(runs) > 1:
            raise KeyboardInterrupt
        gradients = {"gamma": np.ones(3), "beta": np.ones(3)}
        return layer.gamma + layer.beta, lambda d_y: (None, gradients)

    with pytest.raises(KeyboardInterrupt):
        check_gradient(fails, layer=layer)
    np.testing.assert_array_equal(layer.gamma, 1.0)


def test_check_gradient_refuses_to_check_nothing_and_a_seed(
    arrays, without_shape_checks
):
    with pytest.raises(ValueError, match="places must be at least 1, got 0"):
        check_gradient(linear_vjp, *arrays, places=0)
    with pytest.raises(TypeError, match=r"rng must be a np\.random\.Generator"):
        check_gradient(linear_vjp, *arrays, rng=0)
