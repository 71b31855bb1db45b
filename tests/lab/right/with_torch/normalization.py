"""Norms by torch's functions, by rsqrt, by var, by nn.LayerNorm inside."""

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.with_torch import normalization as ours


def layer_norm__by_torch(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:] or eps < 0:
        raise ValueError("gamma, beta, eps")
    return F.layer_norm(x, (x.shape[-1],), gamma, beta, eps)


def layer_norm__rsqrt_of_var_mean(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:] or eps < 0:
        raise ValueError("gamma, beta, eps")
    wide = x.float() if x.dtype == torch.float16 else x
    variance, mean = torch.var_mean(wide, -1, correction=0, keepdim=True)
    return ((wide - mean) * torch.rsqrt(variance + eps)).to(x.dtype) * gamma + beta


def rms_norm__by_norm(x, gamma, eps=1e-6):
    if gamma.shape != x.shape[-1:] or eps < 0:
        raise ValueError("gamma, eps")
    square = torch.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1]
    return x * torch.rsqrt(square + eps) * gamma


class LayerNorm__is_torchs(nn.LayerNorm):
    def __init__(self, d_model, eps=1e-5):
        if d_model < 1 or eps < 0:
            raise ValueError("d_model, eps")
        super().__init__(d_model, eps=eps)


class LayerNorm__by_hand(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        if d_model < 1 or eps < 0:
            raise ValueError("d_model, eps")
        self.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
        self.register_parameter("weight", nn.Parameter(torch.ones(d_model)))
        self.epsilon = eps

    def forward(self, x):
        x = x - x.mean(dim=-1, keepdim=True)
        x = x / (x.pow(2).mean(dim=-1, keepdim=True) + self.epsilon) ** 0.5
        return torch.addcmul(self.bias, x, self.weight)


class RMSNorm__by_hand(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        if d_model < 1:
            raise ValueError("d_model")
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps
        ours.RMSNorm(d_model, eps)  # refuses the eps

    def forward(self, x):
        return self.weight * x * x.pow(2).mean(-1, keepdim=True).add(self.eps).rsqrt()
