"""One set of weights three ways: our NumPy, our PyTorch and ``torch.nn``.

Outputs agree to 1e-12 and gradients to 1e-10, of the largest value, in float64. The
gradients are our hand-made ones, those of autograd through our modules, and those of
autograd through PyTorch's own.
"""

import copy

import numpy as np
import pytest
import torch
from torch.autograd import grad

from encoderlab.bridge import (
    from_torch_nn,
    to_arrays,
    to_torch,
    to_torch_nn,
    to_torch_nn_mask,
)
from encoderlab.with_numpy import gradients as by_hand
from encoderlab.with_numpy.masks import causal_mask, padding_mask
from encoderlab.with_torch import attention as torch_attention
from encoderlab.with_torch import functional, loss, normalization, pooling

OUTPUT_BOUND, GRADIENT_BOUND = 1e-12, 1e-10
# below this a gradient is rounding alone: that of the keys' bias, which shifts all
# scores of a query alike, is 0
ROUNDING = 1e-12
H, D = 3, 12
IDS = np.array([[4, 0, 4, 4, 6], [1, 4, 0, 2, 22]])
SEGMENTS = np.array([[0, 0, 1, 1, 1], [0, 2, 2, 0, 0]])
REAL = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])

ORDERS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
SIZES = pytest.mark.parametrize(
    ("B", "T"), [(2, 5), (1, 7), (4, 1), (3, 17)], ids=lambda n: str(n)
)
MASKS = pytest.mark.parametrize("mask", ["all", "padded", "causal", "both", "per head"])


