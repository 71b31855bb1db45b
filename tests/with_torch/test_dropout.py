import pytest
import torch
from torch.testing import assert_close

from encoderlab.with_torch.dropout import dropout


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("p", [0.1, 0.5])
def test_dropout_zeroes_the_share_and_scales_the_rest(dtype, p):
    found = dropout(torch.full((200, 500), 3.0, dtype=dtype), p)
    assert found.dtype == dtype
    kept = found != 0
    n = kept.numel()
    # six standard errors of a share of n draws
    assert abs(kept.double().mean() - (1 - p)) < 6 * (p * (1 - p) / n) ** 0.5
    expected = torch.full_like(found[kept], 3.0 / (1 - p))
    error = torch.finfo(dtype).eps  # the last digit is free
    assert_close(found[kept], expected, rtol=2 * error, atol=0)


def test_dropout_matches_the_statistics_of_torch():
    x = torch.randn(1, 12, dtype=torch.float64).expand(50_000, 12)
    ours, theirs = dropout(x, 0.3), torch.nn.functional.dropout(x, 0.3)
    for found, expected in ((ours, theirs), (ours.square(), theirs.square())):
        spread = ((found.var(0) + expected.var(0)) / len(x)).sqrt()
        assert ((found.mean(0) - expected.mean(0)).abs() < 5 * spread).all()


def test_dropout_drops_places_independently():
    zero = (dropout(torch.ones(100_000, 2), 0.5) == 0).double()
    both = (zero[:, 0] * zero[:, 1]).mean()
    assert abs(both - 0.25) < 0.01


def test_dropout_draws_anew_each_time():
    x = torch.ones(5, 12)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    assert (first != second).any()
    torch.manual_seed(0)
    assert_close(dropout(x, 0.5), first, rtol=0, atol=0)


def test_dropout_of_probability_zero_is_its_input():
    x = torch.ones(5)
    assert dropout(x, 0.0) is x


def test_dropout_leaves_its_input_unchanged():
    x = torch.ones(5, 12)
    dropout(x, 0.5)
    assert_close(x, torch.ones(5, 12), rtol=0, atol=0)


def test_dropout_passes_gradients_where_it_keeps():
    x = torch.randn(5, 12, dtype=torch.float64, requires_grad=True)
    found = dropout(x, 0.5)
    found.sum().backward()
    assert_close(x.grad, (found != 0) * 2.0, check_dtype=False, rtol=0, atol=0)


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, float("nan")])
def test_dropout_refuses_a_probability(p):
    with pytest.raises(ValueError, match=r"probability must be in \[0, 1\), got"):
        dropout(torch.ones(3), p)
