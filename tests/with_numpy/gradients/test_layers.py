"""Every layer's vjp, against its forward, central differences and autograd."""

from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.with_numpy.attention import MultiHeadAttention
from encoderlab.with_numpy.encoder import Encoder, ImageEncoder, TextEncoder
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.gradients import (
    check_gradient,
    encoder_layer_vjp,
    encoder_vjp,
    feed_forward_vjp,
    image_encoder_vjp,
    multi_head_attention_vjp,
    norm_vjp,
    patch_embeddings_vjp,
    text_embeddings_vjp,
    text_encoder_vjp,
    token_classifier_vjp,
)
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.masks import causal_mask, padding_mask
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.parameters import cast, parameters

from . import torch_oracle

B, T, H, D, F = 2, 5, 3, 12, 11
ORDERS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
ACTIVATIONS = pytest.mark.parametrize(
    "activation", ["relu", "gelu", "gelu_tanh", "silu"]
)
MASK = padding_mask([3, 5], T)
IDS = np.array([[4, 0, 4, 4, 6], [1, 4, 0, 2, 2]])
SEGMENTS = np.array([[0, 0, 1, 1, 1], [0, 2, 2, 0, 0]])
REAL = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])


@pytest.fixture
def x(rng):
    return rng.standard_normal((B, T, D))


@pytest.fixture
def agrees_with_autograd():
    """Compare every gradient of a layer with that of the same layer in torch."""

    def agrees(layer, vjp, in_torch, *inputs):
        output, backward = vjp(layer, *inputs)
        upstream = np.random.default_rng(1).standard_normal(output.shape)
        d_input, gradients = backward(upstream)
        weights = {
            name: torch.tensor(array, requires_grad=True)
            for name, array in parameters(layer).items()
        }
        first = torch.tensor(
            inputs[0], requires_grad=np.issubdtype(inputs[0].dtype, np.floating)
        )
        others = map(torch.from_numpy, inputs[1:])
        result = in_torch(weights, layer, first, *others)
        result.backward(torch.from_numpy(upstream))
        assert_allclose(output, result.detach(), rtol=1e-10, atol=1e-12)
        expected = {name: tensor.grad for name, tensor in weights.items()}
        assert gradients.keys() == expected.keys()
        pairs = [(gradients[name], expected[name]) for name in expected]
        pairs += [] if d_input is None else [(d_input, first.grad)]
        for gradient, other in pairs:
            assert gradient.shape == other.shape
            size = np.linalg.norm(gradient) + np.linalg.norm(other)
            # the keys' bias has no influence: its gradient is rounding alone
            assert np.linalg.norm(gradient - other.numpy()) < max(1e-10 * size, 1e-12)

    return agrees


# Functions of a layer alone: vjp, the layer, the same in torch


@ACTIVATIONS
def test_feed_forward_vjp(disturb, rng, x, agrees_with_autograd, activation):
    layer = disturb(FeedForward(D, F, activation=activation, rng=rng))
    assert (
        check_gradient(partial(feed_forward_vjp, layer), x, layer=layer, places=10)
        < 1e-7
    )
    assert_allclose(feed_forward_vjp(layer, x)[0], layer(x), rtol=1e-13)
    agrees_with_autograd(layer, feed_forward_vjp, torch_oracle.feed_forward, x)


@pytest.mark.parametrize(
    "mask", [None, MASK, causal_mask(T)], ids=["all", "padded", "causal"]
)
def test_multi_head_attention_vjp(disturb, rng, x, agrees_with_autograd, mask):
    layer = disturb(MultiHeadAttention(D, H, rng=rng))
    vjp = partial(multi_head_attention_vjp, layer, mask=mask)
    assert check_gradient(vjp, x, layer=layer, places=10) < 1e-7
    assert_allclose(vjp(x)[0], layer(x, mask)[0], rtol=1e-12)
    oracle = partial(
        torch_oracle.attention, mask=None if mask is None else torch.from_numpy(mask)
    )
    agrees_with_autograd(layer, partial(multi_head_attention_vjp, mask=mask), oracle, x)


def test_norm_vjp(disturb, x, agrees_with_autograd):
    layer = disturb(LayerNorm(D, 0.1))
    assert check_gradient(partial(norm_vjp, layer), x, layer=layer, places=10) < 1e-7
    assert_array_equal(norm_vjp(layer, x)[0], layer(x))
    agrees_with_autograd(layer, norm_vjp, torch_oracle.norm, x)


@ORDERS
@pytest.mark.parametrize("mask", [None, MASK], ids=["all", "padded"])
def test_encoder_layer_vjp(disturb, rng, x, agrees_with_autograd, norm_first, mask):
    layer = disturb(EncoderLayer(D, H, F, norm_first=norm_first, eps=0.1, rng=rng))
    vjp = partial(encoder_layer_vjp, layer, mask=mask)
    assert check_gradient(vjp, x, layer=layer, places=10) < 1e-7
    assert_allclose(vjp(x)[0], layer(x, mask)[0], rtol=1e-12)
    oracle = partial(
        torch_oracle.encoder_layer,
        mask=None if mask is None else torch.from_numpy(mask),
    )
    agrees_with_autograd(layer, partial(encoder_layer_vjp, mask=mask), oracle, x)


