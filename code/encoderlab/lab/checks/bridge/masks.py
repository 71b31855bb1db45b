"""Checks of chapter 14: our masks and those of ``nn.MultiheadAttention``."""

import torch

from encoderlab.lab.case import Property, ask
from encoderlab.with_torch.masks import causal_mask, padding_mask


def to_torch_nn_mask(solution, rng):
    one = padding_mask([2], 3)
    yield ask(solution, one, 1, 3, says="2 of 3 keys, 1 head, 3 queries")
    pad, heads = padding_mask([5, 2], 5), {"num_heads": 3, "seq_len": 5}
    says = "2 sequences with 5 and 2 tokens, 3 heads"
    yield ask(solution, pad, says=says, keywords=heads)
    causal = {"num_heads": 3, "seq_len": 4}
    yield ask(solution, causal_mask(4), says="a causal mask", keywords=causal)
    each = torch.from_numpy(rng.random((2, 3, 5, 7)) < 0.5)
    says = "another mask for each head and query"
    yield ask(solution, each, says=says, keywords=heads)
    some = torch.from_numpy(rng.random((2, 1, 5, 5)) < 0.5)
    yield ask(solution, some, says="another mask for each query", keywords=heads)
    yield Property(
        "nn.MultiheadAttention with it attends where our mask is True",
        lambda: _attends_where(solution(each[..., :5], **heads), each[..., :5]),
    )
    yield ask(solution, pad[:, 0], 3, 5, says="a mask without heads", raises=ValueError)


def _attends_where(attn_mask, ours):
    module = torch.nn.MultiheadAttention(12, 3, batch_first=True)
    x = torch.ones(2, 5, 12)
    options = {"attn_mask": attn_mask, "average_attn_weights": False}
    weights = module(x, x, x, **options)[1].nan_to_num()  # nothing allowed gives NaN
    return torch.equal(weights > 0, ours)


def from_torch_nn_mask(solution, rng):
    def ask_heads(*masks, heads=3, **options):
        return ask(solution, *masks, keywords={"num_heads": heads}, **options)

    padding = torch.tensor([[False, False, True]])
    yield ask_heads(None, padding, says="a key_padding_mask, 2 tokens and 1 of padding")
    pads = ~padding_mask([5, 2, 4, 1], 5)[:, 0, 0]
    yield ask_heads(None, pads, says="a key_padding_mask of 4 sequences")
    later = ~causal_mask(5)[0, 0]
    yield ask_heads(later, says="an attn_mask (T, S), the later tokens hidden")
    each = torch.from_numpy(rng.random((12, 5, 5)) < 0.5)
    yield ask_heads(each, says="an attn_mask (B H, T, S) of 4 sequences, 3 heads")
    yield ask_heads(each, heads=4, says="the same for 3 sequences, 4 heads")
    yield ask_heads(later, pads, says="an attn_mask (T, S) and a key_padding_mask")
    yield ask_heads(each, pads, says="an attn_mask (B H, T, S) and a key_padding_mask")
    yield ask_heads(says="no mask at all: None")
    wrong = {"raises": TypeError}
    floating = torch.zeros(5, 5).masked_fill(later, -torch.inf)
    yield ask_heads(floating, says="an attn_mask that is added", **wrong)
    yield ask_heads(None, pads.float(), says="a floating key_padding_mask", **wrong)
    wrong = {"raises": ValueError}
    yield ask_heads(each, heads=5, says="12 masks for 5 heads", **wrong)
    yield ask_heads(later[0], says="an attn_mask with one axis", **wrong)
    yield ask_heads(None, pads[0], says="a key_padding_mask with one axis", **wrong)
