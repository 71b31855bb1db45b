import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from encoderlab import with_torch
from encoderlab.bridge import to_arrays, to_numpy, to_torch
from encoderlab.bridge.numpy_torch import FILES, numpy_name
from encoderlab.with_numpy.parameters import cast, parameters
from encoderlab.with_torch.encoder import TextEncoder
from encoderlab.with_torch.heads import MaskedLanguageModel, SequenceClassifier
from encoderlab.with_torch.normalization import LayerNorm

KINDS = pytest.mark.parametrize("kind", FILES)


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@KINDS
def test_to_torch_gives_the_module_of_the_same_name(make, kind):
    layer = make(kind)
    module = to_torch(layer)
    assert type(module).__name__ == kind
    assert type(module).__module__.startswith(with_torch.__name__)
    assert not any(part.training for part in module.modules())
    assert_same(to_arrays(module), parameters(layer))


@KINDS
def test_to_numpy_undoes_to_torch(make, kind):
    layer = make(kind)
    back = to_numpy(to_torch(layer))
    assert type(back) is type(layer)
    assert_same(parameters(back), parameters(layer))


@KINDS
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_bridge_keeps_the_dtype(make, kind, dtype):
    module = to_torch(cast(make(kind), dtype))
    expected = torch.from_numpy(np.zeros(1, dtype)).dtype
    assert {p.dtype for p in module.parameters()} == {expected}
    arrays = parameters(to_numpy(module)).values()
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}


def test_bridge_brings_bfloat16_to_numpy_as_float32(make):
    module = to_torch(make("EncoderLayer")).to(torch.bfloat16)
    arrays = parameters(to_numpy(module))
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float32)}
    expected = module.attention.q_proj.weight.detach().float().numpy().T
    np.testing.assert_array_equal(arrays["attention.W_q"], expected)


def test_to_numpy_takes_modules_of_several_dtypes(make):
    module = to_torch(make("EncoderLayer"))
    module.norm_1.float()
    found = parameters(to_numpy(module))["norm_1.gamma"]
    expected = module.norm_1.weight.detach().numpy()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("MultiHeadAttention", {"dropout": 0.3}),
        ("FeedForward", {"activation": "silu", "dropout": 0.3}),
        ("EncoderLayer", {"norm_first": False, "activation": "relu", "dropout": 0.3}),
    ],
)
def test_bridge_passes_every_option_on(make, kind, options):
    layer = make(kind, **options)
    for found in (to_torch(layer), to_numpy(to_torch(layer))):
        parts = [found]
        if kind == "EncoderLayer":
            parts += [found.attention, found.feed_forward]
            assert found.norm_first is False
            assert found.norm_1.eps == found.norm_2.eps == 0.1
        assert {part.dropout for part in parts} == {0.3}
        if kind != "MultiHeadAttention":
            assert parts[-1].activation == options["activation"]


@pytest.mark.parametrize("kind", ["Encoder", "TextEncoder", "ImageEncoder"])
def test_bridge_passes_the_configuration_on(make, kind):
    layer = make(kind, norm_first=False, dropout=0.3, activation="gelu_tanh")
    module = to_torch(layer)
    assert module.config == layer.config == to_numpy(module).config
    assert layer.config.dropout == 0.3
    assert module.layers[1].feed_forward.activation == "gelu_tanh"
    assert module.final_norm is None


def test_bridge_passes_the_eps_of_norms_on(make):
    for kind, eps in (("LayerNorm", 0.1), ("RMSNorm", 0.2)):
        module = to_torch(make(kind))
        assert module.eps == to_numpy(module).eps == eps


@KINDS
def test_bridge_copies(make, kind):
    layer = make(kind)
    before = {name: array.copy() for name, array in parameters(layer).items()}
    module = to_torch(layer)
    back = to_numpy(module)
    arrays = to_arrays(module)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(1)
    for copies in (parameters(layer), parameters(back), arrays):
        assert_same(copies, before)


def test_to_arrays_refuses_pytorchs_own_modules():
    with pytest.raises(TypeError, match="got PyTorch's own LayerNorm; from_torch_nn"):
        to_arrays(nn.LayerNorm(3))


def test_to_arrays_gives_matrices_from_in_to_out_in_memory_order(make):
    arrays = to_arrays(to_torch(make("TokenClassifier")))
    assert arrays["encoder.layers.1.feed_forward.W_1"].shape == (12, 11)
    assert arrays["W"].shape == (12, 4)
    assert arrays["encoder.embeddings.W_position"].shape == (9, 12)
    assert all(array.flags.c_contiguous for array in arrays.values())
    assert all(array.flags.writeable for array in arrays.values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("weight", "gamma"),
        ("bias", "beta"),
        ("final_norm.bias", "final_norm.beta"),
        ("q_proj.weight", "W_q"),
        ("layers.0.attention.out_proj.bias", "layers.0.attention.b_o"),
        ("encoder.embeddings.class_token", "encoder.embeddings.class_token"),
        ("classifier.weight", "W"),
    ],
)
def test_numpy_name_translates(name, expected):
    assert numpy_name(name) == expected


@pytest.mark.parametrize(
    "name", ["transform.weight", "norm.scale", "final_norm.in.weight", "scale"]
)
def test_numpy_name_refuses_what_numpy_does_not_have(name):
    with pytest.raises(TypeError, match=f"no counterpart of the parameter {name}"):
        numpy_name(name)


def test_to_torch_refuses_other_things(make):
    for thing, name in (
        (nn.Linear(2, 3), r"torch\.nn.*Linear"),
        (to_torch(make("LayerNorm")), r"encoderlab\.with_torch.*LayerNorm"),
        (np.ones(3), r"numpy\.ndarray"),
    ):
        message = rf"a layer of encoderlab\.with_numpy \(LayerNorm, .*\), got {name}"
        with pytest.raises(TypeError, match=message):
            to_torch(thing)


def test_to_numpy_refuses_what_numpy_does_not_have(make):
    encoder = to_torch(make("TextEncoder"))
    others = nn.LayerNorm(4), SequenceClassifier(encoder, 4), make("LayerNorm")
    for module in (*others, MaskedLanguageModel(encoder)):
        name = type(module).__name__
        message = rf"a layer of encoderlab\.with_torch .*, got .*{name}$"
        with pytest.raises(TypeError, match=message):
            to_numpy(module)
    with pytest.raises(TypeError, match="no counterpart of the parameter transform"):
        to_arrays(MaskedLanguageModel(encoder))


def test_to_torch_refuses_a_subclass(make):
    class Other(type(make("Encoder"))):
        pass

    config = dataclasses.replace(make("Encoder").config, num_layers=1)
    with pytest.raises(TypeError, match=r"expected a layer of .*, got .*Other"):
        to_torch(Other(config, rng=np.random.default_rng(0)))


def test_bridge_works_from_a_module_in_use(make):
    module = to_torch(make("TextEncoder"))
    assert isinstance(module, TextEncoder)
    assert all(parameter.requires_grad for parameter in module.parameters())
    state = module(torch.tensor([[1, 2, 3]])).last_hidden_state
    state.sum().backward()
    torch.optim.SGD(module.parameters(), 0.1).step()
    found = parameters(to_numpy(module))["final_norm.beta"]
    np.testing.assert_array_equal(found, module.final_norm.bias.detach())
    assert isinstance(module.final_norm, LayerNorm)
