"""Every vjp of a function, against its forward, central differences and autograd."""

from functools import partial

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from torch.nn import functional as tnf

from encoderlab.with_numpy import functional
from encoderlab.with_numpy.attention import attention, merge_heads, split_heads
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.gradients import (
    attention_vjp,
    check_gradient,
    cross_entropy_vjp,
    dropout_vjp,
    embedding_vjp,
    gelu_tanh_vjp,
    gelu_vjp,
    layer_norm_vjp,
    linear_vjp,
    log_softmax_vjp,
    masked_softmax_vjp,
    mean_pool_vjp,
    merge_heads_vjp,
    relu_vjp,
    residual_vjp,
    rms_norm_vjp,
    silu_vjp,
    softmax_vjp,
    split_heads_vjp,
)
from encoderlab.with_numpy.loss import cross_entropy
from encoderlab.with_numpy.normalization import layer_norm, rms_norm
from encoderlab.with_numpy.pooling import mean_pool

B, T, S, H, K, D, F = 2, 5, 7, 3, 4, 12, 11
RNG = np.random.default_rng(0)
MASK = RNG.random((B, H, T, S)) < 0.6
MASK[..., 0] = True  # no row without a key: torch gives NaN there
REAL = np.arange(T) < np.array([[3], [5]])
TARGETS = np.array([[0, 3, -1, 1, 1], [-1, 2, 10, 5, 5]])
IDS = np.array([[4, 0, 4, 4, 6], [1, 4, 0, 2, 2]])


def normal(*shape):
    return RNG.standard_normal(shape)


def torch_mean_pool(x):
    kept = torch.from_numpy(REAL)[..., None]
    return (x * kept).sum(-2) / kept.sum(-2)


def loss_in_torch(logits, **options):
    targets = torch.from_numpy(TARGETS)
    return tnf.cross_entropy(logits.mT, targets, ignore_index=-1, **options)


