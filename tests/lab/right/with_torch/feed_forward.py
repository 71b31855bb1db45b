"""A network by einsum, and one with nn modules for what others write as functions."""

import torch
import torch.nn.functional as F
from torch import nn

KINDS = {
    "relu": nn.ReLU(),
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU(approximate="tanh"),
    "silu": nn.SiLU(),
}


class FeedForward__modules(nn.Module):
    def __init__(self, d_model, d_ff, *, activation="gelu", dropout=0.0):
        super().__init__()
        if min(d_model, d_ff) < 1 or activation not in KINDS or not 0 <= dropout < 1:
            raise ValueError("d_model, d_ff, activation, dropout")
        self.drop, self.activation = nn.Dropout(dropout), KINDS[activation]
        self.linear_2 = nn.Linear(d_ff, d_model)
        self.linear_1 = nn.Linear(d_model, d_ff)

    def forward(self, x):
        if x.shape[-1] != self.linear_1.in_features:
            raise ValueError("x")
        return self.linear_2(self.drop(self.activation(self.linear_1(x))))


class FeedForward__by_einsum(FeedForward__modules):
    def forward(self, x):
        if x.shape[-1] != self.linear_1.in_features:
            raise ValueError("x")
        first, second = self.linear_1, self.linear_2
        hidden = torch.einsum("...d,fd->...f", x, first.weight) + first.bias
        hidden = F.dropout(self.activation(hidden), self.drop.p, self.training)
        return torch.einsum("...f,df->...d", hidden, second.weight) + second.bias
