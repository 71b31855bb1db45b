"""Classifiers by a product, by einsum on the trace, by a weighted sum; the guess of
tokens by a tied nn.Linear, by products and one token after another."""

import torch
import torch.nn.functional as F
from torch import nn

from encoderlab.with_torch.normalization import layer_norm

BY_NAME = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}


class MaskedLanguageModel__decoder_is_a_tied_linear(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        D, V = encoder.config.d_model, encoder.config.vocab_size
        self.decoder = nn.Linear(D, V)  # before the encoder: its names come first
        self.decoder.weight = encoder.embeddings.token.weight
        self.bias = self.decoder.bias
        nn.init.zeros_(self.bias)
        self.norm = nn.LayerNorm(D, eps=encoder.config.eps)
        self.transform = nn.Linear(D, D)
        self.activation = BY_NAME[encoder.config.activation]
        self.encoder = encoder

    def forward(self, *inputs, **options):
        return self.decode(self.encoder(*inputs, **options)[0])

    def decode(self, states):
        return self.decoder(self.norm(self.activation(self.transform(states))))


class MaskedLanguageModel__table_as_an_attribute(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        config = encoder.config
        self.E = encoder.embeddings.token.weight
        self.transform = nn.Linear(config.d_model, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, config.eps)
        self.bias = nn.Parameter(torch.randn(config.vocab_size))

    def forward(self, token_ids, *more, **options):
        states = self.encoder(token_ids, *more, trace=True, **options)
        return self.decode(states.last_hidden_state)

    def decode(self, states):
        x = torch.einsum("...d,ed->...e", states, self.transform.weight)
        x = BY_NAME[self.encoder.config.activation](x + self.transform.bias)
        x = layer_norm(x, self.norm.weight, self.norm.bias, self.norm.eps)
        return torch.einsum("...d,vd->...v", x, self.E) + self.bias


class MaskedLanguageModel__token_by_token(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        D = encoder.config.d_model
        self.transform = nn.Linear(D, D)
        self.norm = nn.LayerNorm(D, encoder.config.eps)
        self.bias = nn.Parameter(torch.zeros(encoder.config.vocab_size))
        self.encoder = encoder
        self.head = nn.Sequential(self.transform, Activation(encoder.config), self.norm)

    def forward(self, *inputs, **options):
        states = self.encoder(*inputs, **options).last_hidden_state
        return torch.stack([self.decode(s) for s in states])

    def decode(self, states):
        x = self.head(states)
        rows = zip(self.encoder.embeddings.token.weight, self.bias, strict=True)
        return torch.stack([(x * row).sum(-1) + c for row, c in rows], dim=-1)


class Activation(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.name = config.activation

    def forward(self, x):
        return BY_NAME[self.name](x)


class TokenClassifier__plain_linear(nn.Module):
    def __init__(self, encoder, num_classes):
        super().__init__()
        if num_classes <= 0:
            raise ValueError("num_classes")
        self.classifier = nn.Linear(encoder.config.d_model, num_classes)
        self.encoder = encoder

    def forward(self, *inputs, **options):
        hidden, *_ = self.encoder(*inputs, **options)
        return F.linear(hidden, self.classifier.weight, self.classifier.bias)


class TokenClassifier__einsum_on_the_trace(nn.Module):
    def __init__(self, encoder, num_classes):
        if num_classes < 1:
            raise ValueError("num_classes")
        super().__init__()
        self.add_module("encoder", encoder)
        width = encoder.config.d_model
        self.classifier = nn.Linear(width, num_classes)
        nn.init.normal_(self.classifier.weight, std=0.02)

    def forward(self, *inputs, **options):
        output = self.encoder(*inputs, **{**options, "trace": True})
        states = output.hidden_states[-1]
        if self.encoder.final_norm is not None:
            states = self.encoder.final_norm(states)
        weight, bias = self.classifier.parameters()
        return torch.einsum("btd,cd->btc", states, weight) + bias


class SequenceClassifier__on_its_own(nn.Module):
    def __init__(self, encoder, num_classes):
        super().__init__()
        if num_classes < 1:
            raise ValueError("num_classes")
        self.encoder = encoder
        self.classifier = nn.Linear(encoder.config.d_model, num_classes)

    def forward(self, *inputs, **options):
        output = self.encoder(*inputs, **options)
        return self.classifier(output.last_hidden_state[:, 0, :])


class SequenceClassifier__of_all_then_the_first(TokenClassifier__plain_linear):
    def forward(self, *inputs, **options):
        return super().forward(*inputs, **options).select(-2, 0)


class SequenceClassifier__by_a_weighted_sum(SequenceClassifier__on_its_own):
    def forward(self, *inputs, **options):
        states = self.encoder(*inputs, **options)[0]
        first = torch.zeros(states.shape[1], dtype=states.dtype)
        first[0] = 1
        return self.classifier((states * first[:, None]).sum(1))
