"""What goes wrong with dropout in PyTorch."""

import torch
import torch.nn.functional as F

from encoderlab.lab.mistakes.by_docstring import wrong

here = wrong("dropout")


def kept(x, p):
    """Which values are kept."""
    return torch.rand(x.shape) >= p


@here
def not_scaled(x, p):
    """you drop values and do not scale the others: the mean shrinks

    divide what is kept by 1 - p
    """
    return x * kept(x, p)


@here
def keeps_with_p(x, p):
    """you keep a value with probability p

    p is the probability of dropping it
    """
    return x * kept(x, 1 - p) / (1 - p)


@here
def scaled_by_p(x, p):
    """you divide by p

    what is kept is divided by the share that is kept, 1 - p
    """
    return x * kept(x, p) / p if p else x


@here
def multiplied(x, p):
    """you multiply by 1 - p what is kept

    divide: what is left must make up for what is dropped
    """
    return x * kept(x, p) * (1 - p)


@here
def one_mask_for_all_rows(x, p):
    """you drop the same columns in every row

    draw a number for every value: torch.rand(x.shape)
    """
    return x * kept(x[0], p) / (1 - p)


@here
def whole_rows(x, p):
    """you drop whole rows

    draw a number for every value: torch.rand(x.shape)
    """
    return x * kept(x[:, :1], p) / (1 - p)


@here
def detached(x, p):
    """your result is cut off from x: no gradient comes back

    leave out detach(), .data and no_grad()
    """
    return x.detach() * kept(x, p) / (1 - p)


@here
def always_the_same(x, p):
    """you set a seed inside: the same places are dropped each time

    seeds are set once, outside
    """
    return (
        x
        * (torch.rand(x.shape, generator=torch.Generator().manual_seed(0)) >= p)
        / (1 - p)
    )


@here
def in_evaluation(x, p):
    """you ask for evaluation here, or drop nothing at all

    a function knows no mode; whoever calls it passes p = 0 in evaluation
    """
    return F.dropout(x, p, training=False)


@here
def in_place(x, p):
    """you write into x

    F.dropout(…, inplace=True) and `x *= …` change the caller's tensor
    """
    if p:
        x[...] = x * kept(x, p) / (1 - p)
    return x


@here
def probability_unchecked(x, p):
    """you accept p = 1, which leaves nothing to scale

    raise ValueError outside [0, 1)
    """
    return F.dropout(x, min(max(p, 0.0), 1.0))


@here
def fixed_number(x, p):
    """you always drop the same number of values

    each value is dropped or not by itself, with probability p
    """
    count = round(p * x.numel())
    gone = torch.randperm(x.numel())[:count]
    factors = torch.ones(x.numel(), dtype=x.dtype)
    factors[gone] = 0
    return x * factors.reshape(x.shape) / (1 - p)
