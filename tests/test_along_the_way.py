"""Answers to the exercises, against the parts of the package that know the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from encoderlab import along_the_way
from encoderlab.along_the_way import adam_step, parameter_count, residual
from encoderlab.config import EncoderConfig, TextConfig
from encoderlab.with_numpy.embeddings import TextEmbeddings
from encoderlab.with_numpy.encoder import Encoder, TextEncoder
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


def test_reach_is_what_moves_in_a_real_encoder():
    near = abs(np.arange(7)[:, None] - np.arange(7)) <= 1
    for mask in (near, np.eye(7, k=-1, dtype=bool), np.tri(7, dtype=bool)):
        for num_layers in (1, 2, 3):
            config = EncoderConfig(
                d_model=8, num_heads=2, d_ff=16, num_layers=num_layers
            )
            encoder = Encoder(config, rng=np.random.default_rng(0))
            x = np.random.default_rng(1).standard_normal((7, 8))
            swap = np.eye(7, dtype=bool)[..., None]  # in copy s, token s is another
            copies = np.where(swap, 3 * x[:, ::-1], x)
            states = [
                encoder(tokens[None], mask[None, None]).last_hidden_state[0]
                for tokens in (x, *copies)
            ]
            moved = [(other != states[0]).any(axis=-1) for other in states[1:]]
            assert (along_the_way.reach(mask, num_layers) == np.stack(moved, 1)).all()


def test_embed_is_the_package_s_layer():
    config = TextConfig(
        d_model=8,
        num_heads=2,
        d_ff=9,
        num_layers=1,
        vocab_size=11,
        max_seq_len=7,
        num_segments=3,
    )
    rng = np.random.default_rng(0)
    layer = TextEmbeddings(config, rng=rng)
    ids, segments = rng.integers(11, size=(2, 5)), rng.integers(3, size=(2, 5))
    tables = layer.W_token, layer.W_position, layer.W_segment
    found = along_the_way.embed(ids, segments, *tables, layer.norm)
    assert_allclose(found, layer(ids, segments), rtol=1e-6)


def test_shapes_are_those_of_a_real_encoder():
    config = TextConfig(
        d_model=12, num_heads=3, d_ff=10, num_layers=1, vocab_size=20, max_seq_len=9
    )
    rng = np.random.default_rng(0)
    encoder, ids = TextEncoder(config, rng=rng), rng.integers(20, size=(2, 5))
    run = encoder(ids, trace=True)
    assert along_the_way.encoder_shapes(2, 5, 12, 3) == {
        "token_ids": ids.shape,
        "x": encoder.embeddings(ids).shape,
        "scores": run.attention_weights[0].shape,
        "weights": run.attention_weights[0].shape,
        "output": run.last_hidden_state.shape,
    }
