"""What goes wrong between our masks and those of nn.MultiheadAttention."""

import torch

from encoderlab.bridge import masks as ours
from encoderlab.lab.mistakes.by_docstring import wrong

to = wrong("to_torch_nn_mask")
back = wrong("from_torch_nn_mask")


@to
def not_inverted(mask, num_heads, seq_len):
    """you leave True and False as they are

    there True hides: invert with `~`
    """
    return ~ours.to_torch_nn_mask(mask, num_heads, seq_len)


@to
def heads_first(mask, num_heads, seq_len):
    """you put all sequences of head 0 first: repeat where repeat_interleave is meant

    a sequence's heads stand together: expand, then flatten(0, 1)
    """
    full = ~mask.expand(-1, num_heads, seq_len, -1)
    return full.transpose(0, 1).flatten(0, 1)


@to
def four_axes(mask, num_heads, seq_len):
    """you leave batch and heads as two axes

    attn_mask has three, (B H, T, S): flatten(0, 1)
    """
    return ~mask.expand(-1, num_heads, seq_len, -1)


@to
def heads_forgotten(mask, num_heads, seq_len):
    """you give each sequence one mask, not one for each head

    expand to num_heads before you flatten
    """
    return ~mask[:, 0].expand(-1, seq_len, -1)


@to
def head_0_for_all(mask, num_heads, seq_len):
    """you take head 0's mask for all heads

    a mask may have an axis of heads of its own: expand, do not index
    """
    return ours.to_torch_nn_mask(mask[:, :1], num_heads, seq_len)


@to
def queries_and_keys_exchanged(mask, num_heads, seq_len):
    """you exchange queries and keys

    the last axis belongs to the keys on both sides
    """
    return ours.to_torch_nn_mask(mask, num_heads, seq_len).mT


@to
def one_row(mask, num_heads, seq_len):
    """you leave one row for all queries: attn_mask does not broadcast

    expand to seq_len rows
    """
    return ~mask.expand(-1, num_heads, -1, -1).flatten(0, 1)


@to
def added(mask, num_heads, seq_len):
    """you return numbers to add to the scores

    a boolean mask is asked for, True where a query may not attend
    """
    hidden = ours.to_torch_nn_mask(mask, num_heads, seq_len)
    return torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)


@to
def axes_unchecked(mask, num_heads, seq_len):
    """you accept a mask without the axis of heads

    raise ValueError unless there are four axes
    """
    mask = mask if mask.ndim == 4 else mask[:, None]
    return ours.to_torch_nn_mask(mask, num_heads, seq_len)


def steps(name, join=None, attend=None, pad=None):
    """Enter a way back with another step."""

    def from_torch_nn_mask(attn_mask=None, key_padding_mask=None, *, num_heads):
        right = ours.from_torch_nn_mask
        if attn_mask is not None or key_padding_mask is not None:
            right(attn_mask, key_padding_mask, num_heads=num_heads)  # the errors
        one = other = None
        if attn_mask is not None:
            one = (attend or _attend)(attn_mask, num_heads)
        if key_padding_mask is not None:
            other = (pad or _pad)(key_padding_mask)
        if one is None or other is None:
            return one if other is None else other
        return (join or torch.logical_and)(one, other)

    from_torch_nn_mask.__name__ = name
    return from_torch_nn_mask


def _attend(mask, num_heads):
    return ours.from_torch_nn_mask(mask, num_heads=num_heads)


def _pad(mask):
    return ours.from_torch_nn_mask(key_padding_mask=mask, num_heads=1)


def enter(name, says, hint, **changed):
    """Enter a mistake made of steps."""
    target = steps(name, **changed)
    target.__doc__ = f"{says}\n\n{hint}"
    target.__module__ = __name__
    back(target)


enter(
    "nothing_inverted",
    "you leave True and False as they are",
    "there True hides: invert both masks with `~`",
    join=torch.logical_or,
    attend=lambda m, h: ~_attend(m, h),
    pad=lambda m: ~_pad(m),
)
enter(
    "padding_not_inverted",
    "you invert the attn_mask, and not the key_padding_mask",
    "in both True hides",
    pad=lambda m: ~_pad(m),
)
enter(
    "attn_not_inverted",
    "you invert the key_padding_mask, and not the attn_mask",
    "in both True hides",
    attend=lambda m, h: ~_attend(m, h),
)
enter(
    "either_allows",
    "you join the two by |: what one of them hides, the other lets through",
    "join what is allowed by &",
    join=torch.logical_or,
)
enter(
    "padding_lost",
    "you drop the key_padding_mask where there is an attn_mask",
    "both hold: join them by &",
    join=lambda one, other: one,
)
enter(
    "attn_lost",
    "you drop the attn_mask where there is a key_padding_mask",
    "both hold: join them by &",
    join=lambda one, other: other,
)
enter(
    "heads_before_sequences",
    "you take the first axis for (H, B); a sequence's heads stand together, (B, H)",
    "unflatten(0, (-1, num_heads))",
    attend=lambda m, h: (
        _attend(m, h) if m.ndim == 2 else ~m.unflatten(0, (h, -1)).transpose(0, 1)
    ),
)
enter(
    "padding_on_queries",
    "you put the padding on the axis of queries",
    "keys are the last axis: key_padding_mask[:, None, None, :]",
    pad=lambda m: _pad(m).mT,
)
enter(
    "axes_missing",
    "your mask lacks axes: (B, S) is ambiguous",
    "[:, None, None] puts heads and queries between",
    pad=lambda m: ~m,
    join=lambda one, other: one & other[:, None, None],
)
enter(
    "two_axes_left",
    "you leave an attn_mask (T, S) with its two axes",
    "[None, None] puts batch and heads in front",
    attend=lambda m, h: ~m if m.ndim == 2 else _attend(m, h),
)


@back
def floats_accepted(attn_mask=None, key_padding_mask=None, *, num_heads):
    """you accept floating masks, which are added to the scores

    raise TypeError unless they are boolean
    """
    masks = [m if m is None else m != 0 for m in (attn_mask, key_padding_mask)]
    return ours.from_torch_nn_mask(*masks, num_heads=num_heads)


@back
def none_gives_all(attn_mask=None, key_padding_mask=None, *, num_heads):
    """you return a mask though there was none

    None stays None: attention is faster without a mask
    """
    if attn_mask is None and key_padding_mask is None:
        return torch.ones(1, 1, 1, 1, dtype=torch.bool)
    return ours.from_torch_nn_mask(attn_mask, key_padding_mask, num_heads=num_heads)
