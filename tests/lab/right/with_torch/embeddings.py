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


def _refuse_patch(images, p):
    if p < 1 or any(size % p for size in images.shape[-2:]):
        raise ValueError(p)


def cut_patches__by_torch_unfold(images, patch_size):
    _refuse_patch(images, patch_size)
    return F.unfold(images, patch_size, stride=patch_size).transpose(1, 2)


def cut_patches__by_tensor_unfold(images, patch_size):
    p = patch_size
    _refuse_patch(images, p)
    grid = images.unfold(2, p, p).unfold(3, p, p)  # (B, C, Y / p, X / p, p, p)
    return grid.movedim(1, 3).flatten(3).flatten(1, 2)


def cut_patches__by_pixel_unshuffle(images, patch_size):
    _refuse_patch(images, patch_size)
    return F.pixel_unshuffle(images, patch_size).flatten(2).mT


def cut_patches__by_loops(images, patch_size):
    p = patch_size
    _refuse_patch(images, p)
    Y, X = images.shape[2:]
    patches = [
        images[:, :, top : top + p, left : left + p].flatten(1)
        for top in range(0, Y, p)
        for left in range(0, X, p)
    ]
    return torch.stack(patches, dim=1)


def cut_patches__by_chunks(images, patch_size):
    _refuse_patch(images, patch_size)
    rows = images.split(patch_size, dim=2)
    pieces = [piece for row in rows for piece in row.split(patch_size, dim=3)]
    return torch.stack([piece.reshape(len(images), -1) for piece in pieces], 1)


def cut_patches__by_places(images, patch_size):
    p = patch_size
    _refuse_patch(images, p)
    B, C, Y, X = images.shape
    place = torch.arange(C * Y * X).view(1, C, Y // p, p, X // p, p)
    place = torch.einsum("bcypxq->byxcpq", place).reshape(-1, C * p * p)
    return images.reshape(B, -1)[:, place]


class PatchEmbeddings__buffer_and_dropout_module(nn.Module):
    def __init__(self, config):
        super().__init__()
        C, D, N = config.num_channels, config.d_model, config.num_patches
        self.drop = nn.Dropout(config.dropout)
        self.position, self.config = None, config
        if config.positions == "learned":
            self.position = nn.Embedding(N + 1, D)
        elif config.positions == "sinusoidal":
            clocks = ours.sinusoidal_positions(N + 1, D, torch.float64)
            self.register_buffer("clocks", clocks.float(), persistent=False)
        self.class_token = nn.Parameter(torch.zeros(D))
        self.patch_proj = nn.Linear(C * config.patch_size**2, D)

    def forward(self, images):
        C, size = self.config.num_channels, self.config.image_size
        if images.shape[1:] != (C, size, size):
            raise ValueError(images.shape)
        patches = ours.cut_patches(images, self.config.patch_size)
        x = self.patch_proj(patches)
        first = self.class_token.repeat(len(images), 1, 1)
        x = torch.cat((first, x), 1)
        if self.position is not None:
            x = x + self.position(torch.arange(x.shape[1]))
        elif self.config.positions == "sinusoidal":
            x = x + self.clocks
        return self.drop(x)


class PatchEmbeddings__by_convolution(PatchEmbeddings__buffer_and_dropout_module):
    def forward(self, images):
        c, D = self.config, self.config.d_model
        ours.require_images(c, images)
        B, C, p = len(images), c.num_channels, c.patch_size
        kernel = self.patch_proj.weight.view(D, C, p, p)
        grid = F.conv2d(images, kernel, self.patch_proj.bias, stride=p)
        x = torch.empty(B, c.num_patches + 1, D, dtype=grid.dtype)
        x[:, 0] = self.class_token
        x[:, 1:] = grid.flatten(2).transpose(1, 2)
        x = ours.add_positions(x, self.position, c.positions)
        if self.training and c.dropout:
            kept = torch.rand(x.shape[::-1]).permute(2, 1, 0) >= c.dropout
            x = x * kept / (1 - c.dropout)
        return x


class PatchEmbeddings__positions_added_in_parts(
    PatchEmbeddings__buffer_and_dropout_module
):
    def forward(self, images):
        ours.require_images(self.config, images)
        x = self.patch_proj(ours.cut_patches(images, self.config.patch_size))
        places = torch.zeros(1 + x.shape[1], x.shape[2], dtype=x.dtype)
        places = ours.add_positions(places, self.position, self.config.positions)
        first = (self.class_token + places[0]).expand(len(x), -1)
        x = torch.cat([first[:, None], x + places[1:]], dim=-2)
        return F.dropout(x, self.config.dropout, training=self.training)