@ORDERS
def test_encoder_layer_vjp_under_dropout(disturb, rng, x, norm_first):
    layer = disturb(EncoderLayer(D, H, F, norm_first=norm_first, dropout=0.3, rng=rng))

    def seeded(x):
        return encoder_layer_vjp(layer, x, MASK, rng=np.random.default_rng(5))

    expected = layer(x, MASK, rng=np.random.default_rng(5))[0]
    assert_allclose(seeded(x)[0], expected, rtol=1e-12)
    assert check_gradient(seeded, x, layer=layer, places=10) < 1e-7


@ORDERS
def test_encoder_vjp(disturb, rng, x, sizes, agrees_with_autograd, norm_first):
    config = EncoderConfig(**sizes, eps=0.1, norm_first=norm_first)
    model = disturb(Encoder(config, rng=rng))
    assert check_gradient(partial(encoder_vjp, model), x, layer=model, places=2) < 1e-7
    assert_allclose(encoder_vjp(model, x)[0], model(x).last_hidden_state, rtol=1e-12)
    agrees_with_autograd(model, encoder_vjp, torch_oracle.encoder, x)


@ORDERS
def test_text_encoder_vjp(
    disturb, rng, sizes, text_config, agrees_with_autograd, norm_first
):
    config = TextConfig(**{**vars(text_config), "norm_first": norm_first})
    model = disturb(TextEncoder(config, rng=rng))
    read = partial(text_encoder_vjp, attention_mask=REAL, segment_ids=SEGMENTS)
    bound = lambda: read(model, IDS)  # noqa: E731
    assert check_gradient(bound, layer=model, places=2) < 1e-7
    expected = model(IDS, REAL, segment_ids=SEGMENTS).last_hidden_state
    assert_allclose(bound()[0], expected, rtol=1e-12)
    oracle = partial(
        torch_oracle.text_encoder,
        segment_ids=torch.from_numpy(SEGMENTS),
        mask=torch.from_numpy(REAL),
    )
    agrees_with_autograd(model, read, oracle, IDS)


def test_image_encoder_vjp(disturb, rng, image_config, agrees_with_autograd):
    model = disturb(ImageEncoder(image_config, rng=rng))
    images = rng.standard_normal((2, 3, 8, 8))
    vjp = partial(image_encoder_vjp, model)
    assert check_gradient(vjp, images, layer=model, places=2) < 1e-7
    assert_allclose(vjp(images)[0], model(images).last_hidden_state, rtol=1e-12)
    agrees_with_autograd(model, image_encoder_vjp, torch_oracle.image_encoder, images)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_embeddings_vjp_with_each_kind_of_positions(
    disturb, rng, text_config, image_config, positions
):
    text = TextConfig(**{**vars(text_config), "positions": positions})
    image = ImageConfig(**{**vars(image_config), "positions": positions})
    reader = disturb(TextEncoder(text, rng=rng)).embeddings
    viewer = disturb(ImageEncoder(image, rng=rng)).embeddings
    images = rng.standard_normal((2, 3, 8, 8))
    read = lambda: text_embeddings_vjp(reader, IDS, SEGMENTS)  # noqa: E731
    assert check_gradient(read, layer=reader, places=2) < 1e-7
    view = partial(patch_embeddings_vjp, viewer)
    assert check_gradient(view, images, layer=viewer, places=2) < 1e-7
    names = [*read()[1](np.ones((B, T, D)))[1], *view(images)[1](view(images)[0])[1]]
    assert ("W_position" in names) == (positions == "learned")


def test_embeddings_vjp_under_dropout(disturb, rng, text_config, image_config):
    text = TextConfig(**{**vars(text_config), "dropout": 0.3})
    image = ImageConfig(**{**vars(image_config), "dropout": 0.3})
    reader = disturb(TextEncoder(text, rng=rng)).embeddings
    viewer = disturb(ImageEncoder(image, rng=rng)).embeddings
    images = rng.standard_normal((2, 3, 8, 8))

    def read():
        return text_embeddings_vjp(reader, IDS, rng=np.random.default_rng(2))

    def view(images):
        return patch_embeddings_vjp(viewer, images, rng=np.random.default_rng(2))

    assert_allclose(read()[0], reader(IDS, rng=np.random.default_rng(2)), rtol=1e-13)
    assert_allclose(
        view(images)[0], viewer(images, rng=np.random.default_rng(2)), rtol=1e-13
    )
    assert check_gradient(read, layer=reader, places=2) < 1e-7
    assert check_gradient(view, images, layer=viewer, places=2) < 1e-7


