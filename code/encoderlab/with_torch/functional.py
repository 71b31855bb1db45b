"""Functions without parameters of their own.

Linear maps and activations are PyTorch's; softmax is written out, since masks need it.
"""

from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import gelu, linear, log_softmax, relu, silu

from encoderlab.with_torch.masks import require_mask

__all__ = [
    "gelu",
    "gelu_tanh",
    "linear",
    "log_softmax",
    "masked_softmax",
    "relu",
    "silu",
    "softmax",
]

gelu_tanh = partial(gelu, approximate="tanh")
"""GELU by its tanh approximation, as GPT-2 uses it."""


def softmax(x: Float[Tensor, "..."], axis: int = -1) -> Float[Tensor, "..."]:
    r"""Turn scores into positive weights that sum to 1 along an axis.

    .. math:: \mathrm{softmax}(x)_i = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}, \quad
        m = \max_j x_j

    Parameters
    ----------
    x
        Scores of any size. A score of minus infinity gets weight 0.
    axis
        The axis along which the weights sum to 1.

    Returns
    -------
    Tensor
        Weights in [0, 1].

    Notes
    -----
    ``torch.softmax`` is the same in one kernel. Chapters 02 and 14.

    Examples
    --------
    >>> softmax(torch.tensor([1000.0, 1001.0, 1002.0]))
    tensor([0.0900, 0.2447, 0.6652])
    """
    weights = torch.exp(x - x.amax(axis, keepdim=True))
    return weights / weights.sum(axis, keepdim=True)


def masked_softmax(
    scores: Float[Tensor, "..."], mask: Bool[Tensor, "..."], axis: int = -1
) -> Float[Tensor, "..."]:
    """Softmax over the allowed scores alone; the others get weight 0.

    Parameters
    ----------
    scores
        Scores of any size; what stands at a masked place has no influence, NaN
        included.
    mask
        True where a score takes part. Broadcasts to the shape of ``scores``.
    axis
        The axis along which the weights sum to 1.

    Returns
    -------
    Tensor
        Weights in [0, 1]. A row in which nothing is allowed is all zeros, and its
        gradient is 0.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean.
    ValueError
        If ``mask`` does not broadcast to ``scores``.

    Notes
    -----
    Chapters 04 and 14.

    Examples
    --------
    >>> masked_softmax(torch.tensor([1.0, 1.0, 9.0]), torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    require_mask(mask, scores.shape)
    mask = mask.expand_as(scores)
    allowed = scores.masked_fill(~mask, -torch.inf)
    # a softmax of nothing but -inf is NaN, and its gradient too
    allowed = allowed.masked_fill(~mask.any(axis, keepdim=True), 0.0)
    return softmax(allowed, axis) * mask
