import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.attention import (
    MultiHeadAttention,
    attention,
    merge_heads,
    split_heads,
)
from encoderlab.with_numpy.masks import causal_mask, padding_mask

B, T, S, H, K, E, D = 2, 5, 7, 3, 4, 6, 12


@pytest.fixture
def qkv(rng):
    """Queries, keys and values whose scores are of size 1 to 3."""
    q, k = 1.5 * rng.standard_normal((B, H, T, K)), rng.standard_normal((B, H, S, K))
    return q, k, rng.standard_normal((B, H, S, E))


@pytest.fixture
def layer(rng, disturb):
    return disturb(MultiHeadAttention(D, H, rng=rng))


@pytest.fixture
def x(rng):
    return rng.standard_normal((B, T, D))


def torch_attention(q, k, v, mask=None):
    q, k, v = map(torch.from_numpy, (q, k, v))
    mask = None if mask is None else torch.from_numpy(np.array(mask))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask)


@pytest.fixture
def torch_layer(packed_for_torch):
    """The same weights in torch's layer, which packs the three projections."""

    def torch_layer(layer):
        module = torch.nn.MultiheadAttention(
            D, H, batch_first=True, dtype=torch.float64
        )
        module.load_state_dict(packed_for_torch(layer))
        return module.eval()

    return torch_layer


# attention


def test_attention_matches_an_exact_value():
    # scores 4 and 0, width 16: the weights are those of 1 and 0
    q, k = np.zeros((1, 16)), np.zeros((2, 16))
    q[0, 0], k[0, 0] = 2.0, 2.0
    context, weights = attention(q, k, np.array([[1.0], [0.0]]))
    assert_allclose(weights, [[0.73105858, 0.26894142]], atol=1e-8)
    assert_allclose(context, [[0.73105858]], atol=1e-8)


def test_attention_matches_torch(qkv):
    context, weights = attention(*qkv)
    assert_allclose(context, torch_attention(*qkv), rtol=1e-10, atol=1e-12)
    assert weights.shape == (B, H, T, S)


@pytest.mark.parametrize("shape", [(B, 1, 1, S), (1, 1, T, S), (B, H, T, S), (T, S)])
def test_attention_matches_torch_under_a_mask(rng, qkv, shape):
    mask = rng.random(shape) < 0.5
    mask[..., 0] = True
    context, weights = attention(*qkv, mask)
    assert_allclose(context, torch_attention(*qkv, mask), rtol=1e-10, atol=1e-12)
    assert not weights[~np.broadcast_to(mask, weights.shape)].any()


@pytest.mark.parametrize("batch", [(), (2,), (2, 3, 2)])
def test_attention_takes_any_batch_axes(rng, batch):
    q, k, v = (rng.standard_normal((*batch, n, K)) for n in (T, S, S))
    context, weights = attention(q, k, v)
    for index in np.ndindex(batch):
        alone = attention(q[index], k[index], v[index])
        assert_allclose(context[index], alone[0], rtol=1e-12)
        assert_allclose(weights[index], alone[1], rtol=1e-12)


def test_attention_weights_sum_to_one(qkv):
    assert_allclose(attention(*qkv)[1].sum(-1), 1, rtol=1e-12)


def test_attention_stays_in_the_hull_of_the_values(qkv):
    context, v = attention(*qkv)[0], qkv[2]
    assert (context <= v.max(-2, keepdims=True) + 1e-12).all()
    assert (context >= v.min(-2, keepdims=True) - 1e-12).all()


def test_attention_does_not_depend_on_the_order_of_the_keys(rng, qkv):
    q, k, v = qkv
    order = rng.permutation(S)
    context, weights = attention(q, k[..., order, :], v[..., order, :])
    assert_allclose(context, attention(*qkv)[0], rtol=1e-10, atol=1e-12)
    assert_allclose(weights, attention(*qkv)[1][..., order], rtol=1e-10)


def test_attention_query_with_nothing_to_see_gets_zeros(qkv):
    mask = np.ones((B, 1, T, S), bool)
    mask[1, 0, 2] = False
    context, weights = attention(*qkv, mask)
    assert not context[1, :, 2].any()
    assert not weights[1, :, 2].any()
    seen = np.broadcast_to(mask.any(-1), (B, H, T))
    assert_allclose(context[seen], attention(*qkv)[0][seen], rtol=1e-10, atol=1e-12)


def test_attention_does_not_read_masked_keys_and_values(rng, qkv):
    q, k, v = qkv
    mask = padding_mask([4, 7], S)
    before = attention(q, k, v, mask)
    k[0, :, 4:], v[0, :, 4:] = 1e6, -1e6
    assert_array_equal(attention(q, k, v, mask)[0], before[0])


def test_attention_survives_large_scores(qkv):
    q, k, v = qkv
    context, weights = attention(1e6 * q, k, v)
    assert np.isfinite(context).all()
    assert_allclose(weights.max(-1), 1, rtol=1e-12)


