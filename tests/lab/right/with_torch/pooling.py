"""Mean pooling by einsum, sequence by sequence, by nanmean."""

import torch

from encoderlab.with_torch.pooling import mean_pool as ours


def mean_pool__by_einsum(x, mask):
    ours(x, mask)  # refuses
    share = mask.to(x.dtype)
    share = share / share.sum(-1, keepdim=True).clamp_min(1)
    clean = torch.where(mask[..., None], x, 0)
    return torch.einsum("...td,...t->...d", clean, share)


def mean_pool__one_by_one(x, mask):
    ours(x, mask)
    rows = [
        one[keep].mean(0) if keep.any() else (one[keep] * 0).sum(0)
        for one, keep in zip(
            x.reshape(-1, *x.shape[-2:]), mask.reshape(-1, mask.shape[-1]), strict=True
        )
    ]
    return torch.stack(rows).reshape(*x.shape[:-2], x.shape[-1])


def mean_pool__nan_put_right_afterwards(x, mask):
    ours(x, mask)
    mean = torch.where(mask[..., None], x, 0).sum(-2) / mask.sum(-1, keepdim=True)
    return torch.where(mask.any(-1, keepdim=True), mean, 0)
