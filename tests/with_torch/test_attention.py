from math import sqrt

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.with_torch.attention import (
    MultiHeadAttention,
    attention,
    merge_heads,
    split_heads,
)
from encoderlab.with_torch.masks import causal_mask, padding_mask

B, T, S, H, K, E, D = 2, 5, 7, 3, 4, 6, 12
TOLERANCE = {"rtol": 1e-12, "atol": 1e-13}
WAYS = pytest.mark.parametrize("need_weights", [True, False], ids=["weights", "sdpa"])
DTYPES = pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64]
)


@pytest.fixture
def qkv():
    """Queries, keys and values whose scores are of size 1 to 3."""
    return [
        size * torch.randn(B, H, *shape, dtype=torch.float64)
        for size, *shape in ((1.5, T, K), (1, S, K), (1, S, E))
    ]


@pytest.fixture
def x():
    return torch.randn(B, T, D, dtype=torch.float64)


@pytest.fixture
def layer(disturb):
    return disturb(MultiHeadAttention(D, H))


@pytest.fixture
def half_masked():
    """About half of the keys, and nothing for one query."""
    mask = torch.rand(B, 1, T, S) < 0.5
    mask[..., 0] = True
    mask[1, 0, 2] = False
    return mask


# attention


@WAYS
def test_attention_matches_an_exact_value(need_weights):
    # scores 4 and 0, width 16: the weights are those of 1 and 0
    q, k = torch.zeros(1, 16), torch.zeros(2, 16)
    q[0, 0] = k[0, 0] = 2.0
    v = torch.tensor([[1.0], [0.0]])
    context, weights = attention(q, k, v, need_weights=need_weights)
    assert context.item() == pytest.approx(0.73105858, abs=1e-6)
    if need_weights:
        expected = torch.tensor([[0.73105858, 0.26894142]])
        assert_close(weights, expected, rtol=0, atol=1e-6)
    else:
        assert weights is None


@WAYS
def test_attention_matches_a_loop(qkv, half_masked, need_weights):
    found = attention(*qkv, half_masked, need_weights=need_weights)[0]
    expected = torch.zeros_like(found)
    for b in range(B):
        for h in range(H):
            for t in range(T):
                keys = half_masked[b, 0, t].nonzero()[:, 0]
                q, k, v = (tensor[b, h] for tensor in qkv)
                weights = (k[keys] @ q[t] / sqrt(K)).exp()
                if len(keys):
                    expected[b, h, t] = weights @ v[keys] / weights.sum()
    assert_close(found, expected, **TOLERANCE)


@pytest.mark.parametrize(
    "shape", [None, (S,), (T, S), (B, 1, 1, S), (1, 1, T, S), (B, H, T, S)]
)
def test_attention_is_the_same_with_and_without_weights(qkv, shape):
    mask = None
    if shape is not None:
        mask = torch.rand(shape) < 0.5
        mask[..., 2:4] = True
    inputs = [tensor.requires_grad_() for tensor in qkv]
    explicit, weights = attention(*inputs, mask, need_weights=True)
    fused, nothing = attention(*inputs, mask)
    assert weights.shape == (B, H, T, S)
    assert nothing is None
    assert_close(explicit, fused, **TOLERANCE)
    upstream = torch.randn_like(fused)
    found = torch.autograd.grad(explicit, inputs, upstream)
    expected = torch.autograd.grad(fused, inputs, upstream)
    assert_close(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3, 2)])
@WAYS
def test_attention_takes_any_batch_axes(batch, need_weights):
    q, k, v = (torch.randn(*batch, n, K, dtype=torch.float64) for n in (T, S, S))
    context, _ = attention(q, k, v, need_weights=need_weights)
    last = tuple(size - 1 for size in batch)
    alone, _ = attention(q[last], k[last], v[last], need_weights=need_weights)
    assert context.shape == (*batch, T, K)
    assert_close(context[last], alone, **TOLERANCE)


def test_attention_weights_sum_to_one_over_what_is_allowed(qkv, half_masked):
    weights = attention(*qkv, half_masked, need_weights=True)[1]
    expected = half_masked.any(-1).double().expand(B, H, T)
    assert_close(weights.sum(-1), expected, **TOLERANCE)
    assert not weights[~half_masked.expand_as(weights)].any()


@WAYS
def test_attention_query_with_nothing_to_see_gets_zeros(qkv, need_weights):
    inputs = [tensor.requires_grad_() for tensor in qkv]
    mask = torch.ones(B, 1, T, S, dtype=torch.bool)
    mask[1, 0, 2] = False
    context, weights = attention(*inputs, mask, need_weights=need_weights)
    assert not context[1, :, 2].any()
    if need_weights:
        assert not weights[1, :, 2].any()
    seen = mask.any(-1).expand(B, H, T)
    plain, _ = attention(*inputs, need_weights=need_weights)
    assert_close(context[seen], plain[seen], **TOLERANCE)
    upstream = torch.randn_like(context)
    found = torch.autograd.grad(context, inputs, upstream)
    expected = torch.autograd.grad(plain, inputs, upstream * seen[..., None])
    assert not found[0][1, :, 2].any()
    assert_close(found, expected, rtol=1e-10, atol=1e-12)