def test_attention_returns_weights_from_before_dropout(rng, qkv):
    context, weights = attention(*qkv, dropout_p=0.5, rng=rng)
    assert_array_equal(weights, attention(*qkv)[1])
    assert (np.abs(context - attention(*qkv)[0]) > 1e-3).any()


def test_attention_drops_weights_of_the_same_places(qkv):
    from encoderlab.with_numpy.dropout import dropout

    context, weights = attention(*qkv, dropout_p=0.3, rng=np.random.default_rng(5))
    expected = dropout(weights, 0.3, np.random.default_rng(5)) @ qkv[2]
    assert_allclose(context, expected, rtol=1e-12)


def test_attention_without_generator_has_no_dropout(qkv):
    assert_array_equal(attention(*qkv, dropout_p=0.9)[0], attention(*qkv)[0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_attention_keeps_the_dtype(qkv, dtype):
    q, k, v = (x.astype(dtype) for x in qkv)
    for mask in (None, np.ones((T, S), bool)):
        context, weights = attention(q, k, v, mask)
        assert context.dtype == weights.dtype == dtype


def test_attention_leaves_its_input_unchanged(qkv):
    before = [x.copy() for x in qkv]
    attention(*qkv, np.ones((T, S), bool))
    for x, copy in zip(qkv, before, strict=True):
        assert_array_equal(x, copy)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((T, K), (S, E), (S, E)), "queries and keys must have one width"),
        (((T, K), (S, K), (T, E)), "there must be one value for each key"),
        (((2, T, K), (3, S, K), (3, S, E)), "must have the same batch axes"),
        (((T, K), (0, K), (0, E)), "at least one key of width 1 or more"),
        (((T, 0), (S, 0), (S, E)), "at least one key of width 1 or more"),
        (((K,), (S, K), (S, E)), "need a token and a width axis"),
    ],
)
def test_attention_refuses_shapes(without_shape_checks, shapes, message):
    with pytest.raises(ValueError, match=message):
        attention(*(np.ones(shape) for shape in shapes))


def test_attention_refuses_a_mask_of_numbers(without_shape_checks, qkv):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        attention(*qkv, np.zeros((T, S)))


def test_attention_refuses_a_mask_of_another_shape(qkv):
    with pytest.raises(ValueError, match="mask must broadcast to the scores"):
        attention(*qkv, np.ones((S, T), bool))


# heads


def test_split_heads_gives_head_h_its_own_columns(x):
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, K)
    for h in range(H):
        assert_array_equal(heads[:, h], x[..., h * K : (h + 1) * K])


@pytest.mark.parametrize("shape", [(T, D), (B, T, D), (3, B, T, D)])
def test_merge_heads_undoes_split_heads(rng, shape):
    x = rng.standard_normal(shape)
    assert_array_equal(merge_heads(split_heads(x, H)), x)


@pytest.mark.parametrize("num_heads", [5, 0, -3])
def test_split_heads_refuses_heads_that_do_not_divide(x, num_heads):
    with pytest.raises(
        ValueError, match="num_heads must divide the width of x, got num"
    ):
        split_heads(x, num_heads)


# the layer


def test_multi_head_attention_matches_an_exact_value():
    layer = MultiHeadAttention(4, 2, rng=np.random.default_rng(0))
    for name in "qkvo":
        setattr(layer, f"W_{name}", np.eye(4))
        setattr(layer, f"b_{name}", np.zeros(4))
    output, _ = layer(np.array([[[1.0, 0, 0, 0], [0, 1, 0, 2]]]))
    expected = [[0.66976155, 0.33023845, 0, 1], [0.33023845, 0.66976155, 0, 1.88838556]]
    assert_allclose(output[0], expected, atol=1e-8)


def test_multi_head_attention_matches_torch(layer, x, torch_layer):
    output, weights = layer(x)
    x_ = torch.from_numpy(x)
    expected, expected_weights = torch_layer(layer)(
        x_, x_, x_, average_attn_weights=False
    )
    assert_allclose(output, expected.detach(), rtol=1e-10, atol=1e-12)
    assert_allclose(weights, expected_weights.detach(), rtol=1e-10, atol=1e-12)


def test_multi_head_attention_matches_torch_under_a_mask(layer, x, torch_layer):
    output, weights = layer(x, padding_mask([3, 5], T))
    x_ = torch.from_numpy(x)
    hidden = torch.from_numpy(~padding_mask([3, 5], T)[:, 0, 0])
    expected, expected_weights = torch_layer(layer)(
        x_, x_, x_, key_padding_mask=hidden, average_attn_weights=False
    )
    assert_allclose(output, expected.detach(), rtol=1e-10, atol=1e-12)
    assert_allclose(weights, expected_weights.detach(), rtol=1e-10, atol=1e-12)


