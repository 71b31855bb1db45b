import torch
import torch.nn.functional as F
from torch import nn


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
