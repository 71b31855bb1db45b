import dataclasses

import pytest
import torch
import transformers
from torch.testing import assert_close

from encoderlab.with_torch.encoder import Encoder, ImageEncoder, TextEncoder
from encoderlab.with_torch.masks import padding_mask

B, T, D = 2, 5, 12
ORDERS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
IDS = torch.tensor([[5, 0, 22, 5, 7], [1, 2, 3, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def x():
    return torch.randn(B, T, D, dtype=torch.float64)


@pytest.fixture
def images():
    return torch.randn(2, 3, 8, 8, dtype=torch.float64)


@pytest.fixture
def encoder(disturb, encoder_config):
    return disturb(Encoder(encoder_config))


@pytest.fixture
def text_encoder(disturb, text_config):
    return disturb(TextEncoder(text_config))


# the stack


@ORDERS
def test_encoder_runs_its_layers_one_after_another(
    disturb, encoder_config, x, norm_first
):
    config = dataclasses.replace(encoder_config, norm_first=norm_first)
    encoder, mask = disturb(Encoder(config)), padding_mask([3, 5], T)
    expected = encoder.layers[1](encoder.layers[0](x, mask)[0], mask)[0]
    assert (encoder.final_norm is not None) == norm_first
    if norm_first:
        expected = encoder.final_norm(expected)
    assert_close(encoder(x, mask).last_hidden_state, expected, rtol=0, atol=0)


def test_encoder_traces_only_when_asked(encoder, x):
    plain, traced = encoder(x), encoder(x, trace=True)
    assert plain.hidden_states is plain.attention_weights is None
    assert_close(traced.last_hidden_state, plain.last_hidden_state, **TOLERANCE)
    assert traced.hidden_states[0] is x
    assert [state.shape for state in traced.hidden_states] == 3 * [(B, T, D)]
    assert [w.shape for w in traced.attention_weights] == 2 * [(B, 3, T, T)]
    last = encoder.final_norm(traced.hidden_states[-1])
    assert_close(traced.last_hidden_state, last, rtol=0, atol=0)
    _, weights = encoder.layers[1](traced.hidden_states[1], need_weights=True)
    assert_close(traced.attention_weights[1], weights, rtol=0, atol=0)


def test_encoder_passes_every_option_on(encoder_config):
    options = {"norm_first": False, "activation": "relu", "eps": 0.2, "dropout": 0.3}
    encoder = Encoder(dataclasses.replace(encoder_config, **options))
    for layer in encoder.layers:
        assert layer.norm_first is False
        assert layer.feed_forward.activation == "relu"
        assert layer.norm_1.eps == layer.norm_2.eps == 0.2
        parts = layer, layer.attention, layer.feed_forward
        assert [part.dropout for part in parts] == 3 * [0.3]
    assert Encoder(encoder_config).final_norm.eps == 0.1


def test_encoder_layers_have_their_own_weights(encoder_config):
    encoder = Encoder(encoder_config)
    first, second = (layer.attention.q_proj.weight for layer in encoder.layers)
    assert (first != second).all()
    layer = 4 * (D * D + D) + (D * 11 + 11) + (11 * D + D) + 4 * D
    assert sum(p.numel() for p in encoder.parameters()) == 2 * layer + 2 * D


def test_encoder_masks_every_layer(encoder, x):
    weights = encoder(x, padding_mask([3, 5], T), trace=True).attention_weights
    assert not any(w[0, :, :, 3:].any() for w in weights)


@pytest.mark.parametrize("trace", [True, False])
def test_encoder_of_a_fully_padded_sequence_stays_finite(encoder, x, trace):
    output = encoder(x, padding_mask([0, 5], T), trace=trace)
    state = output.last_hidden_state
    assert_close(state[1], encoder(x).last_hidden_state[1], **TOLERANCE)
    state.sum().backward()
    assert state.isfinite().all()
    assert all(p.grad.isfinite().all() for p in encoder.parameters())


def test_encoder_drops_in_training_alone(disturb, encoder_config, x):
    encoder = disturb(Encoder(dataclasses.replace(encoder_config, dropout=0.5)))
    plain = disturb(Encoder(encoder_config))(x).last_hidden_state
    assert_close(encoder.eval()(x).last_hidden_state, plain, rtol=0, atol=0)
    first, second = (encoder.train()(x).last_hidden_state for _ in range(2))
    assert (first - second).abs().max() > 1e-3


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64]
)
@pytest.mark.parametrize("trace", [True, False])
def test_encoder_keeps_the_dtype(encoder, x, dtype, trace):
    mask = padding_mask([3, 5], T)
    expected = encoder(x, mask).last_hidden_state
    output = encoder.to(dtype)(x.to(dtype), mask, trace=trace)
    tensors = [output.last_hidden_state]
    tensors += [*output.hidden_states, *output.attention_weights] if trace else []
    assert {tensor.dtype for tensor in tensors} == {dtype}
    error = 128 * torch.finfo(dtype).eps * expected.abs().max()
    assert (output.last_hidden_state - expected).abs().max() < error


def test_encoder_refuses_a_mask_without_all_axes(encoder, x):
    with pytest.raises(ValueError, match="mask must have the 4 axes of the scores"):
        encoder(x, torch.ones(B, T) == 1)


# its state


def test_state_of_an_encoder_goes_through_a_file(text_encoder, text_config, tmp_path):
    torch.save(text_encoder.state_dict(), tmp_path / "state.pt")
    other = TextEncoder(text_config).double()
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    expected = text_encoder(IDS, MASK).last_hidden_state
    assert_close(other(IDS, MASK).last_hidden_state, expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("final_norm.bias"), 'Missing key.*"final_norm.bias"'),
        (lambda s: s.update(pooler=torch.ones(2)), 'Unexpected key.*"pooler"'),
        (
            lambda s: s.update({"embeddings.token.weight": torch.ones(12, 23)}),
            "size mismatch for embeddings.token.weight",
        ),
    ],
)
def test_state_that_does_not_fit_is_refused(text_encoder, change, message):
    state = dict(text_encoder.state_dict())
    change(state)
    with pytest.raises(RuntimeError, match=rf"(?s){message}"):
        text_encoder.load_state_dict(state)