def test_multi_head_attention_equals_a_loop_over_heads(layer, x):
    heads = []
    for h in range(H):
        columns = slice(h * K, (h + 1) * K)
        q, k, v = (
            x @ getattr(layer, f"W_{n}")[:, columns] + getattr(layer, f"b_{n}")[columns]
            for n in "qkv"
        )
        heads.append(attention(q, k, v)[0])
    expected = np.concatenate(heads, axis=-1) @ layer.W_o + layer.b_o
    assert_allclose(layer(x)[0], expected, rtol=1e-10, atol=1e-12)


def test_multi_head_attention_takes_one_sequence_without_batch_axis(layer, x):
    output, weights = layer(x)
    alone, its_weights = layer(x[1], causal_mask(T)[0] | True)
    assert_allclose(alone, output[1], rtol=1e-10, atol=1e-12)
    assert_allclose(its_weights, weights[1], rtol=1e-10, atol=1e-12)


def test_multi_head_attention_keeps_sequences_apart(rng, layer, x):
    before = layer(x)[0]
    x[1] = rng.standard_normal((T, D))
    assert_allclose(layer(x)[0][0], before[0], rtol=1e-12)
    assert (np.abs(layer(x)[0][1] - before[1]) > 1e-3).any()


def test_multi_head_attention_permutes_with_its_tokens(rng, layer, x):
    order = rng.permutation(T)
    assert_allclose(layer(x[:, order])[0], layer(x)[0][:, order], rtol=1e-9, atol=1e-12)


def test_multi_head_attention_does_not_change_when_heads_are_permuted(rng, layer, x):
    before = layer(x)[0]
    columns = np.arange(D).reshape(H, K)[[2, 0, 1]].ravel()
    for name in "qkv":
        setattr(layer, f"W_{name}", getattr(layer, f"W_{name}")[:, columns])
        setattr(layer, f"b_{name}", getattr(layer, f"b_{name}")[columns])
    layer.W_o = layer.W_o[columns]
    assert_allclose(layer(x)[0], before, rtol=1e-10, atol=1e-12)


def test_multi_head_attention_does_not_read_padding(rng, layer, x):
    mask = padding_mask([3, 5], T)
    before = layer(x, mask)[0]
    x[0, 3:] = 1e3 * rng.standard_normal((2, D))
    assert_array_equal(layer(x, mask)[0][0, :3], before[0, :3])


def test_multi_head_attention_of_a_fully_padded_sequence_is_its_output_bias(layer, x):
    output, weights = layer(x, padding_mask([0, 5], T))
    assert_allclose(output[0], np.broadcast_to(layer.b_o, (T, D)), rtol=1e-12)
    assert not weights[0].any()


def test_multi_head_attention_drops_only_with_a_generator(rng, disturb, x):
    layer = disturb(MultiHeadAttention(D, H, dropout=0.5, rng=rng))
    assert_array_equal(layer(x)[0], layer(x)[0])
    assert (np.abs(layer(x, rng=rng)[0] - layer(x)[0]) > 1e-3).any()
    assert_array_equal(layer(x, rng=rng)[1], layer(x)[1])


def test_multi_head_attention_starts_small_and_in_float32(rng):
    layer = MultiHeadAttention(D, H, rng=rng)
    bound = np.sqrt(6 / (D + D))
    for name in "qkvo":
        W, b = getattr(layer, f"W_{name}"), getattr(layer, f"b_{name}")
        assert W.dtype == b.dtype == np.float32
        assert 0.8 * bound < np.abs(W).max() <= bound
        assert not b.any()
    assert (layer.W_q != layer.W_k).any()


@pytest.mark.parametrize(("d_model", "num_heads"), [(12, 5), (12, 0), (0, 1), (-4, 2)])
def test_multi_head_attention_refuses_heads(rng, d_model, num_heads):
    with pytest.raises(ValueError, match="d_model must be divisible by num_heads, got"):
        MultiHeadAttention(d_model, num_heads, rng=rng)


def test_multi_head_attention_refuses_dropout(rng):
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        MultiHeadAttention(D, H, dropout=1.0, rng=rng)


@pytest.mark.parametrize("shape", [(B, T, D + 1), (D,)])
def test_multi_head_attention_refuses_another_width(without_shape_checks, layer, shape):
    with pytest.raises(
        ValueError, match=r"x must have shape \(..., T, 12\) for d_model"
    ):
        layer(np.ones(shape))


@pytest.mark.parametrize("shape", [(B, T), (B, T, T), (T, T)])
def test_multi_head_attention_refuses_a_mask_without_all_axes(layer, x, shape):
    with pytest.raises(ValueError, match=r"mask must have the 4 axes .*padding_mask"):
        layer(x, np.ones(shape, bool))


def test_multi_head_attention_refuses_a_mask_of_numbers(without_shape_checks, layer, x):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        layer(x, np.ones((B, 1, 1, T)))