@WAYS
def test_attention_with_nothing_allowed_has_zero_gradients(qkv, need_weights):
    inputs = [tensor.requires_grad_() for tensor in qkv]
    mask = torch.zeros(T, S, dtype=torch.bool)
    context, _ = attention(*inputs, mask, need_weights=need_weights)
    gradients = torch.autograd.grad(context.sum(), inputs)
    assert not context.any()
    assert not any(gradient.any() for gradient in gradients)


@WAYS
def test_attention_does_not_read_masked_keys_and_values(qkv, need_weights):
    q, k, v = qkv
    mask = padding_mask([4, 7], S)
    before, _ = attention(q, k, v, mask, need_weights=need_weights)
    k[0, :, 4:], v[0, :, 4:] = 1e6, -1e6
    after, _ = attention(q, k, v, mask, need_weights=need_weights)
    assert_close(after, before, rtol=0, atol=0)


@WAYS
def test_attention_survives_large_scores(qkv, need_weights):
    q, k, v = qkv
    context, _ = attention(1e6 * q, k, v, need_weights=need_weights)
    best = (q @ k.mT).argmax(-1)  # all the weight falls on one key
    expected = v.gather(-2, best[..., None].expand(B, H, T, E))
    assert_close(context, expected, **TOLERANCE)


@DTYPES
@pytest.mark.parametrize("masked", [True, False])
def test_attention_keeps_the_dtype(qkv, half_masked, dtype, masked):
    mask = half_masked if masked else None
    expected, expected_weights = attention(*qkv, mask, need_weights=True)
    q, k, v = (tensor.to(dtype) for tensor in qkv)
    error = 16 * torch.finfo(dtype).eps
    for need_weights in (True, False):
        context, weights = attention(q, k, v, mask, need_weights=need_weights)
        assert context.dtype == dtype
        assert_close(context.double(), expected, rtol=error, atol=error)
    weights = attention(q, k, v, mask, need_weights=True)[1]
    assert weights.dtype == dtype
    assert_close(weights.double(), expected_weights, rtol=error, atol=error)


def test_attention_returns_weights_from_before_dropout(qkv):
    context, weights = attention(*qkv, dropout_p=0.5, need_weights=True)
    plain, plain_weights = attention(*qkv, need_weights=True)
    assert_close(weights, plain_weights, rtol=0, atol=0)
    assert (context - plain).abs().max() > 1e-3


@WAYS
def test_attention_drops_weights(need_weights):
    q, k = torch.zeros(2000, 1, K), torch.zeros(2000, S, K)
    v = torch.eye(S).expand(2000, S, S)  # the context is the weights themselves
    context, _ = attention(q, k, v, dropout_p=0.3, need_weights=need_weights)
    kept = context > 0
    # six standard errors of 14,000 draws
    assert abs(kept.double().mean() - 0.7) < 6 * sqrt(0.21 / 14_000)
    expected = torch.full_like(context[kept], 1 / S / 0.7)
    assert_close(context[kept], expected, rtol=1e-5, atol=0)


@WAYS
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
def test_attention_refuses_shapes(without_shape_checks, shapes, message, need_weights):
    with pytest.raises(ValueError, match=message):
        attention(*map(torch.ones, shapes), need_weights=need_weights)


@WAYS
def test_attention_refuses_a_mask_of_numbers(without_shape_checks, qkv, need_weights):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        attention(*qkv, torch.zeros(T, S).double(), need_weights=need_weights)


@WAYS
@pytest.mark.parametrize("shape", [(S, T), (4, B, H, T, S), (H, B, T, S)])
def test_attention_refuses_a_mask_of_another_shape(qkv, shape, need_weights):
    with pytest.raises(ValueError, match="mask must broadcast to the scores, got mask"):
        attention(*qkv, torch.ones(shape) == 1, need_weights=need_weights)


@WAYS
def test_attention_refuses_dropout(qkv, need_weights):
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        attention(*qkv, dropout_p=1.0, need_weights=need_weights)


# heads


def test_split_heads_gives_head_h_its_own_columns(x):
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, K)
    for h in range(H):
        assert_close(heads[:, h], x[..., h * K : (h + 1) * K], rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(T, D), (B, T, D), (3, B, T, D)])
def test_merge_heads_undoes_split_heads(shape):
    x = torch.randn(shape)
    assert_close(merge_heads(split_heads(x, H)), x, rtol=0, atol=0)


@pytest.mark.parametrize("num_heads", [5, 0, -3])
def test_split_heads_refuses_heads_that_do_not_divide(x, num_heads):
    with pytest.raises(
        ValueError, match="num_heads must divide the width of x, got num"
    ):
        split_heads(x, num_heads)


# the module


