import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.functional import gelu, linear

D, F = 12, 11

TORCH = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
}


@pytest.mark.parametrize("activation", TORCH)
def test_feed_forward_matches_torch(rng, disturb, activation):
    layer = disturb(FeedForward(D, F, activation=activation, rng=rng))
    x = rng.standard_normal((2, 5, D))
    x_, W_1, b_1, W_2, b_2 = map(
        torch.from_numpy, (x, layer.W_1, layer.b_1, layer.W_2, layer.b_2)
    )
    expected = TORCH[activation](x_ @ W_1 + b_1) @ W_2 + b_2
    assert_allclose(layer(x), expected, rtol=1e-11, atol=1e-12)


def test_feed_forward_treats_each_token_by_itself(rng, disturb):
    layer, x = disturb(FeedForward(D, F, rng=rng)), rng.standard_normal((2, 5, D))
    for b, t in np.ndindex(2, 5):
        assert_allclose(layer(x)[b, t], layer(x[b, t]), rtol=1e-11, atol=1e-12)


def test_feed_forward_drops_hidden_values_only_with_a_generator(rng, disturb):
    layer = disturb(FeedForward(D, F, dropout=0.5, rng=rng))
    x = rng.standard_normal((2, 5, D))
    assert_array_equal(layer(x), disturb(FeedForward(D, F, rng=rng))(x))
    hidden = dropout(
        gelu(linear(x, layer.W_1, layer.b_1)), 0.5, np.random.default_rng(5)
    )
    expected = linear(hidden, layer.W_2, layer.b_2)
    assert_array_equal(layer(x, rng=np.random.default_rng(5)), expected)


def test_feed_forward_starts_in_float32_with_zero_biases(rng):
    layer = FeedForward(D, F, rng=rng)
    assert layer.W_1.shape == (D, F)
    assert layer.W_2.shape == (F, D)
    bound = np.sqrt(6 / (D + F))
    for W, b in ((layer.W_1, layer.b_1), (layer.W_2, layer.b_2)):
        assert W.dtype == b.dtype == np.float32
        assert 0.8 * bound < np.abs(W).max() <= bound
        assert not b.any()


@pytest.mark.parametrize(("d_model", "d_ff"), [(0, 4), (4, 0), (-1, 4)])
def test_feed_forward_refuses_a_width(rng, d_model, d_ff):
    with pytest.raises(ValueError, match="d_model and d_ff must be at least 1, got"):
        FeedForward(d_model, d_ff, rng=rng)


def test_feed_forward_refuses_an_unknown_activation(without_shape_checks, rng):
    message = "activation must be one of relu, gelu, gelu_tanh, silu; got 'tanh'"
    with pytest.raises(ValueError, match=message):
        FeedForward(D, F, activation="tanh", rng=rng)


def test_feed_forward_refuses_dropout(rng):
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        FeedForward(D, F, dropout=-0.1, rng=rng)


@pytest.mark.parametrize("shape", [(2, 5, D + 1), ()])
def test_feed_forward_refuses_another_width(without_shape_checks, rng, shape):
    with pytest.raises(ValueError, match="x must have 12 = d_model values on its last"):
        FeedForward(D, F, rng=rng)(np.ones(shape))
