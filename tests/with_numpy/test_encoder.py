import dataclasses

import numpy as np
import pytest
import torch
import transformers
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.encoder import Encoder, ImageEncoder, TextEncoder
from encoderlab.with_numpy.masks import padding_mask
from encoderlab.with_numpy.parameters import count, parameters

B, T, D = 2, 5, 12
ORDERS = pytest.mark.parametrize("norm_first", [True, False])
IDS = np.array([[5, 0, 22, 5, 7], [1, 2, 3, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


@pytest.fixture
def x(rng):
    return rng.standard_normal((B, T, D))


@pytest.fixture
def encoder(rng, disturb, encoder_config):
    return disturb(Encoder(encoder_config, rng=rng))


@pytest.fixture
def text_encoder(rng, disturb, text_config):
    return disturb(TextEncoder(text_config, rng=rng))


# the stack


@ORDERS
def test_encoder_runs_its_layers_one_after_another(
    rng, disturb, encoder_config, x, norm_first
):
    config = dataclasses.replace(encoder_config, norm_first=norm_first)
    encoder = disturb(Encoder(config, rng=rng))
    mask = padding_mask([3, 5], T)
    first, _ = encoder.layers[0](x, mask)
    second, _ = encoder.layers[1](first, mask)
    expected = encoder.final_norm(second) if norm_first else second
    assert_array_equal(encoder(x, mask).last_hidden_state, expected)


@ORDERS
def test_encoder_has_a_final_norm_only_in_pre_norm(rng, encoder_config, norm_first):
    config = dataclasses.replace(encoder_config, norm_first=norm_first)
    encoder = Encoder(config, rng=rng)
    assert (encoder.final_norm is not None) == norm_first
    assert ("final_norm.gamma" in parameters(encoder)) == norm_first


def test_encoder_traces_only_when_asked(encoder, x):
    plain, traced = encoder(x), encoder(x, trace=True)
    assert plain.hidden_states is plain.attention_weights is None
    assert_array_equal(plain.last_hidden_state, traced.last_hidden_state)
    assert_array_equal(traced.hidden_states[0], x)
    assert [state.shape for state in traced.hidden_states] == 3 * [(B, T, D)]
    assert [w.shape for w in traced.attention_weights] == 2 * [(B, 3, T, T)]
    last = encoder.final_norm(traced.hidden_states[-1])
    assert_array_equal(traced.last_hidden_state, last)
    weights = encoder.layers[1](traced.hidden_states[1])[1]
    assert_array_equal(traced.attention_weights[1], weights)


def test_encoder_layers_have_their_own_weights(rng, encoder_config):
    encoder = Encoder(encoder_config, rng=rng)
    first, second = encoder.layers
    assert (first.attention.W_q != second.attention.W_q).all()
    layer = 4 * (D * D + D) + (D * 11 + 11) + (11 * D + D) + 4 * D
    assert count(encoder) == 2 * layer + 2 * D


def test_encoder_passes_every_option_on(rng, encoder_config):
    options = {"norm_first": False, "activation": "relu", "eps": 0.2, "dropout": 0.3}
    encoder = Encoder(dataclasses.replace(encoder_config, **options), rng=rng)
    for layer in encoder.layers:
        assert layer.norm_first is False
        assert layer.feed_forward.activation == "relu"
        assert layer.norm_1.eps == layer.norm_2.eps == 0.2
        parts = layer, layer.attention, layer.feed_forward
        assert [part.dropout for part in parts] == 3 * [0.3]
    assert Encoder(encoder_config, rng=rng).final_norm.eps == 0.1


def test_encoder_masks_every_layer(encoder, x):
    weights = encoder(x, padding_mask([3, 5], T), trace=True).attention_weights
    assert not any(w[0, :, :, 3:].any() for w in weights)


def test_encoder_permutes_with_its_tokens(rng, encoder, x):
    order = rng.permutation(T)
    expected = encoder(x).last_hidden_state[:, order]
    found = encoder(x[:, order]).last_hidden_state
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_encoder_drops_only_with_a_generator(rng, disturb, encoder_config, x):
    config = dataclasses.replace(encoder_config, dropout=0.5)
    encoder = disturb(Encoder(config, rng=rng))
    plain = encoder(x).last_hidden_state
    assert_array_equal(plain, encoder(x).last_hidden_state)
    again = [
        encoder(x, rng=np.random.default_rng(s)).last_hidden_state for s in (7, 7, 8)
    ]
    assert_array_equal(again[0], again[1])
    assert (np.abs(again[0] - again[2]) > 1e-3).any()
    assert (np.abs(again[0] - plain) > 1e-3).any()


def test_encoder_leaves_its_input_unchanged(encoder, x):
    before = x.copy()
    encoder(x)
    assert_array_equal(x, before)


def test_encoder_refuses_a_mask_without_all_axes(encoder, x):
    with pytest.raises(ValueError, match="mask must have the 4 axes of the scores"):
        encoder(x, np.ones((B, T), bool))


# text


def test_text_encoder_is_an_encoder_of_its_embeddings(text_encoder, encoder):
    x = text_encoder.embeddings(IDS)
    weights = {
        name: array
        for name, array in parameters(text_encoder).items()
        if not name.startswith("embeddings.")
    }
    for name, array in parameters(encoder).items():
        array[...] = weights.pop(name)
    assert not weights
    expected = encoder(x, MASK.astype(bool)[:, None, None]).last_hidden_state
    assert_array_equal(text_encoder(IDS, MASK).last_hidden_state, expected)


@pytest.mark.parametrize("dtype", [bool, np.int64, np.uint8, np.float32])
def test_text_encoder_takes_masks_as_tokenizers_give_them(text_encoder, dtype):
    found = text_encoder(IDS, MASK.astype(dtype)).last_hidden_state
    assert_array_equal(found, text_encoder(IDS, MASK).last_hidden_state)
    assert (found != text_encoder(IDS).last_hidden_state)[1].any()


def test_text_encoder_passes_segments_on(text_encoder):
    segments = np.ones_like(IDS)
    x = text_encoder(IDS, segment_ids=segments, trace=True).hidden_states[0]
    assert_array_equal(x, text_encoder.embeddings(IDS, segments))


def test_text_encoder_does_not_read_padding(text_encoder):
    other = np.where(MASK == 1, IDS, 17)
    before, after = (text_encoder(i, MASK).last_hidden_state for i in (IDS, other))
    assert_array_equal(after[MASK == 1], before[MASK == 1])


def test_text_encoder_gives_a_sequence_the_same_vectors_padded_or_not(text_encoder):
    padded = text_encoder(IDS, MASK).last_hidden_state[1, :3]
    alone = text_encoder(IDS[1:, :3]).last_hidden_state[0]
    assert_allclose(padded, alone, rtol=1e-9, atol=1e-12)


def test_causal_text_encoder_reads_nothing_to_the_right(rng, disturb, text_config):
    encoder = disturb(TextEncoder(text_config, rng=rng))
    ids = rng.integers(23, size=(2, 7))
    changed = ids.copy()
    changed[:, 4:] = rng.integers(23, size=(2, 3))
    before = encoder(ids, causal=True).last_hidden_state
    after = encoder(changed, causal=True).last_hidden_state
    assert_array_equal(before[:, :4], after[:, :4])
    assert (np.abs(before - encoder(ids).last_hidden_state)[:, 0] > 1e-3).any()


def test_causal_text_encoder_does_not_read_padding_either(rng, disturb, text_config):
    encoder = disturb(TextEncoder(text_config, rng=rng))
    ids, real = rng.integers(23, size=(2, 7)), np.ones((2, 7), int)
    real[0, :2] = 0  # padding on the left, which comes before all others
    before = encoder(ids, real, causal=True, trace=True)
    ids[0, :2] = (ids[0, :2] + 1) % 23
    after = encoder(ids, real, causal=True).last_hidden_state
    assert_array_equal(before.last_hidden_state[0, 2:], after[0, 2:])
    weights = before.attention_weights[0]
    assert_array_equal(weights[0, :, :, :2], 0)
    assert_array_equal(weights[1, :, 0, 1:], 0)


def test_text_encoder_stays_finite_on_a_fully_padded_sequence(text_encoder):
    mask = MASK * [[1], [0]]
    states = text_encoder(IDS, mask).last_hidden_state
    assert np.isfinite(states).all()
    assert_allclose(states[0], text_encoder(IDS[:1]).last_hidden_state[0], rtol=1e-9)


def test_text_encoder_without_positions_is_blind_to_order(rng, disturb, text_config):
    config = dataclasses.replace(text_config, positions="none")
    encoder, order = disturb(TextEncoder(config, rng=rng)), [3, 1, 4, 0, 2]
    found = encoder(IDS[:, order]).last_hidden_state
    expected = encoder(IDS).last_hidden_state[:, order]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_text_encoder_drops_in_its_embeddings_too(rng, text_config):
    config = dataclasses.replace(text_config, dropout=0.5)
    encoder = TextEncoder(config, rng=rng)
    x = encoder(IDS, rng=rng, trace=True).hidden_states[0]
    assert 0.2 < (x == 0).mean() < 0.8


def test_text_encoder_is_float32_from_the_start(rng, text_config):
    output = TextEncoder(text_config, rng=rng)(IDS, MASK, trace=True)
    arrays = *output.hidden_states, *output.attention_weights, output.last_hidden_state
    assert {array.dtype for array in arrays} == {np.dtype("float32")}


def test_text_encoder_has_the_documented_parameter_names(text_encoder):
    names = set(parameters(text_encoder))
    assert {
        "embeddings.W_token",
        "embeddings.W_position",
        "embeddings.W_segment",
        "embeddings.norm.gamma",
        "layers.1.attention.W_q",
        "layers.1.feed_forward.b_2",
        "final_norm.beta",
    } <= names
    assert len(names) == 5 + 2 * 16 + 2


@pytest.mark.parametrize("bad", [2, -1, 0.5, np.nan, -np.inf])
def test_text_encoder_refuses_a_mask_with_other_values(text_encoder, bad):
    mask = MASK.astype(float)
    mask[0, 0] = bad
    with pytest.raises(
        ValueError, match="must be boolean or hold only 0 and 1, with 1"
    ):
        text_encoder(IDS, mask)


def test_text_encoder_refuses_a_mask_of_another_shape(
    without_shape_checks, text_encoder
):
    message = r"attention_mask must have the shape of token_ids, expected \(2, 5\)"
    with pytest.raises(ValueError, match=message):
        text_encoder(IDS, MASK[:, None, None])


# images


def test_image_encoder_is_an_encoder_of_its_patches(rng, disturb, image_config):
    encoder = disturb(ImageEncoder(image_config, rng=rng))
    images = rng.standard_normal((2, 3, 8, 8))
    output = encoder(images, trace=True)
    assert_array_equal(output.hidden_states[0], encoder.embeddings(images))
    x = encoder.embeddings(images)
    for layer in encoder.layers:
        x, _ = layer(x)
    assert_array_equal(output.last_hidden_state, encoder.final_norm(x))


def test_image_encoder_drops_only_with_a_generator(rng, image_config):
    encoder = ImageEncoder(dataclasses.replace(image_config, dropout=0.5), rng=rng)
    images = rng.standard_normal((2, 3, 8, 8)).astype(np.float32)
    plain = encoder(images).last_hidden_state
    assert_array_equal(plain, encoder(images).last_hidden_state)
    assert (plain != encoder(images, rng=rng).last_hidden_state).any()


VIT_NAMES = {
    "embeddings.class_token": "embeddings.cls_token",
    "embeddings.W_position": "embeddings.position_embeddings",
    "W_patch": "patch_embeddings.projection.weight",
    "b_patch": "patch_embeddings.projection.bias",
    "attention.W_": "attention.{}_proj.weight",
    "attention.b_": "attention.{}_proj.bias",
    "feed_forward.W_": "mlp.fc{}.weight",
    "feed_forward.b_": "mlp.fc{}.bias",
    "norm_1": "layernorm_before",
    "norm_2": "layernorm_after",
    "final_norm": "layernorm",
    "gamma": "weight",
    "beta": "bias",
}


def vit_name(name):
    """The name that transformers' ViTModel gives to a parameter of ours."""
    for ours, theirs in VIT_NAMES.items():
        if ours in name:
            if "{}" in theirs:
                name, theirs = name[:-1], theirs.format(name[-1])
            name = name.replace(ours, theirs)
    return name


def test_image_encoder_matches_transformers(rng, disturb, image_config):
    config = transformers.ViTConfig(
        hidden_size=12,
        num_attention_heads=3,
        intermediate_size=11,
        num_hidden_layers=2,
        layer_norm_eps=0.1,
        image_size=8,
        patch_size=4,
        num_channels=3,
    )
    peer = transformers.ViTModel(config, add_pooling_layer=False).double().eval()
    shapes = {name: tensor.shape for name, tensor in peer.state_dict().items()}
    encoder = disturb(ImageEncoder(image_config, rng=rng))
    weights = {vit_name(name): array for name, array in parameters(encoder).items()}
    peer.load_state_dict(
        {
            name: torch.tensor(
                weights[name].T if "weight" in name else weights[name]
            ).reshape(shape)
            for name, shape in shapes.items()
        }
    )
    images = rng.standard_normal((2, 3, 8, 8))
    with torch.no_grad():
        expected = peer(torch.from_numpy(images)).last_hidden_state
    found = encoder(images).last_hidden_state
    assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_image_encoder_keeps_images_apart(rng, disturb, image_config):
    encoder = disturb(ImageEncoder(image_config, rng=rng))
    images = rng.standard_normal((2, 3, 8, 8))
    before = encoder(images).last_hidden_state
    images[1] = rng.standard_normal((3, 8, 8))
    after = encoder(images).last_hidden_state
    assert_allclose(after[0], before[0], rtol=1e-12)
    assert (np.abs(after[1] - before[1]) > 1e-3).any()


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_image_encoder_is_float32_from_the_start(rng, image_config, positions):
    config = dataclasses.replace(image_config, positions=positions)
    images = rng.standard_normal((2, 3, 8, 8)).astype(np.float32)
    output = ImageEncoder(config, rng=rng)(images, trace=True)
    arrays = *output.hidden_states, *output.attention_weights, output.last_hidden_state
    assert {array.dtype for array in arrays} == {np.dtype("float32")}


def test_encoders_take_lists(without_shape_checks, text_encoder, encoder, x):
    found = text_encoder(IDS.tolist(), MASK.tolist(), segment_ids=(0 * IDS).tolist())
    expected = text_encoder(IDS, MASK).last_hidden_state
    assert_array_equal(found.last_hidden_state, expected)
    attended, _ = encoder.layers[0].attention(x.tolist())
    assert_array_equal(attended, encoder.layers[0].attention(x)[0])
    passed = encoder.layers[0].feed_forward(x.tolist())
    assert_array_equal(passed, encoder.layers[0].feed_forward(x))
