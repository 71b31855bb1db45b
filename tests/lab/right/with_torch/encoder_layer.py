"""Layers with torch's norms and dropouts inside, and with one residual function."""

import torch.nn.functional as F
from torch import nn

from encoderlab.with_torch.attention import MultiHeadAttention
from encoderlab.with_torch.feed_forward import FeedForward


class EncoderLayer__torchs_norms_and_dropouts(nn.Module):
    def __init__(
        self,
        d_model,
        num_heads,
        d_ff,
        *,
        norm_first=True,
        activation="gelu",
        eps=1e-5,
        dropout=0.0,
    ):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model, eps=eps)
        self.norm_2 = nn.LayerNorm(d_model, eps=eps)
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.feed_forward = FeedForward(
            d_model, d_ff, activation=activation, dropout=dropout
        )
        self.drop_1, self.drop_2 = nn.Dropout(dropout), nn.Dropout(dropout)
        self.pre = norm_first

    def forward(self, x, mask=None, *, need_weights=False):
        z = self.norm_1(x) if self.pre else x
        z, weights = self.attention(z, mask, need_weights=need_weights)
        x = x + self.drop_1(z)
        x = x if self.pre else self.norm_1(x)
        x = x + self.drop_2(self.feed_forward(self.norm_2(x) if self.pre else x))
        return x if self.pre else self.norm_2(x), weights


class EncoderLayer__one_residual_function(EncoderLayer__torchs_norms_and_dropouts):
    def forward(self, x, mask=None, *, need_weights=False):
        kept = []

        def attend(z):
            out, weights = self.attention(z, mask, need_weights=need_weights)
            kept.append(weights)
            return out

        for sublayer, norm in (
            (attend, self.norm_1),
            (self.feed_forward, self.norm_2),
        ):
            change = sublayer(norm(x) if self.pre else x)
            x = F.dropout(change, self.drop_1.p, self.training).add(x)
            x = x if self.pre else norm(x)
        return x, kept[0]
