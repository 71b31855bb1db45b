"""What goes wrong with mean pooling in PyTorch."""

import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import pooling as ours

here = wrong("mean_pool")


def summed(x, mask):
    """The sum over the tokens that count."""
    return x.masked_fill(~mask[..., None], 0.0).sum(-2)


@here
def mask_ignored(x, mask):
    """you average the padding as well

    sum only the tokens where the mask is True, and count only those
    """
    return x.mean(-2)


@here
def divided_by_the_length(x, mask):
    """you divide by the padded length; only the real tokens count

    divide by mask.sum(-1, keepdim=True)
    """
    return summed(x, mask) / x.shape[-2]


@here
def count_of_the_batch(x, mask):
    """you divide by the tokens of the whole batch; each sequence has its own number

    mask.sum(-1, keepdim=True)
    """
    return summed(x, mask) / mask.sum().clamp(min=1)


@here
def inverted(x, mask):
    """you average the padding: masked_fill fills where its mask is True

    fill where yours is False: `~mask`
    """
    return ours.mean_pool(x, ~mask)


@here
def zero_times_nan(x, mask):
    """you multiply by the mask, and 0 times NaN is NaN

    masked_fill leaves out what stands in the padding
    """
    return (x * mask[..., None]).sum(-2) / mask.sum(-1, keepdim=True).clamp(min=1)


@here
def nothing_is_nan(x, mask):
    """a sequence without tokens gives 0 / 0, NaN

    divide by the number of tokens, but at least by 1
    """
    return summed(x, mask) / mask.sum(-1, keepdim=True)


@here
def one_added_to_the_count(x, mask):
    """you add 1 to the number of tokens to avoid 0, and change every mean

    clamp(min=1) changes 0 alone
    """
    return summed(x, mask) / (mask.sum(-1, keepdim=True) + 1)


@here
def first_token(x, mask):
    """you return the first token's vector

    that is CLS pooling; the mean is asked for
    """
    return x[..., 0, :]


@here
def maximum(x, mask):
    """you take the largest value of each feature

    sum over the tokens and divide by their number
    """
    low = x.masked_fill(~mask[..., None], -torch.inf).amax(-2)
    return low.masked_fill(~mask.any(-1, keepdim=True), 0.0)


@here
def detached(x, mask):
    """your result is cut off from x: no gradient comes back

    leave out detach(), .data and no_grad()
    """
    return ours.mean_pool(x.detach(), mask)


@here
def filled_in_place(x, mask):
    """you write into x: masked_fill_ with its underscore works in place

    masked_fill without the underscore makes a new tensor
    """
    return ours.mean_pool(x.masked_fill_(~mask[..., None], 0.0), mask)


@here
def numbers_accepted(x, mask):
    """you accept a mask of 0 and 1; it may as well mean the opposite

    raise TypeError unless mask.dtype is torch.bool
    """
    return ours.mean_pool(x, mask.bool())
