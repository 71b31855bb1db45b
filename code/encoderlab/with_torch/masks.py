"""Who may attend to whom. Masks are boolean and True means "may attend".

A mask for a layer has the axes of its scores, (B, H, T, S), with 1 where it is the
same for all. ``torch.nn.MultiheadAttention`` means the reverse by True: see
:mod:`encoderlab.bridge`.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def padding_mask(
    lengths: Int[Tensor, "B"] | Sequence[int], max_len: int
) -> Bool[Tensor, "B 1 1 S"]:
    """Allow every query to attend to its sequence's tokens, not to padding after them.

    Parameters
    ----------
    lengths
        Number of tokens of each sequence, from 0 to ``max_len``.
    max_len
        Length to which the sequences are padded, S.

    Returns
    -------
    Tensor
        True at key positions below the sequence's length.

    Raises
    ------
    TypeError
        If ``lengths`` are not whole numbers.
    ValueError
        If a length is negative or above ``max_len``, or ``lengths`` has more than one
        axis.

    Notes
    -----
    Chapters 04 and 14.

    Examples
    --------
    >>> padding_mask([3, 1], 3)[:, 0, 0]
    tensor([[ True,  True,  True],
            [ True, False, False]])
    """
    lengths = torch.as_tensor(lengths)
    if lengths.numel() == 0:
        lengths = lengths.long()  # an empty list has no dtype of its own
    require_whole("lengths", lengths)
    if lengths.ndim != 1:
        raise ValueError(
            "lengths must hold one number for each sequence, got shape "
            f"{tuple(lengths.shape)}"
        )
    if len(lengths) and not 0 <= lengths.min() <= lengths.max() <= max_len:
        raise ValueError(
            f"lengths must be from 0 to max_len = {max_len}, got {lengths.min()} to "
            f"{lengths.max()}; truncate the sequences or raise max_len"
        )
    positions = torch.arange(max_len, device=lengths.device)
    return (positions < lengths[:, None])[:, None, None, :]


def causal_mask(T: int) -> Bool[Tensor, "1 1 T T"]:
    """Allow each query to attend to itself and to what comes before it.

    Parameters
    ----------
    T
        Sequence length, at least 1.

    Returns
    -------
    Tensor
        True on and below the diagonal.

    Raises
    ------
    ValueError
        If ``T`` is below 1.

    Notes
    -----
    A decoder's mask; an encoder uses none. Chapters 04 and 14.

    Examples
    --------
    >>> causal_mask(3)[0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    if T < 1:
        raise ValueError(f"T must be at least 1, got {T}")
    return torch.ones(T, T, dtype=torch.bool).tril()[None, None]


def additive_mask(
    mask: Bool[Tensor, "*shape"], dtype: torch.dtype
) -> Float[Tensor, "*shape"]:
    """Express a mask as numbers to add to scores: 0 keeps one, -inf removes it.

    Parameters
    ----------
    mask
        True where attention is allowed.
    dtype
        A floating dtype, that of the scores.

    Returns
    -------
    Tensor
        0 where ``mask`` is True, minus infinity elsewhere.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean, or ``dtype`` is not floating.

    Notes
    -----
    Chapters 04 and 14.

    Examples
    --------
    >>> additive_mask(torch.tensor([True, False]), torch.float32)
    tensor([0., -inf])
    """
    require_bool(mask)
    if not dtype.is_floating_point:
        raise TypeError(
            f"dtype must be floating, got {dtype}: integers have no infinity"
        )
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, -torch.inf)


def require_bool(mask: Tensor) -> None:
    """Refuse a mask of numbers, in which libraries mean different things.

    Parameters
    ----------
    mask
        What was passed as a mask.

    Raises
    ------
    TypeError
        If it is not boolean; the message says how to convert numbers.

    Examples
    --------
    >>> require_bool(torch.tensor([1, 0]) == 1)
    """
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean with True = may attend, got {mask.dtype}; convert a "
            "0/1 mask with `mask == 1`, an additive one (0 and -inf) with `mask == 0`"
        )


def require_mask(mask: Tensor, shape: torch.Size) -> None:
    """Refuse what is no mask for scores of a shape.

    Parameters
    ----------
    mask
        What was passed as a mask.
    shape
        That of the scores.

    Raises
    ------
    TypeError
        If it is not boolean.
    ValueError
        If it does not broadcast to the scores.

    Examples
    --------
    >>> require_mask(torch.tensor([True, False]), torch.Size([3, 2]))
    """
    require_bool(mask)
    pairs = zip(mask.shape[::-1], shape[::-1], strict=False)
    if mask.ndim > len(shape) or not all(m in (1, size) for m, size in pairs):
        raise ValueError(
            f"mask must broadcast to the scores, got mask {tuple(mask.shape)} and "
            f"scores {tuple(shape)}"
        )


def require_whole(name: str, ids: Tensor) -> None:
    """Refuse what are no whole numbers.

    Parameters
    ----------
    name
        What the message calls them.
    ids
        The numbers.

    Raises
    ------
    TypeError
        If their dtype is floating, complex or boolean.

    Examples
    --------
    >>> require_whole("lengths", torch.tensor([3, 1]))
    """
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{name} must be whole numbers, got {ids.dtype}")
