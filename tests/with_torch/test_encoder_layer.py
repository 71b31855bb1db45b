import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.bridge import to_torch_nn
from encoderlab.with_torch.encoder_layer import EncoderLayer
from encoderlab.with_torch.masks import padding_mask

B, T, H, D, F = 2, 5, 3, 12, 11
ORDERS = pytest.mark.parametrize("norm_first", [True, False], ids=["pre", "post"])
WAYS = pytest.mark.parametrize("need_weights", [True, False], ids=["weights", "sdpa"])
DRAWS, BOUND = 20_000, 5.0


@pytest.fixture
def x():
    return torch.randn(B, T, D, dtype=torch.float64)


@pytest.fixture
def make_layer(disturb):
    def make_layer(**options):
        return disturb(EncoderLayer(D, H, F, eps=0.1, **options))

    return make_layer


@ORDERS
def test_encoder_layer_is_the_documented_sum(make_layer, x, norm_first):
    layer, mask = make_layer(norm_first=norm_first), padding_mask([3, 5], T)
    y, weights = layer(x, mask, need_weights=True)
    seen = layer.norm_1(x) if norm_first else x
    attended, expected_weights = layer.attention(seen, mask, need_weights=True)
    if norm_first:
        h = x + attended
        expected = h + layer.feed_forward(layer.norm_2(h))
    else:
        h = layer.norm_1(x + attended)
        expected = layer.norm_2(h + layer.feed_forward(h))
    assert_close(y, expected, rtol=0, atol=0)
    assert_close(weights, expected_weights, rtol=0, atol=0)


@ORDERS
def test_encoder_layer_gives_weights_only_when_asked(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first)
    y, nothing = layer(x)
    explicit, weights = layer(x, need_weights=True)
    assert nothing is None
    assert weights.shape == (B, H, T, T)
    assert_close(explicit, y, rtol=1e-12, atol=1e-12)


@ORDERS
def test_encoder_layer_keeps_what_it_was_given(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first)
    for linear in (layer.attention.out_proj, layer.feed_forward.linear_2):
        nn.init.zeros_(linear.weight)
        nn.init.zeros_(linear.bias)
    expected = x if norm_first else layer.norm_2(layer.norm_1(x))
    assert_close(layer(x)[0], expected, rtol=1e-14, atol=0)


@ORDERS
@WAYS
def test_encoder_layer_of_a_fully_padded_sequence_stays_finite(
    make_layer, x, norm_first, need_weights
):
    layer = make_layer(norm_first=norm_first)
    y, _ = layer(x, padding_mask([0, 5], T), need_weights=need_weights)
    assert_close(y[1], layer(x)[0][1], rtol=1e-12, atol=1e-12)
    y.sum().backward()
    assert y.isfinite().all()
    assert all(p.grad.isfinite().all() for p in layer.parameters())


@ORDERS
def test_encoder_layer_every_parameter_gets_a_gradient(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first)
    y, _ = layer(x)
    y.backward(torch.randn_like(y))
    for name, parameter in layer.named_parameters():
        if name == "attention.k_proj.bias":  # a shift of all scores has no influence
            assert parameter.grad.abs().max() < 1e-12
        else:
            assert parameter.grad.abs().max() > 1e-3, name


@ORDERS
def test_encoder_layer_in_evaluation_has_no_dropout(make_layer, x, norm_first):
    layer = make_layer(norm_first=norm_first, dropout=0.5).eval()
    plain = make_layer(norm_first=norm_first).train()
    assert_close(layer(x)[0], plain(x)[0], rtol=0, atol=0)


def distance_under_dropout(ours, theirs, x, **options):
    """Largest difference of mean and of variance over all values, in standard errors.

    One value of the output is drawn ``DRAWS`` times from either layer, in training.
    """
    many = x.expand(DRAWS, *x.shape)
    with torch.no_grad():
        draws = ours.train()(many, **options)[0], theirs.train()(many)
    means = [draw.mean(0) for draw in draws]
    squares = [(d - mean).square() for d, mean in zip(draws, means, strict=True)]
    variances = [square.mean(0) for square in squares]
    of_mean = (means[0] - means[1]) / ((variances[0] + variances[1]) / DRAWS).sqrt()
    error = ((squares[0].var(0) + squares[1].var(0)) / DRAWS).sqrt()
    of_variance = (variances[0] - variances[1]) / error
    return max(of_mean.abs().max().item(), of_variance.abs().max().item())


@ORDERS
@WAYS
def test_encoder_layer_dropout_has_the_statistics_of_torch(
    make_layer, norm_first, need_weights
):
    # 72 differences, each nearly normal: one above 5 has a chance of 1 in 20,000
    layer = make_layer(norm_first=norm_first, dropout=0.3)
    x = torch.randn(3, D, dtype=torch.float64)
    theirs = to_torch_nn(layer)
    options = {"need_weights": need_weights}
    assert distance_under_dropout(layer, theirs, x, **options) < BOUND


@ORDERS
@pytest.mark.parametrize("place", ["attention", "feed_forward", "layer"])
def test_encoder_layer_without_dropout_in_one_place_has_other_statistics(
    make_layer, norm_first, place
):
    layer = make_layer(norm_first=norm_first, dropout=0.3)
    x = torch.randn(3, D, dtype=torch.float64)
    theirs = to_torch_nn(layer)
    lacking = layer if place == "layer" else getattr(layer, place)
    lacking.dropout = 0.0
    assert distance_under_dropout(layer, theirs, x) > 2 * BOUND


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@ORDERS
@WAYS
def test_encoder_layer_keeps_the_dtype(make_layer, x, dtype, norm_first, need_weights):
    layer, mask = make_layer(norm_first=norm_first), padding_mask([3, 5], T)
    expected, _ = layer(x, mask)
    found, _ = layer.to(dtype)(x.to(dtype), mask, need_weights=need_weights)
    assert found.dtype == dtype
    error = 64 * torch.finfo(dtype).eps * expected.abs().max()
    assert (found - expected).abs().max() < error


def test_encoder_layer_refuses_what_its_parts_refuse():
    with pytest.raises(ValueError, match="d_model must be divisible by num_heads"):
        EncoderLayer(D, 5, F)
    with pytest.raises(ValueError, match="eps must be at least 0"):
        EncoderLayer(D, H, F, eps=-1.0)
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        EncoderLayer(D, H, F, dropout=1.0)