def test_state_has_the_documented_names(text_encoder):
    names = set(text_encoder.state_dict())
    assert names == {name for name, _ in text_encoder.named_parameters()}
    assert {
        "embeddings.token.weight",
        "embeddings.position.weight",
        "embeddings.segment.weight",
        "embeddings.norm.bias",
        "layers.1.attention.q_proj.weight",
        "layers.1.attention.out_proj.bias",
        "layers.0.feed_forward.linear_2.weight",
        "layers.0.norm_1.weight",
        "final_norm.bias",
    } <= names
    assert len(names) == 5 + 2 * 16 + 2


@ORDERS
@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_every_parameter_gets_a_gradient(
    disturb, text_config, image_config, images, norm_first, positions
):
    options = {"norm_first": norm_first, "positions": positions}
    reader = disturb(TextEncoder(dataclasses.replace(text_config, **options)))
    viewer = disturb(ImageEncoder(dataclasses.replace(image_config, **options)))
    for model, inputs in ((reader, (IDS, MASK)), (viewer, (images,))):
        state = model(*inputs).last_hidden_state
        state.backward(torch.randn_like(state))
        for name, parameter in model.named_parameters():
            gradient = parameter.grad.abs().max()
            if name.endswith("k_proj.bias"):  # shifts all scores of a row alike
                assert gradient < 1e-10
            else:
                assert gradient > 1e-4, name


# text


def test_text_encoder_is_an_encoder_of_its_embeddings(text_encoder, encoder):
    state = text_encoder.state_dict()
    encoder.load_state_dict({name: state[name] for name in encoder.state_dict()})
    x = text_encoder.embeddings(IDS)
    expected = encoder(x, MASK.bool()[:, None, None]).last_hidden_state
    found = text_encoder(IDS, MASK).last_hidden_state
    assert_close(found, expected, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.float32])
def test_text_encoder_takes_masks_as_tokenizers_give_them(
    without_shape_checks, text_encoder, dtype
):
    found = text_encoder(IDS, MASK.to(dtype)).last_hidden_state
    expected = text_encoder(IDS, MASK).last_hidden_state
    assert_close(found, expected, rtol=0, atol=0)
    assert (found != text_encoder(IDS).last_hidden_state)[1].any()