QKV = (normal(B, H, T, K), normal(B, H, S, K), normal(B, H, S, 6))
# name: the vjp, the forward function, the same in torch, inputs
CASES = {
    "linear": (
        linear_vjp,
        functional.linear,
        lambda x, W, b: tnf.linear(x, W.T, b),
        (normal(B, T, D), normal(D, F), normal(F)),
    ),
    "linear of one vector": (
        linear_vjp,
        functional.linear,
        lambda x, W, b: x @ W + b,
        (normal(D), normal(D, F), normal(F)),
    ),
    "linear without bias": (
        linear_vjp,
        functional.linear,
        lambda x, W: x @ W,
        (normal(B, H, T, D), normal(D, F)),
    ),
    "softmax": (
        softmax_vjp,
        functional.softmax,
        lambda x: tnf.softmax(x, -1),
        (normal(B, T, S),),
    ),
    "softmax over another axis": (
        partial(softmax_vjp, axis=1),
        partial(functional.softmax, axis=1),
        lambda x: tnf.softmax(x, 1),
        (normal(B, T, S),),
    ),
    "log_softmax": (
        log_softmax_vjp,
        functional.log_softmax,
        lambda x: tnf.log_softmax(x, -1),
        (3 * normal(B, T, S),),
    ),
    "masked_softmax": (
        lambda x: masked_softmax_vjp(x, MASK),
        lambda x: functional.masked_softmax(x, MASK),
        lambda x: tnf.softmax(x.masked_fill(~torch.from_numpy(MASK), -np.inf), -1),
        (normal(B, H, T, S),),
    ),
    "relu": (relu_vjp, functional.relu, tnf.relu, (normal(B, T, D),)),
    "silu": (silu_vjp, functional.silu, tnf.silu, (3 * normal(B, T, D),)),
    "gelu": (gelu_vjp, functional.gelu, tnf.gelu, (3 * normal(B, T, D),)),
    "gelu_tanh": (
        gelu_tanh_vjp,
        functional.gelu_tanh,
        lambda x: tnf.gelu(x, approximate="tanh"),
        (3 * normal(B, T, D),),
    ),
    "layer_norm": (
        layer_norm_vjp,
        layer_norm,
        lambda x, gamma, beta: tnf.layer_norm(x, (D,), gamma, beta, 1e-5),
        (normal(B, T, D), normal(D), normal(D)),
    ),
    "layer_norm with a large eps": (
        partial(layer_norm_vjp, eps=0.5),
        partial(layer_norm, eps=0.5),
        lambda x, gamma, beta: tnf.layer_norm(x, (D,), gamma, beta, 0.5),
        (normal(D), normal(D), normal(D)),
    ),
    "rms_norm": (
        partial(rms_norm_vjp, eps=0.1),
        partial(rms_norm, eps=0.1),
        lambda x, gamma: tnf.rms_norm(x, (D,), gamma, 0.1),
        (normal(B, T, D), normal(D)),
    ),
    "attention": (
        attention_vjp,
        lambda *qkv: attention(*qkv)[0],
        tnf.scaled_dot_product_attention,
        QKV,
    ),
    "masked attention": (
        partial(attention_vjp, mask=MASK),
        lambda *qkv: attention(*qkv, MASK)[0],
        partial(tnf.scaled_dot_product_attention, attn_mask=torch.from_numpy(MASK)),
        QKV,
    ),
    "split_heads": (
        partial(split_heads_vjp, num_heads=H),
        partial(split_heads, num_heads=H),
        lambda x: x.unflatten(-1, (H, K)).transpose(1, 2),
        (normal(B, T, D),),
    ),
    "merge_heads": (
        merge_heads_vjp,
        merge_heads,
        lambda x: x.transpose(1, 2).flatten(-2),
        (normal(B, H, T, K),),
    ),
    "mean_pool": (
        lambda x: mean_pool_vjp(x, REAL),
        lambda x: mean_pool(x, REAL),
        torch_mean_pool,
        (normal(B, T, D),),
    ),
    "embedding": (
        lambda table: embedding_vjp(table, IDS),
        lambda table: table[IDS],
        lambda table: tnf.embedding(torch.from_numpy(IDS), table),
        (normal(S, D),),
    ),
    "cross_entropy": (
        lambda x: cross_entropy_vjp(x, TARGETS, ignore_index=-1),
        lambda x: cross_entropy(x, TARGETS, ignore_index=-1),
        loss_in_torch,
        (normal(B, T, F),),
    ),
    "smoothed cross_entropy": (
        lambda x: cross_entropy_vjp(x, TARGETS, ignore_index=-1, label_smoothing=0.1),
        lambda x: cross_entropy(x, TARGETS, ignore_index=-1, label_smoothing=0.1),
        partial(loss_in_torch, label_smoothing=0.1),
        (normal(B, T, F),),
    ),
}
EVERY = pytest.mark.parametrize(
    ("vjp", "forward", "in_torch", "arrays"), CASES.values(), ids=CASES
)


def relative(a, b):
    return np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b))


def as_tuple(gradients):
    return gradients if isinstance(gradients, tuple) else (gradients,)


@EVERY
def test_vjp_computes_what_its_forward_does(vjp, forward, in_torch, arrays):
    output, _ = vjp(*arrays)
    assert_allclose(output, forward(*arrays), rtol=1e-14, atol=1e-15)


@EVERY
def test_vjp_agrees_with_central_differences(vjp, forward, in_torch, arrays):
    assert check_gradient(vjp, *arrays) < 1e-7


@EVERY
def test_vjp_agrees_with_autograd(vjp, forward, in_torch, arrays):
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    output, backward = vjp(*arrays)
    upstream = np.random.default_rng(1).standard_normal(np.shape(output))
    in_torch(*tensors).backward(torch.from_numpy(upstream))
    for gradient, tensor in zip(as_tuple(backward(upstream)), tensors, strict=True):
        assert gradient.shape == tensor.shape
        assert relative(gradient, tensor.grad.numpy()) < 1e-10


@EVERY
def test_vjp_leaves_its_input_unchanged_and_can_be_used_twice(
    vjp, forward, in_torch, arrays
):
    before = [array.copy() for array in arrays]
    output, backward = vjp(*arrays)
    upstream = np.random.default_rng(1).standard_normal(np.shape(output))
    kept = upstream.copy()
    first, second = as_tuple(backward(upstream)), as_tuple(backward(upstream))
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)
    assert_array_equal(upstream, kept)
    for array, copy in zip(arrays, before, strict=True):
        assert_array_equal(array, copy)


