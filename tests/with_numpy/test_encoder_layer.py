import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.masks import padding_mask
from encoderlab.with_numpy.parameters import parameters

B, T, H, D, F = 2, 5, 3, 12, 11
ORDERS = pytest.mark.parametrize("norm_first", [True, False])


@pytest.fixture
def x(rng):
    return rng.standard_normal((B, T, D))


@pytest.fixture
def make_layer(rng, disturb):
    def make_layer(**options):
        return disturb(EncoderLayer(D, H, F, eps=0.1, rng=rng, **options))

    return make_layer


@pytest.fixture
def torch_layer(packed_for_torch):
    """The same weights in torch's layer."""

    def torch_layer(layer, norm_first, activation):
        module = torch.nn.TransformerEncoderLayer(
            D, H, F, 0.0, activation, 0.1, batch_first=True, norm_first=norm_first
        ).double()
        weights = {
            "linear1.weight": layer.feed_forward.W_1.T,
            "linear1.bias": layer.feed_forward.b_1,
            "linear2.weight": layer.feed_forward.W_2.T,
            "linear2.bias": layer.feed_forward.b_2,
            "norm1.weight": layer.norm_1.gamma,
            "norm1.bias": layer.norm_1.beta,
            "norm2.weight": layer.norm_2.gamma,
            "norm2.bias": layer.norm_2.beta,
        }
        attention = packed_for_torch(layer.attention)
        module.load_state_dict(
            {f"self_attn.{name}": array for name, array in attention.items()}
            | {name: torch.tensor(array) for name, array in weights.items()}
        )
        return module.train()  # dropout is 0; this path has no fused shortcut

    return torch_layer


@ORDERS
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layer_matches_torch(
    make_layer, torch_layer, x, norm_first, activation
):
    layer = make_layer(norm_first=norm_first, activation=activation)
    expected = torch_layer(layer, norm_first, activation)(torch.from_numpy(x))
    assert_allclose(layer(x)[0], expected.detach(), rtol=1e-9, atol=1e-12)


@ORDERS
def test_encoder_layer_matches_torch_under_a_mask(
    make_layer, torch_layer, x, norm_first
):
    layer, mask = make_layer(norm_first=norm_first), padding_mask([3, 5], T)
    expected = torch_layer(layer, norm_first, "gelu")(
        torch.from_numpy(x), src_key_padding_mask=torch.from_numpy(~mask[:, 0, 0])
    )
    assert_allclose(layer(x, mask)[0], expected.detach(), rtol=1e-9, atol=1e-12)


def test_encoder_layer_orders_are_different_functions(make_layer, x):
    pre, post = make_layer(norm_first=True)(x)[0], make_layer(norm_first=False)(x)[0]
    assert (np.abs(pre - post) > 0.1).any()


@ORDERS
def test_encoder_layer_keeps_what_it_was_given(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first)
    for name in ("W_o", "b_o"):
        getattr(layer.attention, name)[...] = 0
    for name in ("W_2", "b_2"):
        getattr(layer.feed_forward, name)[...] = 0
    expected = x if norm_first else layer.norm_2(layer.norm_1(x))
    assert_allclose(layer(x)[0], expected, rtol=1e-12)


@ORDERS
def test_encoder_layer_permutes_with_its_tokens(rng, make_layer, x, norm_first):
    layer, order = make_layer(norm_first=norm_first), rng.permutation(T)
    assert_allclose(layer(x[:, order])[0], layer(x)[0][:, order], rtol=1e-9, atol=1e-12)


@ORDERS
def test_encoder_layer_does_not_read_padding(rng, make_layer, x, norm_first):
    layer, mask = make_layer(norm_first=norm_first), padding_mask([3, 5], T)
    before = layer(x, mask)[0]
    x[0, 3:] = 1e3 * rng.standard_normal((2, D))
    assert_array_equal(layer(x, mask)[0][0, :3], before[0, :3])


@ORDERS
def test_encoder_layer_leaves_its_input_unchanged(make_layer, x, norm_first):
    before = x.copy()
    make_layer(norm_first=norm_first)(x)
    assert_array_equal(x, before)


@ORDERS
def test_encoder_layer_returns_weights_of_its_attention(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first)
    seen = layer.norm_1(x) if norm_first else x
    assert_array_equal(layer(x)[1], layer.attention(seen)[1])


@ORDERS
@pytest.mark.parametrize("place", ["attention", "feed_forward", "layer"])
def test_encoder_layer_has_dropout_in_every_place(make_layer, x, norm_first, place):
    layer = make_layer(norm_first=norm_first, dropout=0.5)
    assert_array_equal(layer(x)[0], make_layer(norm_first=norm_first)(x)[0])
    for name, part in (
        ("attention", layer.attention),
        ("feed_forward", layer.feed_forward),
        ("layer", layer),
    ):
        part.dropout = 0.5 if name == place else 0.0
    dropped = layer(x, rng=np.random.default_rng(3))[0]
    assert (np.abs(dropped - layer(x)[0]) > 1e-3).any()


@ORDERS
def test_encoder_layer_drops_sublayer_outputs_before_the_sum(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first, dropout=0.9999)
    layer.attention.dropout = layer.feed_forward.dropout = 0.0
    dropped = layer(x, rng=np.random.default_rng(0))[0]
    kept = x if norm_first else layer.norm_2(layer.norm_1(x))
    assert_array_equal(dropped, kept)  # all that was added is gone, x itself is not


@ORDERS
def test_encoder_layer_drops_each_sublayer_output_by_itself(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first, dropout=0.5)
    layer.attention.dropout = layer.feed_forward.dropout = 0.0
    found = layer(x, rng=np.random.default_rng(3))[0]
    draws = np.random.default_rng(3)
    if norm_first:
        h = x + dropout(layer.attention(layer.norm_1(x))[0], 0.5, draws)
        expected = h + dropout(layer.feed_forward(layer.norm_2(h)), 0.5, draws)
    else:
        h = layer.norm_1(x + dropout(layer.attention(x)[0], 0.5, draws))
        expected = layer.norm_2(h + dropout(layer.feed_forward(h), 0.5, draws))
    assert_array_equal(found, expected)


def test_encoder_layer_has_the_documented_parameters(make_layer):
    names = set(parameters(make_layer()))
    assert names == {
        *(f"attention.{kind}_{name}" for kind in "Wb" for name in "qkvo"),
        *(f"feed_forward.{kind}_{i}" for kind in "Wb" for i in (1, 2)),
        *(f"norm_{i}.{name}" for i in (1, 2) for name in ("gamma", "beta")),
    }


def test_encoder_layer_refuses_what_its_parts_refuse(rng):
    with pytest.raises(ValueError, match="d_model must be divisible by num_heads"):
        EncoderLayer(D, 5, F, rng=rng)
    with pytest.raises(ValueError, match="eps must be at least 0"):
        EncoderLayer(D, H, F, eps=-1.0, rng=rng)
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        EncoderLayer(D, H, F, dropout=1.0, rng=rng)