def test_text_encoder_passes_segments_on(text_encoder):
    segments = torch.ones_like(IDS)
    x = text_encoder(IDS, segment_ids=segments, trace=True).hidden_states[0]
    assert_close(x, text_encoder.embeddings(IDS, segments), rtol=0, atol=0)


def test_text_encoder_does_not_read_padding(text_encoder):
    other = torch.where(MASK == 1, IDS, 17)
    before, after = (text_encoder(i, MASK).last_hidden_state for i in (IDS, other))
    real = MASK == 1
    assert_close(after[real], before[real], rtol=0, atol=0)


def test_text_encoder_gives_a_sequence_the_same_vectors_padded_or_not(text_encoder):
    padded = text_encoder(IDS, MASK).last_hidden_state[1, :3]
    alone = text_encoder(IDS[1:, :3]).last_hidden_state[0]
    assert_close(padded, alone, rtol=1e-10, atol=1e-12)


def test_causal_text_encoder_reads_nothing_to_the_right(text_encoder):
    changed = IDS.clone()
    changed[:, 3:] = 9
    before = text_encoder(IDS, causal=True, trace=True)
    after = text_encoder(changed, causal=True, trace=True)
    state = before.last_hidden_state
    assert_close(after.last_hidden_state[:, :3], state[:, :3], rtol=0, atol=0)
    assert (state - text_encoder(IDS).last_hidden_state)[:, 0].abs().max() > 1e-3
    for weights in before.attention_weights:
        assert not weights.triu(1).any()


def test_causal_text_encoder_does_not_read_padding_either(text_encoder):
    left = MASK.flip(1)
    weights = text_encoder(IDS, left, causal=True, trace=True).attention_weights[0]
    assert not weights.triu(1).any()
    assert not weights[1, :, :, :2].any()
    assert (weights[1, :, 2:, 2] > 0).all()


def test_text_encoder_drops_in_its_embeddings_too(text_config):
    encoder = TextEncoder(dataclasses.replace(text_config, dropout=0.5))
    x = encoder.train()(IDS, trace=True).hidden_states[0]
    assert 0.2 < (x == 0).double().mean() < 0.8


@pytest.mark.parametrize("bad", [2, -1, 0.5, torch.nan, -torch.inf])
def test_text_encoder_refuses_a_mask_with_other_values(
    without_shape_checks, text_encoder, bad
):
    mask = MASK.double()
    mask[0, 0] = bad
    message = "must be boolean or hold only 0 and 1, with 1"
    with pytest.raises(ValueError, match=message):
        text_encoder(IDS, mask)


def test_text_encoder_refuses_a_mask_of_another_shape(
    without_shape_checks, text_encoder
):
    message = r"attention_mask must have the shape of token_ids, expected \(2, 5\), got"
    with pytest.raises(ValueError, match=message):
        text_encoder(IDS, MASK[:, None, None])


# images


def test_image_encoder_is_an_encoder_of_its_patches(disturb, image_config, images):
    encoder = disturb(ImageEncoder(image_config))
    output = encoder(images, trace=True)
    x = encoder.embeddings(images)
    assert_close(output.hidden_states[0], x, rtol=0, atol=0)
    for layer in encoder.layers:
        x, _ = layer(x, need_weights=True)
    assert_close(output.last_hidden_state, encoder.final_norm(x), rtol=0, atol=0)


VIT_NAMES = {
    "embeddings.class_token": "embeddings.cls_token",
    "embeddings.position.weight": "embeddings.position_embeddings",
    "embeddings.patch_proj": "embeddings.patch_embeddings.projection",
    "attention.out_proj": "attention.o_proj",
    "feed_forward.linear_": "mlp.fc",
    "norm_1": "layernorm_before",
    "norm_2": "layernorm_after",
    "final_norm": "layernorm",
}


def test_image_encoder_matches_transformers(disturb, image_config, images):
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
    encoder = disturb(ImageEncoder(image_config))
    shapes = {name: tensor.shape for name, tensor in peer.state_dict().items()}
    weights = {}
    for name, tensor in encoder.state_dict().items():
        for ours, theirs in VIT_NAMES.items():
            name = name.replace(ours, theirs)
        weights[name] = tensor.reshape(shapes[name])
    peer.load_state_dict(weights)
    found = encoder(images).last_hidden_state
    assert_close(found, peer(images).last_hidden_state, **TOLERANCE)
