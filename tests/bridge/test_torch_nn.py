import copy

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.bridge import from_torch_nn, to_torch, to_torch_nn
from encoderlab.with_torch.masks import padding_mask
from encoderlab.with_torch.normalization import LayerNorm

T, D, H, F = 5, 12, 3, 11
KINDS = {
    "LayerNorm": nn.LayerNorm,
    "MultiHeadAttention": nn.MultiheadAttention,
    "EncoderLayer": nn.TransformerEncoderLayer,
    "Encoder": nn.TransformerEncoder,
}
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
ORDERS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])


@pytest.fixture
def x():
    return torch.randn(2, T, D, dtype=torch.float64)


def run(module, x):
    match module:
        case nn.MultiheadAttention():
            return module(x, x, x)[0]
        case nn.LayerNorm() | LayerNorm():
            return module(x)
        case nn.TransformerEncoderLayer() | nn.TransformerEncoder():
            return module(x)
    return module(x)[0]  # ours give a pair, or more


def new_layer(**options):
    options = {"activation": "gelu", "norm_first": True, **options}
    return nn.TransformerEncoderLayer(D, H, F, batch_first=True, **options)


def new_encoder(layer, norm):
    return nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False)


@pytest.mark.parametrize("kind", KINDS)
def test_to_torch_nn_computes_the_same(make, x, kind):
    ours = to_torch(make(kind))
    theirs = to_torch_nn(ours)
    assert type(theirs) is KINDS[kind]
    assert_close(run(theirs, x), run(ours, x), **TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
def test_to_torch_nn_takes_numpy_layers(make, x, kind):
    layer = make(kind)
    expected = to_torch_nn(to_torch(layer))
    theirs = to_torch_nn(layer)
    assert not theirs.training
    assert_close(theirs.state_dict(), expected.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_from_torch_nn_undoes_to_torch_nn(make, kind):
    ours = to_torch(make(kind))
    back = from_torch_nn(to_torch_nn(ours))
    assert type(back) is type(ours)
    assert_close(back.state_dict(), ours.state_dict(), rtol=0, atol=0)


def test_to_torch_nn_packs_queries_keys_and_values(make):
    layer = make("MultiHeadAttention")
    packed = to_torch_nn(layer).in_proj_weight.detach().numpy()
    for i, name in enumerate("qkv"):
        assert (packed[i * D : (i + 1) * D] == getattr(layer, f"W_{name}").T).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("training", [True, False])
def test_bridge_keeps_the_mode_and_copies(make, kind, training):
    ours = to_torch(make(kind)).train(training)
    before = copy.deepcopy(ours.state_dict())
    theirs = to_torch_nn(ours)
    back = from_torch_nn(theirs)
    for module in (theirs, back):
        assert {part.training for part in module.modules()} == {training}
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(1)
    for module in (ours, back):
        assert_close(module.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_bridge_keeps_the_dtype(make, dtype):
    theirs = to_torch_nn(to_torch(make("Encoder")).to(dtype))
    assert {p.dtype for p in theirs.parameters()} == {dtype}
    assert {p.dtype for p in from_torch_nn(theirs).parameters()} == {dtype}


@ORDERS
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu"])
def test_bridge_passes_every_option_on(make, x, norm_first, activation):
    options = {"norm_first": norm_first, "activation": activation, "dropout": 0.3}
    ours = to_torch(make("EncoderLayer", **options))
    theirs = to_torch_nn(ours)
    assert_close(run(theirs, x), run(ours, x), **TOLERANCE)
    assert theirs.norm_first is norm_first
    assert theirs.norm1.eps == theirs.norm2.eps == 0.1
    drops = theirs.dropout, theirs.dropout1, theirs.dropout2
    assert {theirs.self_attn.dropout, *(drop.p for drop in drops)} == {0.3}
    back = from_torch_nn(theirs)
    assert back.norm_first is norm_first
    assert back.feed_forward.activation == activation
    parts = back, back.attention, back.feed_forward
    assert [part.dropout for part in parts] == 3 * [0.3]
    assert back.norm_1.eps == back.norm_2.eps == 0.1


@ORDERS
def test_bridge_passes_the_options_of_an_encoder_on(make, x, norm_first):
    ours = to_torch(make("Encoder", norm_first=norm_first, dropout=0.3))
    theirs = to_torch_nn(ours)
    assert len(theirs.layers) == 2
    assert (theirs.norm is not None) == norm_first
    back = from_torch_nn(theirs)
    assert back.config == ours.config
    assert_close(run(back, x), run(ours, x), rtol=0, atol=0)


def test_from_torch_nn_takes_modules_as_they_are_made(x):
    for module in (
        nn.LayerNorm(D, 0.2),
        nn.MultiheadAttention(D, H, batch_first=True),
        new_layer(activation="relu"),
        new_layer(activation=nn.GELU(approximate="tanh"), norm_first=False),
        new_encoder(new_layer(), nn.LayerNorm(D)),
        new_encoder(new_layer(norm_first=False), None),
    ):
        theirs = module.double().eval()
        for parameter in theirs.parameters():
            nn.init.normal_(parameter, 0.1, 0.5)
        assert_close(run(from_torch_nn(theirs), x), run(theirs, x), **TOLERANCE)


@ORDERS
def test_fast_path_of_torch_computes_the_same(make, x, norm_first):
    # without gradients, in evaluation, it runs a kernel of its own for the layer
    ours = to_torch(make("Encoder", norm_first=norm_first)).float()
    padding = ~padding_mask([3, 5], T)[:, 0, 0]
    with torch.inference_mode():
        expected = to_torch_nn(ours)(x.float(), src_key_padding_mask=padding)
        found = ours(x.float(), padding_mask([3, 5], T)).last_hidden_state
    assert_close(found[~padding], expected[~padding], rtol=1e-4, atol=1e-4)


def test_to_torch_nn_refuses_what_torch_does_not_have(make):
    for kind in ("TextEncoder", "ImageEncoder", "FeedForward", "RMSNorm"):
        message = f"MultiHeadAttention, EncoderLayer or Encoder, got {kind}"
        with pytest.raises(TypeError, match=message):
            to_torch_nn(make(kind))
    with pytest.raises(TypeError, match=r"a layer of encoderlab\.with_numpy"):
        to_torch_nn("an encoder")


@pytest.mark.parametrize("module", [nn.Linear(2, 3), nn.RMSNorm(4)])
def test_from_torch_nn_refuses_what_ours_does_not_have(module):
    message = f"ours has no counterpart of {type(module).__name__}"
    with pytest.raises(TypeError, match=message):
        from_torch_nn(module)


@pytest.mark.parametrize(
    "module",
    [
        nn.LayerNorm((T, D)),
        nn.LayerNorm(D, elementwise_affine=False),
        nn.LayerNorm(D, bias=False),
    ],
)
def test_from_torch_nn_refuses_other_norms(module):
    message = "a LayerNorm over the last axis alone, with weight and bias, got LayerN"
    with pytest.raises(ValueError, match=message):
        from_torch_nn(module)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_first": False}, "batch_first=False, and ours takes the batch first"),
        ({"bias": False}, "bias=False, and ours has biases"),
        ({"kdim": 7}, "kdim or vdim, and ours attends to the tokens themselves"),
        ({"vdim": 7}, "kdim or vdim, and ours attends to the tokens themselves"),
        ({"add_bias_kv": True}, "add_bias_kv=True, and ours adds no key"),
        ({"add_zero_attn": True}, "add_zero_attn=True, and ours adds no key"),
    ],
)
def test_from_torch_nn_refuses_other_attention(options, message):
    module = nn.MultiheadAttention(D, H, **{"batch_first": True, **options})
    with pytest.raises(ValueError, match=f"the attention was made with {message}"):
        from_torch_nn(module)


def another_rate(layer):
    layer.dropout1.p = 0.4


def another_eps(layer):
    layer.norm2.eps = 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (another_rate, r"one rate of dropout, the layer has \[0\.1, 0\.4\]"),
        (another_eps, r"ours has one eps, the layer has 1e-05 and 0\.5"),
    ],
)
def test_from_torch_nn_refuses_a_layer_of_two_minds(change, message):
    layer = new_layer()
    change(layer)
    with pytest.raises(ValueError, match=message):
        from_torch_nn(layer)


