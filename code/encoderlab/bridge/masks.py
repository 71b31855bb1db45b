"""Our masks and those of ``nn.MultiheadAttention``, where True means the reverse."""

import torch
from jaxtyping import Bool
from torch import Tensor

from encoderlab.with_torch.masks import require_bool


def to_torch_nn_mask(
    mask: Bool[Tensor, "..."], num_heads: int, seq_len: int
) -> Bool[Tensor, "BH T S"]:
    """Turn our mask into the ``attn_mask`` of ``nn.MultiheadAttention``.

    Parameters
    ----------
    mask
        True where a query may attend to a key; its axes broadcast to (B, H, T, S), but
        the first must be B itself: expand a mask that all sequences share,
        ``mask.expand(B, -1, -1, -1)``.
    num_heads
        Heads H.
    seq_len
        Number of queries, T.

    Returns
    -------
    Tensor
        True where a query may *not* attend, one (T, S) for each head of each sequence,
        a sequence's heads together; ``src_mask`` of the encoder layer takes it too.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean.
    ValueError
        If ``mask`` does not have four axes, or not so many heads and queries.

    Notes
    -----
    A query that may attend to nothing gives NaN in ``torch.nn``, and zeros in ours.
    Chapter 14.

    Examples
    --------
    >>> mask = torch.tensor([[True, False]])[:, None, None]
    >>> to_torch_nn_mask(mask, num_heads=1, seq_len=2)
    tensor([[[False,  True],
             [False,  True]]])
    """
    require_bool(mask)
    if mask.ndim != 4:
        raise ValueError(
            f"mask must have the axes (B, H, T, S), got shape {tuple(mask.shape)}"
        )
    shapes = zip(mask.shape[1:3], (num_heads, seq_len), strict=True)
    if min(num_heads, seq_len) < 1 or any(n not in (1, size) for n, size in shapes):
        raise ValueError(
            f"mask must have shape (B, 1 or {num_heads}, 1 or {seq_len}, S), got "
            f"{tuple(mask.shape)}"
        )
    hidden = ~mask.expand(-1, num_heads, seq_len, -1)
    return hidden.flatten(0, 1)


def from_torch_nn_mask(
    attn_mask: Bool[Tensor, "..."] | None = None,
    key_padding_mask: Bool[Tensor, "B S"] | None = None,
    *,
    num_heads: int,
) -> Bool[Tensor, "..."] | None:
    """Turn the masks of ``nn.MultiheadAttention`` into ours.

    Parameters
    ----------
    attn_mask
        True where a query may not attend: (T, S), or (B H, T, S).
    key_padding_mask
        True at padding.
    num_heads
        Heads H.

    Returns
    -------
    Tensor or None
        True where a query may attend, with axes that broadcast to (B, H, T, S); None if
        there was no mask.

    Raises
    ------
    TypeError
        If a mask is not boolean: a floating one is added to the scores and may do more
        than hide.
    ValueError
        If a mask has other axes, the two do not fit, or ``num_heads`` is below 1.

    Notes
    -----
    Chapter 14.

    Examples
    --------
    >>> padding = torch.tensor([[False, False, True]])
    >>> from_torch_nn_mask(key_padding_mask=padding, num_heads=2)
    tensor([[[[ True,  True, False]]]])
    """
    for name, mask in (
        ("attn_mask", attn_mask),
        ("key_padding_mask", key_padding_mask),
    ):
        if mask is not None and mask.dtype != torch.bool:
            raise TypeError(
                f"{name} must be boolean, got {mask.dtype}; if it holds only 0 and "
                f"-inf, give {name} == -torch.inf"
            )
    if num_heads < 1:
        raise ValueError(f"num_heads must be at least 1, got {num_heads}")
    ours = None
    if attn_mask is not None:
        if attn_mask.ndim == 3 and len(attn_mask) % num_heads == 0:
            ours = ~attn_mask.unflatten(0, (-1, num_heads))
        elif attn_mask.ndim == 2:
            ours = ~attn_mask[None, None]
        else:
            raise ValueError(
                "attn_mask must have shape (T, S) or (B * num_heads, T, S), got "
                f"{tuple(attn_mask.shape)} with num_heads={num_heads}"
            )
    if key_padding_mask is None:
        return ours
    if key_padding_mask.ndim != 2:
        raise ValueError(
            f"key_padding_mask must have shape (B, S), got "
            f"{tuple(key_padding_mask.shape)}"
        )
    keys = ~key_padding_mask[:, None, None]
    if ours is None:
        return keys
    if ours.shape[-1] != keys.shape[-1] or len(ours) not in (1, len(keys)):
        raise ValueError(
            "the masks must have the same sequences and keys, got key_padding_mask of "
            f"shape {tuple(keys[:, 0, 0].shape)} and attn_mask for {tuple(ours.shape)}"
        )
    return keys & ours