def test_multi_head_attention_equals_a_loop_over_heads(layer, x):
    heads = []
    for h in range(H):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = (
            x @ linear.weight[rows].T + linear.bias[rows]
            for linear in (layer.q_proj, layer.k_proj, layer.v_proj)
        )
        heads.append(attention(q, k, v, need_weights=True)[0])
    expected = layer.out_proj(torch.cat(heads, dim=-1))
    for need_weights in (True, False):
        output, _ = layer(x, need_weights=need_weights)
        assert_close(output, expected, rtol=1e-12, atol=1e-12)


def test_multi_head_attention_takes_one_sequence_without_batch_axis(layer, x):
    output, weights = layer(x, causal_mask(T), need_weights=True)
    alone, its_weights = layer(x[1], causal_mask(T)[0], need_weights=True)
    assert_close(alone, output[1], **TOLERANCE)
    assert_close(its_weights, weights[1], **TOLERANCE)


def test_multi_head_attention_permutes_with_its_tokens(layer, x):
    order = torch.tensor([3, 1, 4, 0, 2])
    assert_close(layer(x[:, order])[0], layer(x)[0][:, order], **TOLERANCE)


@WAYS
def test_multi_head_attention_does_not_read_padding(layer, x, need_weights):
    mask = padding_mask([3, 5], T)
    before, _ = layer(x, mask, need_weights=need_weights)
    x[0, 3:] = 1e3 * torch.randn(2, D)
    after, _ = layer(x, mask, need_weights=need_weights)
    assert_close(after[0, :3], before[0, :3], **TOLERANCE)
    assert_close(after[1], before[1], rtol=0, atol=0)


@WAYS
def test_multi_head_attention_of_a_fully_padded_sequence_is_its_output_bias(
    layer, x, need_weights
):
    x.requires_grad_()
    output, _ = layer(x, padding_mask([0, 5], T), need_weights=need_weights)
    assert_close(output[0], layer.out_proj.bias.expand(T, D), **TOLERANCE)
    assert_close(output[1], layer(x)[0][1], **TOLERANCE)
    output.sum().backward()
    assert not x.grad[0].any()
    assert all(p.grad.isfinite().all() for p in layer.parameters())


@WAYS
def test_multi_head_attention_drops_in_training_alone(disturb, x, need_weights):
    layer = disturb(MultiHeadAttention(D, H, dropout=0.5))
    plain, _ = disturb(MultiHeadAttention(D, H))(x, need_weights=need_weights)
    evaluated, _ = layer.eval()(x, need_weights=need_weights)
    assert_close(evaluated, plain, rtol=0, atol=0)
    layer.train()
    first, second = (layer(x, need_weights=need_weights)[0] for _ in range(2))
    assert (first - second).abs().max() > 1e-3
    assert (first - plain).abs().max() > 1e-3


def test_multi_head_attention_starts_as_documented():
    layer = MultiHeadAttention(D, H)
    bound = sqrt(6 / (D + D))
    for linear in (layer.q_proj, layer.k_proj, layer.v_proj, layer.out_proj):
        assert 0.8 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()
    assert (layer.q_proj.weight != layer.k_proj.weight).any()


@DTYPES
@WAYS
def test_multi_head_attention_keeps_the_dtype(layer, x, dtype, need_weights):
    mask = padding_mask([3, 5], T)
    expected, _ = layer(x, mask)
    found, _ = layer.to(dtype)(x.to(dtype), mask, need_weights=need_weights)
    assert found.dtype == dtype
    error = 64 * torch.finfo(dtype).eps * expected.abs().max()
    assert (found - expected).abs().max() < error


@pytest.mark.parametrize(("d_model", "num_heads"), [(12, 5), (12, 0), (0, 1), (-4, 2)])
def test_multi_head_attention_refuses_heads(d_model, num_heads):
    with pytest.raises(ValueError, match="d_model must be divisible by num_heads, got"):
        MultiHeadAttention(d_model, num_heads)


def test_multi_head_attention_refuses_dropout():
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        MultiHeadAttention(D, H, dropout=1.0)


@pytest.mark.parametrize("shape", [(B, T, D + 1), (D,)])
def test_multi_head_attention_refuses_another_width(without_shape_checks, shape):
    with pytest.raises(
        ValueError, match=r"x must have shape \(..., T, 12\) for d_model"
    ):
        MultiHeadAttention(D, H)(torch.ones(shape))


@pytest.mark.parametrize("shape", [(B, T), (B, T, T), (T, T)])
def test_multi_head_attention_refuses_a_mask_without_all_axes(layer, x, shape):
    with pytest.raises(ValueError, match=r"mask must have the 4 axes .*padding_mask"):
        layer(x, torch.ones(shape) == 1)


def test_multi_head_attention_refuses_a_mask_of_numbers(without_shape_checks, layer, x):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        layer(x, torch.ones(B, 1, 1, T))


def test_multi_head_attention_is_made_of_modules_of_torch(layer):
    assert all(isinstance(part, nn.Linear) for part in layer.children())
    assert [name for name, _ in layer.named_children()] == [
        "q_proj",
        "k_proj",
        "v_proj",
        "out_proj",
    ]
