"""What goes wrong with masks in PyTorch."""

import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import masks as ours

padding = wrong("padding_mask")
causal = wrong("causal_mask")
additive = wrong("additive_mask")


@padding
def inverted(lengths, max_len):
    """you put True at the padding, as nn.MultiheadAttention means it

    here True means "may attend": positions below the length
    """
    return ~ours.padding_mask(lengths, max_len)


@padding
def one_too_many(lengths, max_len):
    """you allow one position of padding

    positions count from 0: the last token stands at length - 1
    """
    return (
        ours.padding_mask(torch.as_tensor(lengths), max_len)
        | (torch.arange(max_len) == torch.as_tensor(lengths)[:, None])[:, None, None, :]
    )


@padding
def on_the_queries(lengths, max_len):
    """you put the padding on the axis of queries

    keys are the last axis: (B, 1, 1, S)
    """
    return ours.padding_mask(lengths, max_len).transpose(-1, -2)


@padding
def without_axes(lengths, max_len):
    """you leave out the axes of heads and queries

    two `None` in the index put them between: (B, 1, 1, S)
    """
    return ours.padding_mask(lengths, max_len)[:, 0, 0]


@padding
def one_axis_missing(lengths, max_len):
    """one axis is missing: of (B, 1, S) a layer would take B for the heads

    one `None` for the heads, one for the queries
    """
    return ours.padding_mask(lengths, max_len)[:, 0]


@padding
def numbers(lengths, max_len):
    """you return 0 and 1: libraries disagree on what they mean

    leave the comparison's result as it is, a tensor of booleans
    """
    return ours.padding_mask(lengths, max_len).float()


@padding
def padding_in_front(lengths, max_len):
    """you put the padding in front of the tokens

    the first positions are tokens: `positions < length`
    """
    return ours.padding_mask(lengths, max_len).flip(-1)


@padding
def length_unchecked(lengths, max_len):
    """you accept lengths that no sequence can have

    raise ValueError where one is below 0 or above max_len
    """
    lengths = torch.as_tensor(lengths)
    return (torch.arange(max_len) < lengths[:, None])[:, None, None, :]


@causal
def inverted_triangle(T):
    """you allow what comes after, and hide what comes before

    True means "may attend": on and below the diagonal
    """
    return ~ours.causal_mask(T)


@causal
def upper_triangle(T):
    """you allow the upper triangle: itself and what comes after

    `tril` keeps what is on and below the diagonal, `triu` above
    """
    return ours.causal_mask(T).transpose(-1, -2)


@causal
def not_itself(T):
    """you hide each token from itself

    tril() with diagonal=0 keeps the diagonal
    """
    return torch.ones(T, T, dtype=torch.bool).tril(-1)[None, None]


@causal
def one_ahead(T):
    """you let each token see the next one too

    tril() with diagonal=0 ends at the diagonal
    """
    return torch.ones(T, T, dtype=torch.bool).tril(1)[None, None]


@causal
def two_axes(T):
    """you leave out the axes of the batch and the heads

    put two `None` in front: (1, 1, T, T)
    """
    return ours.causal_mask(T)[0, 0]


@causal
def triangle_of_numbers(T):
    """you return numbers

    give `torch.ones` the dtype torch.bool
    """
    return ours.causal_mask(T).float()


@additive
def finite(mask, dtype):
    """you fill with -1e9: in float16 it has no such number, and elsewhere it is finite

    -torch.inf
    """
    low = -1e9 if dtype != torch.float16 else -65504.0
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, low)


@additive
def additive_inverted(mask, dtype):
    """you put minus infinity where attention is allowed

    masked_fill fills where its mask is True: give it `~mask`
    """
    return ours.additive_mask(~mask, dtype)


@additive
def positive_infinity(mask, dtype):
    """you fill with plus infinity

    look at the sign
    """
    return -ours.additive_mask(mask, dtype)


@additive
def product(mask, dtype):
    """you multiply by minus infinity: 0 times infinity is NaN

    choose with masked_fill or torch.where
    """
    return (1 - mask.to(dtype)) * -torch.inf


@additive
def one_for_allowed(mask, dtype):
    """you add 1 to allowed scores

    0 leaves a score as it is
    """
    return ours.additive_mask(mask, dtype).masked_fill(mask, 1.0)


@additive
def dtype_ignored(mask, dtype):
    """you do not use `dtype`

    hand it on where the tensor is made
    """
    return ours.additive_mask(mask, torch.float32)


@additive
def logarithm_of_integers(mask, dtype):
    """you accept a dtype of integers, which has no infinity

    raise TypeError unless dtype.is_floating_point
    """
    low = -torch.inf if dtype.is_floating_point else -(10**9)
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, low)
