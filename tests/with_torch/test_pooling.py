import pytest
import torch
from torch.testing import assert_close

from encoderlab.with_torch.pooling import mean_pool


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_mean_pool_is_the_mean_over_real_tokens(batch):
    x = torch.randn(*batch, 5, 12, dtype=torch.float64)
    mask = torch.rand(*batch, 5) < 0.6
    mask[..., 0] = True
    rows = zip(x.reshape(-1, 5, 12), mask.reshape(-1, 5), strict=True)
    expected = torch.stack([tokens[real].mean(0) for tokens, real in rows])
    found = mean_pool(x, mask).reshape(-1, 12)
    assert_close(found, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("content", [1e30, torch.inf, torch.nan])
def test_mean_pool_does_not_read_padding(content):
    x = torch.randn(2, 5, 12)
    mask = torch.arange(5) < torch.tensor([[3], [5]])
    before = mean_pool(x, mask)
    x[~mask] = content
    x.requires_grad_()
    after = mean_pool(x, mask)
    assert_close(after, before, rtol=0, atol=0)
    after.sum().backward()
    expected = mask / mask.sum(-1, keepdim=True)
    assert_close(x.grad, expected[..., None].expand(2, 5, 12), rtol=1e-6, atol=0)


def test_mean_pool_of_nothing_is_zero_and_moves_nothing():
    x = torch.ones(2, 5, 12, requires_grad=True)
    pooled = mean_pool(x, torch.zeros(2, 5, dtype=torch.bool))
    pooled.sum().backward()
    assert not pooled.any()
    assert not x.grad.any()


@pytest.mark.parametrize(
    "dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64]
)
def test_mean_pool_of_many_tokens_keeps_the_dtype(dtype):
    pooled = mean_pool(torch.full((30_000, 2), 3, dtype=dtype), torch.ones(30_000) == 1)
    assert pooled.dtype == dtype
    assert pooled.tolist() == [3, 3]


def test_mean_pool_refuses_a_mask_of_numbers(without_shape_checks):
    with pytest.raises(TypeError, match="mask must be boolean"):
        mean_pool(torch.ones(2, 5, 12), torch.ones(2, 5))


def test_mean_pool_refuses_a_mask_of_another_shape(without_shape_checks):
    message = r"expected shape \(2, 5\), got \(2, 1, 1, 5\)"
    with pytest.raises(ValueError, match=message):
        mean_pool(torch.ones(2, 5, 12), torch.ones(2, 1, 1, 5) == 1)