@EVERY
def test_vjp_keeps_float32(vjp, forward, in_torch, arrays):
    output, backward = vjp(*(array.astype(np.float32) for array in arrays))
    assert output.dtype == np.float32
    for gradient in as_tuple(backward(np.ones_like(output))):
        assert gradient.dtype == np.float32


def test_dropout_vjp_drops_what_the_forward_drops_and_goes_back_the_same_way():
    x, upstream = normal(B, T, D), normal(B, T, D)
    y, backward = dropout_vjp(x, 0.3, np.random.default_rng(7))
    assert_array_equal(y, dropout(x, 0.3, np.random.default_rng(7)))
    assert_array_equal(backward(upstream) == 0, y == 0)
    seeded = lambda x: dropout_vjp(x, 0.3, np.random.default_rng(7))  # noqa: E731
    assert check_gradient(seeded, x) < 1e-7


@pytest.mark.parametrize(("p", "rng"), [(0.3, None), (0.0, np.random.default_rng(0))])
def test_dropout_vjp_passes_on_when_nothing_is_dropped(p, rng):
    x = normal(T, D)
    y, backward = dropout_vjp(x, p, rng)
    assert_array_equal(y, x)
    assert_array_equal(backward(x), x)


def test_attention_vjp_agrees_with_central_differences_under_dropout():
    def seeded(q, k, v):
        rng = np.random.default_rng(3)
        return attention_vjp(q, k, v, MASK, dropout_p=0.4, rng=rng)

    q, k, v = QKV
    found = attention(q, k, v, MASK, dropout_p=0.4, rng=np.random.default_rng(3))[0]
    assert_allclose(seeded(q, k, v)[0], found, rtol=1e-14)
    assert check_gradient(seeded, q, k, v) < 1e-7


def test_residual_vjp_adds_the_upstream_gradient_to_the_sublayers():
    W = normal(D, D)

    def sublayer(x):
        y, backward = linear_vjp(x, W)
        return y, lambda d_y: (backward(d_y)[0], {"W": backward(d_y)[1]})

    x, upstream = normal(T, D), normal(T, D)
    y, backward = residual_vjp(x, sublayer)
    d_x, gradients = backward(upstream)
    assert_allclose(y, x + x @ W, rtol=1e-13)
    assert_allclose(d_x, upstream + upstream @ W.T, rtol=1e-13)
    assert_allclose(gradients["W"], x.T @ upstream, rtol=1e-13)


# Exact values


@pytest.mark.parametrize(
    ("gamma", "upstream", "expected"),
    [
        (
            [1, 1, 1, 1],
            [1, 0, 0, 0],
            [0.27044983, -0.27044828, -0.13522453, 0.13522298],
        ),
        (
            [0.5, 1, 2, -1],
            [1, -2, 3, 0.5],
            [-0.20283718, -1.97041254, 3.36129161, -1.18804190],
        ),
    ],
)
def test_layer_norm_vjp_gives_known_values(gamma, upstream, expected):
    x = np.array([1.0, 2.0, 3.0, 5.0])
    _, backward = layer_norm_vjp(x, np.array(gamma, float), np.zeros(4))
    assert_allclose(backward(np.array(upstream, float))[0], expected, atol=1e-8)


@pytest.mark.parametrize(
    ("vjp", "slope"), [(gelu_vjp, 1.08331547), (gelu_tanh_vjp, 1.08296408)]
)
def test_gelu_vjp_gives_the_known_slope_at_one(vjp, slope):
    assert_allclose(vjp(np.array([1.0]))[1](np.array([1.0])), slope, atol=1e-8)


def test_relu_vjp_passes_nothing_at_zero_and_nan_through():
    _, backward = relu_vjp(np.array([0.0, -0.0, np.nan]))
    assert_array_equal(backward(np.array([1.0, 1.0, np.nan])), [0.0, 0.0, np.nan])


# Where nothing is allowed, or counted


def test_masked_softmax_vjp_gives_zeros_where_nothing_is_allowed():
    mask = MASK.copy()
    mask[0, 1, 2] = False
    _, backward = masked_softmax_vjp(normal(B, H, T, S), mask)
    d_scores = backward(normal(B, H, T, S))
    assert_array_equal(d_scores[~mask], 0.0)
    assert np.isfinite(d_scores).all()


