"""Who may attend to whom. Masks are boolean and True means "may attend".

A mask for a layer has the axes of its scores, (B, H, T, S), with 1 where it is the
same for all.
"""

from collections.abc import Sequence
from numbers import Integral

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import DTypeLike


def padding_mask(
    lengths: Int[np.ndarray, "B"] | Sequence[int], max_len: int
) -> Bool[np.ndarray, "B 1 1 S"]:
    """Allow every query to attend to its sequence's tokens, not to padding after them.

    Parameters
    ----------
    lengths
        Number of tokens of each sequence, from 0 to ``max_len``.
    max_len
        Length to which the sequences are padded, S.

    Returns
    -------
    np.ndarray
        True at key positions below the sequence's length.

    Raises
    ------
    TypeError
        If ``lengths`` or ``max_len`` are not whole numbers.
    ValueError
        If a length is negative or above ``max_len``, or ``lengths`` has more than one
        axis.

    Notes
    -----
    The mask hides padding as keys; what a padded query computes is never read.
    Chapter 04.

    Examples
    --------
    >>> padding_mask([3, 1], 3)[:, 0, 0]
    array([[ True,  True,  True],
           [ True, False, False]])
    """
    lengths = np.asarray(lengths)
    _require_whole("max_len", max_len)
    if lengths.size == 0:
        lengths = lengths.astype(np.int64)  # an empty list has no dtype of its own
    if not np.issubdtype(lengths.dtype, np.integer):
        raise TypeError(f"lengths must be whole numbers, got {lengths.dtype}")
    if lengths.ndim != 1:
        raise ValueError(
            f"lengths must hold one number for each sequence, got shape {lengths.shape}"
        )
    if lengths.size and (lengths.min() < 0 or lengths.max() > max_len):
        raise ValueError(
            f"lengths must be from 0 to max_len = {max_len}, got {lengths.min()} to "
            f"{lengths.max()}; truncate the sequences or raise max_len"
        )
    return (np.arange(max_len) < lengths[:, None])[:, None, None, :]


def causal_mask(T: int) -> Bool[np.ndarray, "1 1 T T"]:
    """Allow each query to attend to itself and to what comes before it.

    Parameters
    ----------
    T
        Sequence length, at least 1.

    Returns
    -------
    np.ndarray
        True on and below the diagonal.

    Raises
    ------
    TypeError
        If ``T`` is not a whole number.
    ValueError
        If ``T`` is below 1.

    Notes
    -----
    A decoder's mask. An encoder reads in both directions and uses none; the book needs
    it to show what that buys. Chapters 01 and 04.

    Examples
    --------
    >>> causal_mask(3)[0, 0].astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    _require_whole("T", T)
    if T < 1:
        raise ValueError(f"T must be at least 1, got {T}")
    return np.tri(T, dtype=bool)[None, None]


def additive_mask(
    mask: Bool[np.ndarray, "*shape"], dtype: DTypeLike
) -> Float[np.ndarray, "*shape"]:
    """Express a mask as numbers to add to scores: 0 keeps one, -inf removes it.

    Parameters
    ----------
    mask
        True where attention is allowed.
    dtype
        A floating dtype, that of the scores.

    Returns
    -------
    np.ndarray
        0 where ``mask`` is True, minus infinity elsewhere.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean, or ``dtype`` is not floating.

    Notes
    -----
    A softmax over a row of nothing but minus infinity is NaN: rows with nothing to
    attend to need :func:`~encoderlab.with_numpy.functional.masked_softmax`. Chapter 04.

    Examples
    --------
    >>> additive_mask(np.array([True, False]), np.float32)
    array([  0., -inf], dtype=float32)
    """
    mask = require_bool(mask)
    dtype = np.dtype(dtype)
    if not np.issubdtype(dtype, np.floating):
        raise TypeError(
            f"dtype must be floating, got {dtype}: integers have no infinity"
        )
    return np.where(mask, 0.0, -np.inf).astype(dtype)


def require_bool(mask) -> Bool[np.ndarray, "..."]:
    """Give the mask back if it is boolean.

    Parameters
    ----------
    mask
        What was passed as a mask.

    Returns
    -------
    np.ndarray
        The mask.

    Raises
    ------
    TypeError
        If it is not boolean; the message says how to convert numbers.

    Notes
    -----
    Numbers are refused because libraries disagree on them: 0/1 masks, masks to be added
    to the scores, and masks in which 1 means "hide" all look alike. Chapter 04.

    Examples
    --------
    >>> require_bool(np.array([1, 0]) == 1)
    array([ True, False])
    """
    mask = np.asarray(mask)
    if mask.dtype == bool:
        return mask
    raise TypeError(
        f"mask must be boolean with True = may attend, got {mask.dtype}; convert a 0/1 "
        "mask with `mask == 1`, an additive one (0 and -inf) with `mask == 0`"
    )


def _require_whole(name, value):
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