def test_from_torch_nn_refuses_a_layer_without_biases():
    with pytest.raises(ValueError, match="bias=False, and ours has biases"):
        from_torch_nn(new_layer(bias=False))


@pytest.mark.parametrize("activation", [torch.tanh, nn.ELU()])
def test_from_torch_nn_refuses_another_activation(activation):
    message = "activation, .*, is none of ours: relu, gelu, gelu_tanh, silu"
    with pytest.raises(ValueError, match=message):
        from_torch_nn(new_layer(activation=activation))


@pytest.mark.parametrize(
    ("norm_first", "norm", "message"),
    [
        (True, None, "pre-norm with no final norm; ours has one in pre-norm alone"),
        (False, nn.LayerNorm(D), "post-norm with a final norm; ours has one in pre-no"),
        (True, nn.LayerNorm(D, 0.5), r"layers have 1e-05 and its final norm 0\.5"),
        (True, nn.RMSNorm(D), "must be a LayerNorm over the last axis .*, got RMSNorm"),
    ],
)
def test_from_torch_nn_refuses_an_encoder_with_another_end(norm_first, norm, message):
    with pytest.raises(ValueError, match=message):
        from_torch_nn(new_encoder(new_layer(norm_first=norm_first), norm))


def test_from_torch_nn_refuses_an_encoder_of_mixed_layers():
    encoder = new_encoder(new_layer(), nn.LayerNorm(D))
    encoder.layers[1] = new_layer(activation="relu")
    with pytest.raises(ValueError, match="layers of one kind, the encoder's options"):
        from_torch_nn(encoder)
