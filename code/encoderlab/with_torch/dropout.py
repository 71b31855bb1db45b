"""Dropout: zero values at random in training, and scale the rest to keep the mean."""

import torch
from jaxtyping import Float
from torch import Tensor


def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    """Zero each value with probability ``p`` and divide the others by ``1 - p``.

    A module calls it with 0 in evaluation: ``self.dropout if self.training else 0.0``.

    Parameters
    ----------
    x
        Values; left unchanged.
    p
        Probability of zeroing a value, in [0, 1).

    Returns
    -------
    Tensor
        A tensor whose expected value is ``x``; ``x`` itself if ``p`` is 0.

    Raises
    ------
    ValueError
        If ``p`` is outside [0, 1).

    Notes
    -----
    Srivastava and others, 2014, section 10. ``torch.nn.Dropout`` does the same, and
    takes ``p = 1`` too. Chapters 09 and 14.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> dropout(torch.ones(6), 0.5)
    tensor([0., 2., 0., 0., 0., 2.])
    """
    require_probability(p)
    if p == 0:
        return x
    kept = torch.rand(x.shape, device=x.device) >= p  # bfloat16 has too few numbers
    return x * (kept.to(x.dtype) / (1.0 - p))


def require_probability(p: float) -> None:
    """Refuse a dropout probability outside [0, 1).

    Parameters
    ----------
    p
        Probability of zeroing a value.

    Raises
    ------
    ValueError
        If it is outside [0, 1): at 1 nothing would be left to scale.

    Examples
    --------
    >>> require_probability(0.1)
    """
    if not 0 <= p < 1:
        raise ValueError(f"the dropout probability must be in [0, 1), got {p}")
