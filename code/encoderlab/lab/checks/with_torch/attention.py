"""Checks of chapter 14: attention, and the module that runs it in heads."""

import torch
from torch import nn

from encoderlab.lab.case import Property, ask
from encoderlab.lab.checks.with_torch.dropped_weights import (
    dropout_of_heads,
    dropout_of_weights,
)
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    exact,
    give_weights,
)
from encoderlab.with_torch import attention as ours
from encoderlab.with_torch.masks import padding_mask

ALL = {"keywords": {"need_weights": True}}


def attention(solution, rng):
    q = exact([[1.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    k = exact([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
    says = "2 queries, 2 keys, values of I, with the weights"
    yield ask(solution, q, k, torch.eye(2).double(), says=says, **ALL)
    q, k, v = draw(rng, 2, 5, 4), draw(rng, 2, 7, 4), draw(rng, 2, 7, 6)
    says = "5 queries, 7 keys, values of width 6"
    yield ask(solution, q, k, v, says=f"{says}, with the weights", **ALL)
    yield ask(solution, q, k, v, says=f"{says}: None for the weights")
    wide, says = draw(rng, 2, 7, 6), "7 queries and 7 keys of width 6"
    yield ask(solution, wide, 1 - wide, v, says=f"{says}, with the weights", **ALL)
    yield ask(solution, wide, 1 - wide, v, says=f"{says}: None for the weights")
    heads = [draw(rng, 2, 3, 5, 4) for _ in "qkv"]
    yield ask(solution, *heads, says="3 heads, with equal lengths", **ALL)
    mask = padding_mask([7, 4], 7)[:, 0]
    yield ask(solution, q, k, v, mask, says="7 and 4 of 7 keys allowed", **ALL)
    yield ask(solution, q, k, v, mask, says="7 and 4 of 7 keys, without weights")
    other = padding_mask([3, 6], 7)[:, 0]
    says = "a mask, 7 queries and 7 keys"
    yield ask(solution, k, 1 - k, v, other, says=says, **ALL)
    each = torch.from_numpy(rng.random((5, 7)) < 0.6)
    each[:, 2] = True
    yield ask(solution, q, k, v, each, says="another mask for each query", **ALL)
    nothing = mask & torch.tensor([True, False])[:, None, None]
    says = "sample 1 may attend to nothing: zeros"
    yield ask(solution, q, k, v, nothing, says=says, **ALL)
    yield ask(solution, q, k, v, nothing, says=f"{says}, without weights")
    deep = torch.zeros(3, 4).double()
    deep[:, 0] = exact([-4e4, -4.0001e4, 0])
    one, three = torch.eye(1, 4).double(), torch.eye(3).double()
    low = one, deep, three, torch.tensor([True, True, False])
    says = "scores of -20000 beside a masked 0"
    yield ask(solution, *low, says=says, **ALL)
    yield ask_gradients(solution, q, k, v, says="the gradients", rng=rng)
    says = "the gradients with the weights, and a mask"
    yield ask_gradients(solution, q, k, v, mask, says=says, rng=rng, **ALL)
    says = "the gradients where sample 1 may attend to nothing"
    yield ask_gradients(solution, q, k, v, nothing, says=says, rng=rng, **ALL)
    yield from dropout_of_weights(solution, rng)
    wrong = {"raises": ValueError}
    yield ask(solution, q, k[..., :3], v, says="keys of another width", **wrong)
    yield ask(solution, q, k, v[:, :6], says="fewer values than keys", **wrong)
    yield ask(solution, q, k[:, :0], v[:, :0], says="no key at all", **wrong)
    bad = {"keywords": {"dropout_p": 1.0}}
    yield ask(solution, q, k, v, says="dropout_p = 1", **bad, **wrong)
    yield ask(solution, q, k, v, mask.int(), says="a 0/1 mask", raises=TypeError)


def split_heads(solution, rng):
    x = torch.arange(8.0).reshape(2, 4)
    yield ask(solution, x, 2, says="2 tokens of width 4, 2 heads")
    x = draw(rng, 2, 5, 12)
    yield ask(solution, x, 3, says="2 sequences of 5 tokens, 3 heads of width 4")
    yield ask(solution, x[:, :3], 3, says="as many tokens as heads")
    yield ask(solution, x, 1, says="1 head")
    yield ask_gradients(solution, x, 3, says="the gradient", rng=rng)
    yield ask(solution, x, 5, says="12 in 5 heads", raises=ValueError)


def merge_heads(solution, rng):
    x = exact([[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]])
    yield ask(solution, x, says="2 heads, 2 tokens, width 2")
    x = draw(rng, 2, 3, 5, 4)
    yield ask(solution, x, says="2 sequences, 3 heads, 5 tokens, width 4")
    yield ask(solution, x[:, :, :3], says="as many tokens as heads")
    split = ours.split_heads(draw(rng, 2, 5, 12), 3)
    yield ask(solution, split, says="undoes split_heads")
    yield ask_gradients(solution, x, says="the gradient", rng=rng)


def MultiHeadAttention(solution, rng):  # noqa: N802  # named as what it checks
    def built(width=12, **choices):
        module = solution(width, 3, **choices)
        return give_weights(module, ours.MultiHeadAttention(width, 3), rng)

    yield Property("it is an nn.Module", lambda: isinstance(solution(12, 3), nn.Module))
    module, x = built(), draw(rng, 2, 5, 12, scale=0.6)
    yield ask(module, x[:1, :1], says="1 token: it can only attend to itself", **ALL)
    says = "2 sequences of 5 tokens, 3 heads of width 4"
    yield ask(module, x, says=f"{says}, with the weights", **ALL)
    yield ask(module, x, says=f"{says}: None for the weights")
    yield ask(module, x[:, :2], says="as many sequences as tokens", **ALL)
    yield ask(module, x[:, :3], says="as many tokens as heads", **ALL)
    wide = draw(rng, 2, 5, 18, scale=0.6)
    yield ask(built(18), wide, says="3 heads of width 6", **ALL)
    mask = padding_mask([5, 2], 5)
    yield ask(module, x, mask, says="padding after 5 and 2 tokens", **ALL)
    each = torch.from_numpy(rng.random((2, 3, 5, 5)) < 0.5)
    each[..., 1] = True
    yield ask(module, x, each, says="another mask for each head and query", **ALL)
    nothing = padding_mask([0, 5], 5)
    yield ask(module, x, nothing, says="sample 0 may attend to nothing", **ALL)
    padded, other = x.clone(), x.clone()
    padded[1, 2:] += 5
    other[1] += 1
    yield Property(
        "padding does not change the tokens before it",
        lambda: close(module(x, mask)[0][1, :2], module(padded, mask)[0][1, :2]),
    )
    yield Property(
        "sample 1 does not change the result of sample 0",
        lambda: close(module(x)[0][0], module(other)[0][0]),
    )
    says = "the gradients of x and of every parameter"
    yield ask_gradients(module, x, mask, says=says, rng=rng)
    yield ask_gradients(module, x, says=f"{says}, with weights", rng=rng, **ALL)
    yield from dropout_of_heads(built, rng)
    wrong = {"raises": ValueError}
    yield ask(solution, 10, 3, says="width 10 in 3 heads", **wrong)
    says, bad = "dropout = 1", {"dropout": 1.0}
    yield ask(solution, 12, 3, says=says, keywords=bad, **wrong)
    yield ask(module, x, mask[:, 0], says="a mask without the axis of heads", **wrong)
    yield ask(module, x, mask.int(), says="a 0/1 mask", raises=TypeError)