def assert_agree(found, expected, bound, name=""):
    """Two arrays differ by no more than a share of the largest value."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape, name
    largest = np.abs(expected).max()
    assert np.abs(found - expected).max() <= max(bound * largest, ROUNDING), name


def assert_all_agree(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert_agree(found[name], array, GRADIENT_BOUND, name)


def new_mask(kind, B, T, rng, H=H):
    """A mask (B, H, T, T) in which every query sees something: torch.nn needs it."""
    padded = padding_mask(rng.integers(1, T + 1, B), T)
    mask = {
        "all": np.ones((1, 1, 1, T), bool),
        "padded": padded,
        "causal": causal_mask(T),
        "both": padded & causal_mask(T),
        "per head": (rng.random((B, H, T, T)) < 0.5) | np.eye(T, dtype=bool),
    }[kind]
    return np.array(np.broadcast_to(mask, (B, H, T, T)))


def of_numpy(vjp, layer, upstream, *inputs, **options):
    output, backward = vjp(layer, *inputs, **options)
    d_input, found = backward(upstream)
    return output, {**found, "input": d_input}


def of_torch(module, upstream, output, x):
    """The gradients of our modules and PyTorch's under NumPy's names."""
    output.backward(torch.from_numpy(upstream))
    found = copy.deepcopy(module)
    for copied, parameter in zip(found.parameters(), module.parameters(), strict=True):
        copied.data = parameter.grad
    if type(module).__module__.startswith("torch."):
        found = from_torch_nn(found)
    return output.detach(), {**to_arrays(found), "input": x.grad}


VJPS = {
    "MultiHeadAttention": by_hand.multi_head_attention_vjp,
    "EncoderLayer": by_hand.encoder_layer_vjp,
    "Encoder": by_hand.encoder_vjp,
}


def assert_three_ways_agree(layer, x, upstream, allowed):
    kind = type(layer).__name__
    mask = torch.from_numpy(allowed)
    ways = [of_numpy(VJPS[kind], layer, upstream, x, mask=allowed)]
    for need_weights in (True, False):
        module, x_ = to_torch(layer), torch.tensor(x, requires_grad=True)
        name = "trace" if kind == "Encoder" else "need_weights"
        output, *_ = module(x_, mask, **{name: need_weights})
        ways.append(of_torch(module, upstream, output, x_))
    theirs, x_ = to_torch_nn(layer), torch.tensor(x, requires_grad=True)
    hidden = to_torch_nn_mask(mask, mask.shape[1], mask.shape[2])
    if kind == "MultiHeadAttention":
        output, _ = theirs(x_, x_, x_, attn_mask=hidden)
    else:
        output = theirs(x_, hidden)
    expected, gradients = of_torch(theirs, upstream, output, x_)
    for found, found_gradients in ways:
        assert_agree(found, expected, OUTPUT_BOUND)
        assert_all_agree(found_gradients, gradients)


@SIZES
@MASKS
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("MultiHeadAttention", {}),
        ("EncoderLayer", {"norm_first": True}),
        ("EncoderLayer", {"norm_first": False}),
        ("Encoder", {"norm_first": True}),
        ("Encoder", {"norm_first": False}),
    ],
    ids=["attention", "layer-pre", "layer-post", "encoder-pre", "encoder-post"],
)
def test_layers_agree_three_ways(make, rng, kind, options, mask, B, T):
    x, upstream = rng.standard_normal((2, B, T, D))
    allowed = new_mask(mask, B, T, rng)
    assert_three_ways_agree(make(kind, **options), x, upstream, allowed)


@ORDERS
@pytest.mark.parametrize(
    ("d_model", "num_heads", "d_ff", "num_layers"),
    [(4, 1, 9, 1), (20, 5, 7, 3), (64, 2, 96, 4)],
)
def test_encoders_of_other_sizes_agree_three_ways(
    make, rng, norm_first, d_model, num_heads, d_ff, num_layers
):
    sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff}
    encoder = make("Encoder", norm_first=norm_first, num_layers=num_layers, **sizes)
    x, upstream = rng.standard_normal((2, 2, 6, d_model))
    allowed = new_mask("per head", 2, 6, rng, num_heads)
    assert_three_ways_agree(encoder, x, upstream, allowed)


@ORDERS
@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu"])
@MASKS
def test_every_sublayer_agrees_three_ways(make, rng, norm_first, activation, mask):
    B, T = 2, 5
    layer = make("EncoderLayer", norm_first=norm_first, activation=activation)
    ours, theirs = to_torch(layer), to_torch_nn(layer)
    allowed = new_mask(mask, B, T, rng)
    mask_ = torch.from_numpy(allowed)
    x = rng.standard_normal((B, T, D))
    x_ = torch.from_numpy(x)

    def agree(in_numpy, in_ours, in_torch_nn):
        expected = in_torch_nn.detach()
        assert_agree(in_numpy, expected, OUTPUT_BOUND)
        assert_agree(in_ours.detach(), expected, OUTPUT_BOUND)

    for name, other in (("norm_1", theirs.norm1), ("norm_2", theirs.norm2)):
        agree(getattr(layer, name)(x), getattr(ours, name)(x_), other(x_))
    attended, weights = theirs.self_attn(
        x_,
        x_,
        x_,
        attn_mask=to_torch_nn_mask(mask_, H, T),
        average_attn_weights=False,
    )
    in_numpy = layer.attention(x, allowed)
    in_ours = ours.attention(x_, mask_, need_weights=True)
    agree(in_numpy[0], in_ours[0], attended)
    agree(in_numpy[1], in_ours[1], weights)
    changed = theirs.linear2(theirs.activation(theirs.linear1(x_)))
    agree(layer.feed_forward(x), ours.feed_forward(x_), changed)
    agree(
        layer(x, allowed)[0],
        ours(x_, mask_)[0],
        theirs(x_, to_torch_nn_mask(mask_, H, T)),
    )


@ORDERS
def test_every_layer_of_an_encoder_agrees_three_ways(make, rng, norm_first):
    encoder = make("Encoder", norm_first=norm_first)
    allowed = new_mask("both", 2, 5, rng)
    mask_ = torch.from_numpy(allowed)
    x = rng.standard_normal((2, 5, D))
    in_numpy = encoder(x, allowed, trace=True)
    in_ours = to_torch(encoder)(torch.from_numpy(x), mask_, trace=True)
    state, theirs = torch.from_numpy(x), to_torch_nn(encoder)
    for i, layer in enumerate(theirs.layers):
        state = layer(state, to_torch_nn_mask(mask_, H, 5))
        expected = state.detach()
        assert_agree(in_numpy.hidden_states[i + 1], expected, OUTPUT_BOUND)
        assert_agree(in_ours.hidden_states[i + 1].detach(), expected, OUTPUT_BOUND)
        ours = in_ours.attention_weights[i].detach()
        assert_agree(ours, in_numpy.attention_weights[i], OUTPUT_BOUND)


# what torch.nn does not have


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", VJPS)
def test_queries_with_nothing_to_see_agree_with_numpy(make, rng, kind, need_weights):
    layer = make(kind)
    x, upstream = rng.standard_normal((2, 2, 5, D))
    allowed = rng.random((2, H, 5, 5)) < 0.4
    allowed[1, 0] = False
    expected, gradients = of_numpy(VJPS[kind], layer, upstream, x, mask=allowed)
    module, x_ = to_torch(layer), torch.tensor(x, requires_grad=True)
    name = "trace" if kind == "Encoder" else "need_weights"
    output = module(x_, torch.from_numpy(allowed), **{name: need_weights})[0]
    found, found_gradients = of_torch(module, upstream, output, x_)
    assert_agree(found, expected, OUTPUT_BOUND)
    assert_all_agree(found_gradients, gradients)


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu"])
def test_feed_forward_agrees_with_numpy(make, rng, activation):
    layer = make("FeedForward", activation=activation)
    x, upstream = rng.standard_normal((2, 2, 5, D))
    expected, gradients = of_numpy(by_hand.feed_forward_vjp, layer, upstream, x)
    module, x_ = to_torch(layer), torch.tensor(x, requires_grad=True)
    found, found_gradients = of_torch(module, upstream, module(x_), x_)
    assert_agree(found, expected, OUTPUT_BOUND)
    assert_all_agree(found_gradients, gradients)


def test_norm_agrees_three_ways(make, rng):
    layer = make("LayerNorm")
    x, upstream = rng.standard_normal((2, 2, 5, D))
    found = [of_numpy(by_hand.norm_vjp, layer, upstream, x)]
    for module in (to_torch(layer), to_torch_nn(layer)):
        x_ = torch.tensor(x, requires_grad=True)
        found.append(of_torch(module, upstream, module(x_), x_))
    for output, gradients in found[:2]:
        assert_agree(output, found[2][0], OUTPUT_BOUND)
        assert_all_agree(gradients, found[2][1])


POSITIONS = pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])


@ORDERS
@POSITIONS
@pytest.mark.parametrize("causal", [True, False])
def test_text_encoder_agrees_with_numpy(make, rng, norm_first, positions, causal):
    layer = make("TextEncoder", norm_first=norm_first, positions=positions)
    options = {"attention_mask": REAL, "segment_ids": SEGMENTS}
    upstream = rng.standard_normal((2, 5, D))
    expected, gradients = of_numpy(
        by_hand.text_encoder_vjp, layer, upstream, IDS, causal=causal, **options
    )
    module = to_torch(layer)
    tensors = {name: torch.from_numpy(array) for name, array in options.items()}
    output = module(torch.from_numpy(IDS), causal=causal, **tensors)
    no_input = torch.zeros(0)
    found, found_gradients = of_torch(
        module, upstream, output.last_hidden_state, no_input
    )
    assert gradients.pop("input") is found_gradients.pop("input") is None
    assert_agree(found, expected, OUTPUT_BOUND)
    assert_all_agree(found_gradients, gradients)


@ORDERS
@POSITIONS
def test_image_encoder_agrees_with_numpy(make, rng, norm_first, positions):
    layer = make("ImageEncoder", norm_first=norm_first, positions=positions)
    images, upstream = rng.standard_normal((2, 3, 8, 8)), rng.standard_normal((2, 5, D))
    expected, gradients = of_numpy(by_hand.image_encoder_vjp, layer, upstream, images)
    module, images_ = to_torch(layer), torch.tensor(images, requires_grad=True)
    output = module(images_).last_hidden_state
    found, found_gradients = of_torch(module, upstream, output, images_)
    assert_agree(found, expected, OUTPUT_BOUND)
    assert_all_agree(found_gradients, gradients)


def test_token_classifier_agrees_with_numpy(make, rng):
    layer = make("TokenClassifier")
    upstream = rng.standard_normal((2, 5, 4))
    expected, gradients = of_numpy(
        by_hand.token_classifier_vjp, layer, upstream, IDS, REAL
    )
    module = to_torch(layer)
    output = module(torch.from_numpy(IDS), torch.from_numpy(REAL))
    found, found_gradients = of_torch(module, upstream, output, torch.zeros(0))
    assert gradients.pop("input") is found_gradients.pop("input") is None
    assert_agree(found, expected, OUTPUT_BOUND)
    assert_all_agree(found_gradients, gradients)


# functions without parameters


def attend(need_weights, masked):
    def attend(q, k, v):
        mask = torch.from_numpy(HALF) if masked else None
        return torch_attention.attention(q, k, v, mask, need_weights=need_weights)[0]

    return attend


HALF = np.random.default_rng(3).random((2, 5, 7)) < 0.5
HALF[1, 2] = False
TARGETS = np.array([3, 0, -1, 6])
QKV = [(2, 5, 4), (2, 7, 4), (2, 7, 6)]
FUNCTIONS = {
    "relu": (by_hand.relu_vjp, functional.relu, [(5, 7)]),
    "silu": (by_hand.silu_vjp, functional.silu, [(5, 7)]),
    "gelu": (by_hand.gelu_vjp, functional.gelu, [(5, 7)]),
    "gelu_tanh": (by_hand.gelu_tanh_vjp, functional.gelu_tanh, [(5, 7)]),
    "softmax": (by_hand.softmax_vjp, functional.softmax, [(5, 7)]),
    "log_softmax": (
        by_hand.log_softmax_vjp,
        lambda x: functional.log_softmax(x, -1),
        [(5, 7)],
    ),
    "masked_softmax": (
        lambda x: by_hand.masked_softmax_vjp(x, HALF),
        lambda x: functional.masked_softmax(x, torch.from_numpy(HALF)),
        [(2, 5, 7)],
    ),
    "layer_norm": (
        by_hand.layer_norm_vjp,
        normalization.layer_norm,
        [(2, 5, 7), (7,), (7,)],
    ),
    "rms_norm": (by_hand.rms_norm_vjp, normalization.rms_norm, [(2, 5, 7), (7,)]),
    "attention": (by_hand.attention_vjp, attend(True, False), QKV),
    "attention, fused": (by_hand.attention_vjp, attend(False, False), QKV),
    "masked attention": (
        lambda q, k, v: by_hand.attention_vjp(q, k, v, HALF),
        attend(True, True),
        QKV,
    ),
    "masked attention, fused": (
        lambda q, k, v: by_hand.attention_vjp(q, k, v, HALF),
        attend(False, True),
        QKV,
    ),
    "mean_pool": (
        lambda x: by_hand.mean_pool_vjp(x, REAL == 1),
        lambda x: pooling.mean_pool(x, torch.from_numpy(REAL == 1)),
        [(2, 5, 7)],
    ),
    "cross_entropy": (
        lambda x: by_hand.cross_entropy_vjp(
            x, TARGETS, ignore_index=-1, label_smoothing=0.1
        ),
        lambda x: loss.cross_entropy(
            x, torch.from_numpy(TARGETS), ignore_index=-1, label_smoothing=0.1
        ),
        [(4, 7)],
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_their_gradients_agree_with_numpy(rng, name):
    vjp, function, shapes = FUNCTIONS[name]
    arrays = [rng.standard_normal(shape) for shape in shapes]
    expected, backward = vjp(*arrays)
    upstream = rng.standard_normal(np.shape(expected))
    gradients = backward(upstream)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    found = function(*tensors)
    assert_agree(found.detach(), expected, OUTPUT_BOUND)
    found_gradients = grad(found, tensors, torch.as_tensor(upstream))
    for ours, other in zip(found_gradients, gradients, strict=True):
        assert_agree(ours, other, GRADIENT_BOUND)
