"""What goes wrong with softmax in PyTorch."""

import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import functional as ours

plain = wrong("softmax")
masked = wrong("masked_softmax")


@plain
def no_shift(x, axis=-1):
    """you take exp of the scores as they are: exp(1000) is infinite

    subtract the largest score of each row first: `x.amax(axis, keepdim=True)`
    """
    e = torch.exp(x)
    return e / e.sum(axis, keepdim=True)


@plain
def one_global_maximum(x, axis=-1):
    """you subtract the largest score of the whole tensor: rows far below give 0 / 0

    each row has its own: `x.amax(axis, keepdim=True)`
    """
    e = torch.exp(x - x.max())
    return e / e.sum(axis, keepdim=True)


@plain
def axis_ignored(x, axis=-1):
    """you do not use `axis`

    hand it on to `amax` and `sum`
    """
    return ours.softmax(x)


@plain
def always_axis_0(x, axis=-1):
    """you sum along the first axis, whatever `axis` is

    a sum's first argument is the axis
    """
    return ours.softmax(x, 0)


@plain
def over_everything(x, axis=-1):
    """you divide by the sum of the whole tensor

    each row has its own sum: `sum(axis, keepdim=True)`
    """
    e = torch.exp(x - x.amax(axis, keepdim=True))
    return e / e.sum()


@plain
def no_exp(x, axis=-1):
    """you divide the scores by their sum, without exp

    weights must be positive, whatever the scores are
    """
    return x / x.sum(axis, keepdim=True)


@plain
def sign_flipped(x, axis=-1):
    """your largest score gets the smallest weight

    look at the sign in the exponent
    """
    return ours.softmax(-x, axis)


@plain
def logarithm(x, axis=-1):
    """you return the logarithm of the weights

    that is log_softmax
    """
    return torch.log_softmax(x, axis)


@plain
def detached(x, axis=-1):
    """your result is cut off from x: no gradient comes back

    leave out detach(), .data and no_grad()
    """
    return ours.softmax(x.detach(), axis)


@plain
def maximum_by_numpy(x, axis=-1):
    """you compute in NumPy and make a new tensor, which knows nothing of x

    stay with tensors: torch.exp, amax, sum
    """
    return torch.tensor(ours.softmax(x.detach(), axis).numpy())


@plain
def array_returned(x, axis=-1):
    """you return a NumPy array

    stay with tensors from the beginning to the end
    """
    return ours.softmax(x, axis).detach().numpy()


@plain
def sum_detached(x, axis=-1):
    """you take the sum for a constant: the values are right, the gradient is not

    the sum depends on every score; detach it nowhere
    """
    e = torch.exp(x - x.amax(axis, keepdim=True))
    return e / e.sum(axis, keepdim=True).detach()


@plain
def changes_x(x, axis=-1):
    """you write into x: `x -= …` changes the caller's tensor

    write `x - …`, which makes a new one
    """
    with torch.no_grad():
        x -= x.amax(axis, keepdim=True)
    return ours.softmax(x, axis)


@plain
def changes_what_backward_needs(x, axis=-1):
    """you divide in place: `e /= …` changes what the gradient of exp needs

    write `e / …`, which makes a new tensor
    """
    e = torch.exp(x - x.amax(axis, keepdim=True))
    e /= e.sum(axis, keepdim=True)
    return e


@plain
def float64_returned(x, axis=-1):
    """you turn float32 into float64

    a result has the dtype of x
    """
    return ours.softmax(x.double(), axis)


@plain
def infinity_gives_nan(x, axis=-1):
    """you bring scores to 0 … 1 first, and a score of minus infinity gives NaN

    subtract the largest score; divide by nothing but the sum of the exp
    """
    low = x.amin(axis, keepdim=True)
    return ours.softmax(low + (x - low), axis)


@masked
def masked_no_rows(scores, mask, axis=-1):
    """a row that allows nothing gives NaN

    minus infinity minus minus infinity is NaN: fill such rows with 0 before the softmax
    """
    return ours.softmax(scores.masked_fill(~mask, -torch.inf), axis)


@masked
def rows_mended_afterwards(scores, mask, axis=-1):
    """you replace NaN after the softmax: the weights are right, their gradient is NaN

    nothing that is NaN may be computed at all: fill such rows with 0 before the softmax
    """
    weights = ours.softmax(scores.masked_fill(~mask, -torch.inf), axis)
    return weights.nan_to_num()


@masked
def rows_uniform(scores, mask, axis=-1):
    """a row that allows nothing gets equal weights

    set them to 0: multiply by the mask
    """
    low = torch.finfo(scores.dtype).min
    return ours.softmax(scores.masked_fill(~mask, low), axis)


@masked
def mask_inverted(scores, mask, axis=-1):
    """you hide what the mask allows: masked_fill fills where its mask is True

    fill where yours is False: `masked_fill(~mask, -torch.inf)`
    """
    return ours.masked_softmax(scores, ~mask, axis)


@masked
def mask_multiplied(scores, mask, axis=-1):
    """you multiply the mask into the scores: a score of 0 still gets weight

    exp(0) is 1; a hidden score must be minus infinity
    """
    return ours.softmax(scores * mask, axis)


@masked
def mask_added(scores, mask, axis=-1):
    """you add the boolean mask to the scores: True counts as 1

    put minus infinity where the mask is False
    """
    return ours.softmax(scores + mask, axis)


@masked
def mask_ignored(scores, mask, axis=-1):
    """you do not use the mask

    hidden scores get weight 0
    """
    return ours.softmax(scores, axis)


@masked
def not_renormalised(scores, mask, axis=-1):
    """you zero hidden weights after the softmax: the others no longer sum to 1

    mask the scores, before the softmax
    """
    return ours.softmax(scores, axis) * mask


@masked
def sentinel_small(scores, mask, axis=-1):
    """you fill hidden scores with -1e4, and other scores may be lower

    minus infinity is lower than every score
    """
    return ours.softmax(scores.masked_fill(~mask, -1e4), axis) * mask.any(
        axis, keepdim=True
    )


@masked
def sentinel_positive(scores, mask, axis=-1):
    """you fill hidden scores with a large number without its sign

    look at the sign: -torch.inf
    """
    return ours.softmax(scores.masked_fill(~mask, 3e4), axis)


@masked
def axis_of_masked_ignored(scores, mask, axis=-1):
    """you do not use `axis`

    hand it on to the softmax, and to `mask.any`
    """
    return ours.masked_softmax(scores, mask)


@masked
def masked_detached(scores, mask, axis=-1):
    """your result is cut off from the scores: no gradient comes back

    leave out detach(), .data and no_grad()
    """
    return ours.masked_softmax(scores.detach(), mask, axis)


@masked
def filled_in_place(scores, mask, axis=-1):
    """you fill the caller's scores: masked_fill_ with its underscore works in place

    masked_fill without the underscore makes a new tensor
    """
    scores.masked_fill_(~mask, -torch.inf)
    return ours.masked_softmax(scores, mask, axis)


@masked
def zero_times_infinity(scores, mask, axis=-1):
    """you multiply (1 - mask) by minus infinity: 0 times infinity is NaN

    choose with masked_fill or torch.where instead of multiplying
    """
    hidden = (1 - mask.to(scores.dtype)) * -torch.inf
    return ours.softmax(scores + hidden, axis)
