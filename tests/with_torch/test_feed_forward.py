import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.with_torch.feed_forward import FeedForward

D, F = 12, 11
IN_TORCH = {
    "relu": nn.ReLU(),
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU(approximate="tanh"),
    "silu": nn.SiLU(),
}


@pytest.fixture
def x():
    return torch.randn(2, 5, D, dtype=torch.float64)


@pytest.mark.parametrize("activation", IN_TORCH)
def test_feed_forward_matches_torch(disturb, x, activation):
    module = disturb(FeedForward(D, F, activation=activation))
    theirs = nn.Sequential(nn.Linear(D, F), IN_TORCH[activation], nn.Linear(F, D))
    theirs = theirs.double()
    theirs.load_state_dict(
        {
            name.replace("linear_1", "0").replace("linear_2", "2"): tensor
            for name, tensor in module.state_dict().items()
        }
    )
    assert_close(module(x), theirs(x), rtol=1e-12, atol=1e-12)


def test_feed_forward_treats_each_token_by_itself(disturb, x):
    module = disturb(FeedForward(D, F))
    assert_close(module(x)[1, 3], module(x[1, 3]), rtol=1e-12, atol=1e-12)


def test_feed_forward_drops_hidden_values_in_training_alone(disturb, x):
    module = disturb(FeedForward(D, F, dropout=0.5))
    plain = disturb(FeedForward(D, F))(x)
    assert_close(module.eval()(x), plain, rtol=0, atol=0)
    with torch.no_grad():
        module.linear_2.weight.copy_(torch.eye(D)[:, :F])
    hidden = module.eval()(x)[..., :F] - module.linear_2.bias[:F]
    dropped = module.train()(x)[..., :F] - module.linear_2.bias[:F]
    zero = dropped.abs() < 1e-12
    assert 0.3 < zero.double().mean() < 0.7
    assert_close(dropped[~zero], 2 * hidden[~zero], rtol=1e-10, atol=1e-12)


def test_feed_forward_starts_with_zero_biases():
    module = FeedForward(D, F)
    bound = (6 / (D + F)) ** 0.5
    for linear, shape in ((module.linear_1, (F, D)), (module.linear_2, (D, F))):
        assert linear.weight.shape == shape
        assert 0.8 * bound < linear.weight.abs().max() <= bound
        assert not linear.bias.any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_feed_forward_keeps_the_dtype(disturb, x, dtype):
    module = disturb(FeedForward(D, F))
    expected = module(x)
    found = module.to(dtype)(x.to(dtype))
    assert found.dtype == dtype
    error = 32 * torch.finfo(dtype).eps * expected.abs().max()
    assert (found - expected).abs().max() < error


@pytest.mark.parametrize(("d_model", "d_ff"), [(0, 4), (4, 0), (-1, 4)])
def test_feed_forward_refuses_a_width(d_model, d_ff):
    with pytest.raises(ValueError, match="d_model and d_ff must be at least 1, got"):
        FeedForward(d_model, d_ff)


def test_feed_forward_refuses_an_unknown_activation(without_shape_checks):
    message = "activation must be one of relu, gelu, gelu_tanh, silu; got 'tanh'"
    with pytest.raises(ValueError, match=message):
        FeedForward(D, F, activation="tanh")


def test_feed_forward_refuses_dropout():
    with pytest.raises(ValueError, match="the dropout probability must be in"):
        FeedForward(D, F, dropout=-0.1)


@pytest.mark.parametrize("shape", [(2, 5, D + 1), ()])
def test_feed_forward_refuses_another_width(without_shape_checks, shape):
    with pytest.raises(ValueError, match="x must have 12 = d_model values on its last"):
        FeedForward(D, F)(torch.ones(shape))