def test_attention_vjp_of_one_blind_query_leaves_the_others_as_they_are():
    blind = MASK.copy()
    blind[0, 1, 2] = False
    upstream = normal(B, H, T, 6)
    found = attention_vjp(*QKV, blind)[1](upstream)
    silent = upstream.copy()
    silent[0, 1, 2] = 0.0  # as if nobody read that query's answer
    expected = attention_vjp(*QKV, MASK)[1](silent)
    for gradient, other in zip(found, expected, strict=True):
        assert_allclose(gradient, other, rtol=1e-12, atol=1e-15)


def test_mean_pool_vjp_of_no_tokens_is_zeros():
    none = REAL & np.array([[False], [True]])
    d_x = mean_pool_vjp(normal(B, T, D), none)[1](normal(B, D))
    assert_array_equal(d_x[~none], 0.0)
    assert (d_x[none] != 0).all()


def test_cross_entropy_vjp_of_no_targets_is_zeros():
    targets = np.full((B, T), -1)
    loss, backward = cross_entropy_vjp(normal(B, T, F), targets, ignore_index=-1)
    assert loss == 0
    assert_array_equal(backward(1.0), np.zeros((B, T, F)))


def test_layer_norm_vjp_of_a_constant_row_is_finite():
    _, backward = layer_norm_vjp(np.full((2, D), 3.0), np.ones(D), np.zeros(D))
    assert np.isfinite(backward(normal(2, D))[0]).all()


@pytest.mark.parametrize("vjp", [layer_norm_vjp, rms_norm_vjp])
def test_norm_vjp_computes_float16_in_float32(vjp):
    ones = [np.ones(D, np.float16)] * (2 if vjp is layer_norm_vjp else 1)
    x = (1000 * normal(T, D)).astype(np.float16)  # squares leave float16's range
    upstream = (100 * normal(T, D)).astype(np.float16)
    found = vjp(x, *ones)[1](upstream)[0]
    wide = vjp(x.astype(float), *(array.astype(float) for array in ones))
    assert found.dtype == np.float16
    assert_allclose(found, wide[1](upstream.astype(float))[0], atol=1e-3)


@EVERY
def test_vjp_refuses_an_upstream_gradient_of_another_shape(
    vjp, forward, in_torch, arrays, without_shape_checks
):
    if forward in (merge_heads, functional.relu, functional.silu, functional.gelu):
        pytest.skip("what it does to each value is right in any shape")
    if forward is functional.gelu_tanh or "split_heads" in str(vjp):
        pytest.skip("what it does to each value is right in any shape")
    output, backward = vjp(*arrays)
    with pytest.raises(ValueError, match="must have the output's shape, expected"):
        backward(np.ones((3, *np.shape(output))))


def test_layer_norm_vjp_is_exact_far_from_zero_as_its_forward_is():
    x, upstream = normal(3, 384), normal(3, 384)
    far = (x + 1e6).astype(np.float32)
    gamma, beta = np.ones(384, np.float32), np.zeros(384, np.float32)
    found = layer_norm_vjp(far, gamma, beta)[1](upstream.astype(np.float32))[0]
    right = layer_norm_vjp(far.astype(float), np.ones(384), np.zeros(384))
    assert relative(found, right[1](upstream)[0]) < 1e-5


def test_gelu_tanh_vjp_stays_finite_far_out():
    x = np.array([-1e20, -30.0, 30.0, 1e20], np.float32)
    with np.errstate(over="ignore"):
        _, backward = gelu_tanh_vjp(x)
    assert_array_equal(backward(np.ones(4, np.float32)), [0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("ids", [np.array([-1]), np.array([7])])
def test_embedding_vjp_refuses_ids_out_of_range(ids):
    with pytest.raises(ValueError, match="ids must be from 0 to 6, got"):
        embedding_vjp(normal(7, 3), ids)


def test_attention_vjp_refuses_what_its_forward_refuses(without_shape_checks):
    q, k, v = QKV
    with pytest.raises(ValueError, match="one value for each key"):
        attention_vjp(q, k, v[..., :2, :])


def test_vjps_take_whole_numbers_as_their_forwards_do():
    _, backward = linear_vjp(np.array([[1, 2]]), np.eye(2))
    assert_array_equal(backward(np.ones((1, 2)))[1], [[1.0, 1.0], [2.0, 2.0]])