def test_token_classifier_vjp(disturb, rng, x, encoder_config, text_config):
    model = disturb(TokenClassifier(Encoder(encoder_config, rng=rng), 4, rng=rng))
    vjp = partial(token_classifier_vjp, model)
    assert check_gradient(vjp, x, layer=model, places=2) < 1e-7
    assert_allclose(vjp(x)[0], model(x), rtol=1e-12)
    reader = disturb(TokenClassifier(TextEncoder(text_config, rng=rng), 4, rng=rng))
    read = lambda: token_classifier_vjp(reader, IDS, REAL, causal=True)  # noqa: E731
    assert check_gradient(read, layer=reader, places=2) < 1e-7
    assert_allclose(read()[0], reader(IDS, REAL, causal=True), rtol=1e-12)


def test_token_classifier_vjp_refuses_an_unknown_encoder(rng, encoder_config):
    class Other(Encoder):
        pass

    model = TokenClassifier(Other(encoder_config, rng=rng), 4, rng=rng)
    with pytest.raises(TypeError, match=r"one of Encoder, TextEncoder, .* got Other"):
        token_classifier_vjp(model, np.ones((1, T, D)))


def test_token_classifier_refuses_no_classes(rng, encoder_config):
    with pytest.raises(ValueError, match="num_classes must be at least 1, got 0"):
        TokenClassifier(Encoder(encoder_config, rng=rng), 0, rng=rng)


@ORDERS
def test_one_fully_padded_sample_leaves_the_other_gradients_alone(
    disturb, rng, sizes, norm_first
):
    config = TextConfig(
        **sizes, norm_first=norm_first, vocab_size=23, max_seq_len=9, dropout=0.0
    )
    model = disturb(TextEncoder(config, rng=rng))
    upstream = rng.standard_normal((B, T, D))
    upstream[0] = 0  # what is computed for padding is not read
    padded = np.array([[0] * T, [1] * T])
    _, backward = text_encoder_vjp(model, IDS, padded)
    _, alone = text_encoder_vjp(model, IDS[1:], padded[1:])
    gradients, expected = backward(upstream)[1], alone(upstream[1:])[1]
    for name, gradient in gradients.items():
        assert np.isfinite(gradient).all()
        assert_allclose(gradient, expected[name], rtol=1e-10, atol=1e-12)


def test_fully_padded_sample_has_finite_gradients_even_if_it_is_read(
    disturb, rng, text_config
):
    model = disturb(TextEncoder(text_config, rng=rng))
    padded = np.array([[0] * T, [1] * T])
    y, backward = text_encoder_vjp(model, IDS, padded)
    gradients = backward(np.ones_like(y))[1]
    assert all(np.isfinite(gradient).all() for gradient in gradients.values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_have_the_names_dtypes_and_shapes_of_the_parameters(
    rng, text_config, dtype
):
    model = cast(TextEncoder(text_config, rng=rng), dtype)
    y, backward = text_encoder_vjp(model, IDS, REAL)
    gradients, own = backward(np.ones_like(y))[1], parameters(model)
    assert gradients.keys() == own.keys()
    for name, array in own.items():
        assert gradients[name].dtype == array.dtype
        assert gradients[name].shape == array.shape


def test_attention_vjp_refuses_what_the_layer_refuses(rng, x):
    layer = MultiHeadAttention(D, H, rng=rng)
    with pytest.raises(ValueError, match="mask must have the 4 axes of the scores"):
        multi_head_attention_vjp(layer, x, np.ones((B, T, T), bool))


@pytest.mark.parametrize("width", [(8,), (5, 7)])
def test_attention_vjp_refuses_other_vectors(rng, width, without_shape_checks):
    layer = MultiHeadAttention(D, H, rng=rng)
    with pytest.raises(ValueError, match=r"x must have shape \(..., T, 12\)"):
        multi_head_attention_vjp(layer, np.ones(width))


def test_encoder_vjps_refuse_what_the_encoders_refuse(
    rng, text_config, image_config, without_shape_checks
):
    text, image = TextEncoder(text_config, rng=rng), ImageEncoder(image_config, rng=rng)
    with pytest.raises(ValueError, match=r"token_ids must have shape \(B, T\)"):
        text_encoder_vjp(text, IDS[0], causal=True)
    with pytest.raises(ValueError, match="token_ids must be from 0 to 22, got 0 to 23"):
        text_embeddings_vjp(text.embeddings, np.array([[0, 23]]))
    with pytest.raises(ValueError, match="hold only 0 and 1"):
        text_encoder_vjp(text, IDS, 2 * REAL)
    with pytest.raises(ValueError, match=r"images must have shape \(B, 3, 8, 8\)"):
        patch_embeddings_vjp(image.embeddings, np.zeros((2, 1, 8, 8)))
