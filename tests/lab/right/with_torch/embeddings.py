"""Positions by exponents and by loops; embeddings by one-hot, by a buffer."""

from math import log

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.with_torch import embeddings as ours


def _refuse(n, d, dtype):
    if not dtype.is_floating_point:
        raise TypeError(dtype)
    if n < 1 or d < 1:
        raise ValueError((n, d))


def sinusoidal_positions__by_exp_and_slices(max_len, d_model, dtype=torch.float32):
    _refuse(max_len, d_model, dtype)
    table = torch.zeros(max_len, d_model, dtype=torch.float64)
    pairs = torch.arange(0, d_model, 2, dtype=torch.float64)
    angles = torch.outer(
        torch.arange(max_len).double(), torch.exp(pairs * (-log(10000.0) / d_model))
    )
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles[:, : d_model // 2])
    return table.to(dtype)


def sinusoidal_positions__cosine_as_a_shifted_sine(
    max_len, d_model, dtype=torch.float32
):
    _refuse(max_len, d_model, dtype)
    column = torch.arange(d_model)
    exponents = (column - column % 2).double() / d_model
    angles = torch.arange(max_len)[:, None] / 10000.0**exponents
    return torch.sin(angles + column % 2 * torch.pi / 2).to(dtype)


class TextEmbeddings__buffer_and_dropout_module(nn.Module):
    def __init__(self, config):
        super().__init__()
        D, T = config.d_model, config.max_seq_len
        self.token = nn.Embedding(config.vocab_size, D)
        self.segment = nn.Embedding(config.num_segments, D)
        self.position, self.config = None, config
        if config.positions == "learned":
            self.position = nn.Embedding(T, D)
        elif config.positions == "sinusoidal":
            clocks = ours.sinusoidal_positions(T, D, torch.float64)
            self.register_buffer("clocks", clocks.float(), persistent=False)
        self.norm = nn.LayerNorm(D, eps=config.eps)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, token_ids, segment_ids=None):
        ours.require_ids(self.config, token_ids, segment_ids)
        places = torch.arange(token_ids.shape[1])
        x = self.token(token_ids)
        if self.position is not None:
            x = x + self.position(places)
        if self.config.positions == "sinusoidal":
            x = x + self.clocks[places]
        if segment_ids is None:
            segment_ids = token_ids.new_zeros(token_ids.shape)
        return self.drop(self.norm(x + self.segment(segment_ids)))


class TextEmbeddings__by_one_hot(TextEmbeddings__buffer_and_dropout_module):
    def forward(self, token_ids, segment_ids=None):
        ours.require_ids(self.config, token_ids, segment_ids)
        dtype, T = self.token.weight.dtype, token_ids.shape[1]
        x = F.one_hot(token_ids, self.config.vocab_size).to(dtype) @ self.token.weight
        if segment_ids is None:
            x = x + self.segment.weight[0]
        else:
            kinds = F.one_hot(segment_ids, self.config.num_segments).to(dtype)
            x = x + kinds @ self.segment.weight
        x = ours.add_positions(x, self.position, self.config.positions)
        assert x.shape[1] == T
        return self.drop(self.norm(x))
