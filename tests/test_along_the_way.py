"""Answers to the exercises, against the parts of the package that know the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from encoderlab.along_the_way import adam_step, parameter_count, residual
from encoderlab.config import TextConfig
from encoderlab.with_numpy.encoder import TextEncoder
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.parameters import cast, count, parameters
from encoderlab.with_numpy.training import Adam

BOTH_ORDERS = pytest.mark.parametrize("norm_first", [True, False])


@BOTH_ORDERS
def test_residual_twice_is_an_encoder_layer(norm_first):
    rng = np.random.default_rng(0)
    layer = cast(EncoderLayer(12, 3, 11, norm_first=norm_first, rng=rng), np.float64)
    for array in parameters(layer).values():
        array += 0.5 * rng.standard_normal(array.shape)
    x = rng.standard_normal((2, 5, 12))
    h = residual(x, lambda z: layer.attention(z)[0], layer.norm_1, norm_first)
    y = residual(h, layer.feed_forward, layer.norm_2, norm_first)
    assert_allclose(y, layer(x)[0], rtol=1e-12)


@BOTH_ORDERS
@pytest.mark.parametrize("num_segments", [1, 3])
def test_parameter_count_is_that_of_the_arrays(norm_first, num_segments):
    config = TextConfig(
        d_model=12,
        num_heads=3,
        d_ff=11,
        num_layers=2,
        norm_first=norm_first,
        vocab_size=29,
        max_seq_len=17,
        num_segments=num_segments,
    )
    encoder = TextEncoder(config, rng=np.random.default_rng(0))
    assert parameter_count(config) == count(encoder)


def test_adam_steps_are_those_of_the_optimizer():
    rng = np.random.default_rng(0)
    theta, own = np.ones((3, 4)), np.ones((3, 4))
    m = v = np.zeros((3, 4))
    adam = Adam({"W": own}, lr=0.3, betas=(0.8, 0.6), eps=0.1)
    for t in range(1, 6):
        gradient = rng.standard_normal((3, 4))
        theta, m, v = adam_step(theta, gradient, m, v, t, 0.3, (0.8, 0.6), 0.1)
        adam.step({"W": gradient})
    assert_allclose(theta, own, rtol=1e-12)
