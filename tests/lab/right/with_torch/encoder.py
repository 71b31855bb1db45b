"""Stacks that are built and walked through in other ways."""

from types import SimpleNamespace

import torch
from torch import nn

from encoderlab.with_torch import encoder as ours
from encoderlab.with_torch.embeddings import TextEmbeddings
from encoderlab.with_torch.encoder_layer import EncoderLayer


class Encoder__by_append_and_hooks(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList()
        for _ in range(config.num_layers):
            layer = EncoderLayer(
                config.d_model,
                config.num_heads,
                config.d_ff,
                norm_first=config.norm_first,
                activation=config.activation,
                eps=config.eps,
                dropout=config.dropout,
            )
            self.layers.append(layer)
        self.final_norm = None
        if config.norm_first:
            self.final_norm = nn.LayerNorm(config.d_model, config.eps)

    def forward(self, x, mask=None, *, trace=False):
        outputs = [(x, None)]
        hooks = [
            layer.register_forward_hook(lambda *call: outputs.append(call[-1]))
            for layer in self.layers
        ]
        for layer in self.layers:
            x, _ = layer(x, mask, need_weights=trace)
        for hook in hooks:
            hook.remove()
        states, weights = zip(*outputs, strict=True)
        last = self.final_norm(x) if self.final_norm else x
        if not trace:
            return ours.EncoderOutput(last, None, None)
        return ours.EncoderOutput(last, states, weights[1:])


class Encoder__identity_for_no_norm(ours.Encoder):
    """A sequential of layers, and lists in the result."""

    def __init__(self, config):
        super().__init__(config)
        self.layers = nn.Sequential(*self.layers)

    def forward(self, x, mask=None, *, trace=False):
        states, weights = [x], []
        for layer in self.layers:
            y, w = layer(states[-1], mask, need_weights=True)
            states, weights = [*states, y], [*weights, w]
        last = (self.final_norm or nn.Identity())(states[-1])
        kept = (states, weights) if trace else (None, None)
        return ours.EncoderOutput(last, *kept)


class TextEncoder__has_an_encoder(ours.Encoder):
    """The mask by where; the embeddings made first."""

    def __init__(self, config):
        super().__init__(config)
        self.add_module("embeddings", TextEmbeddings(config))

    def forward(
        self,
        token_ids,
        attention_mask=None,
        *,
        segment_ids=None,
        causal=False,
        trace=False,
    ):
        B, T = token_ids.shape
        mask = torch.ones(B, 1, T, T, dtype=torch.bool)
        if attention_mask is not None:
            known = (attention_mask == 0) | (attention_mask == 1)
            if attention_mask.shape != token_ids.shape or not known.all():
                raise ValueError("attention_mask")
            mask = mask & (attention_mask.bool()[:, None, None])
        if causal:
            mask = mask.tril()
        x = self.embeddings(token_ids, segment_ids)
        output = super().forward(x, mask, trace=trace)
        return ours.EncoderOutput(**vars(SimpleNamespace(**output._asdict())))
