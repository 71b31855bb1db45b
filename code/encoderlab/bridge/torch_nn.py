"""Weights between our modules and PyTorch's own."""

from typing import Any

import torch
from torch import nn

from encoderlab.bridge.numpy_torch import to_torch
from encoderlab.bridge.torch_nn_options import new_like
from encoderlab.with_torch.feed_forward import ACTIVATIONS


def to_torch_nn(layer: Any) -> Any:
    """Build PyTorch's own module with the weights of one of ours.

    Parameters
    ----------
    layer
        A LayerNorm, MultiHeadAttention, EncoderLayer or Encoder of either side.

    Returns
    -------
    nn.Module
        ``nn.LayerNorm``, ``nn.MultiheadAttention``, ``nn.TransformerEncoderLayer`` or
        ``nn.TransformerEncoder``, batch first, in the mode of ``layer`` (evaluation for
        a NumPy layer).

    Raises
    ------
    TypeError
        If it is something else: none of PyTorch's encoders reads ids or pixels.

    Notes
    -----
    In ``torch.nn`` a boolean mask means the reverse: see
    :func:`~encoderlab.bridge.to_torch_nn_mask`. Chapter 14.

    Examples
    --------
    >>> from encoderlab.with_torch.attention import MultiHeadAttention
    >>> to_torch_nn(MultiHeadAttention(4, 2)).in_proj_weight.shape
    torch.Size([12, 4])
    """
    ours: Any = layer if isinstance(layer, nn.Module) else to_torch(layer)
    kind = type(ours).__name__
    if kind == "LayerNorm":
        theirs: nn.Module = nn.LayerNorm(len(ours.weight), ours.eps)
    elif kind == "MultiHeadAttention":
        theirs = nn.MultiheadAttention(
            ours.d_model, ours.num_heads, ours.dropout, batch_first=True
        )
    elif kind == "EncoderLayer":
        theirs = _new_torch_nn_layer(ours)
    elif kind == "Encoder":
        theirs = nn.TransformerEncoder(
            _new_torch_nn_layer(ours.layers[0]),
            len(ours.layers),
            norm=None if ours.final_norm is None else to_torch_nn(ours.final_norm),
            enable_nested_tensor=False,
        )
    else:
        raise TypeError(
            "expected a LayerNorm, MultiHeadAttention, EncoderLayer or Encoder, got "
            f"{kind}"
        )
    theirs.load_state_dict(_packed(ours), assign=True)
    return theirs.train(ours.training)


def from_torch_nn(module: nn.Module) -> Any:
    """Build our module with the weights of one of PyTorch's own.

    Parameters
    ----------
    module
        An ``nn.LayerNorm``, ``nn.MultiheadAttention``, ``nn.TransformerEncoderLayer``
        or ``nn.TransformerEncoder``.

    Returns
    -------
    nn.Module
        Ours, in the same mode.

    Raises
    ------
    TypeError
        If ours has no such module.
    ValueError
        If it was made with an option that ours does not have; the message says which.

    Notes
    -----
    Chapter 14.

    Examples
    --------
    >>> from_torch_nn(nn.MultiheadAttention(4, 2, batch_first=True)).num_heads
    2
    """
    ours = new_like(module)
    ours.load_state_dict(_unpacked(module), assign=True)
    return ours.train(module.training)


def _new_torch_nn_layer(ours):
    activation = ours.feed_forward.activation
    return nn.TransformerEncoderLayer(
        ours.attention.d_model,
        ours.attention.num_heads,
        ours.feed_forward.d_ff,
        ours.dropout,
        ACTIVATIONS[activation],
        ours.norm_1.eps,
        batch_first=True,
        norm_first=ours.norm_first,
    )


RENAMED = {
    "attention.": "self_attn.",
    "feed_forward.linear_": "linear",
    "norm_1.": "norm1.",
    "norm_2.": "norm2.",
    "final_norm.": "norm.",
}
"""Parts of our names, and what ``torch.nn`` calls them."""


def _packed(ours):
    """Our state under the names of torch.nn, the three projections in one matrix."""
    state = {}
    for name, tensor in ours.state_dict().items():
        for part, theirs in RENAMED.items():
            name = name.replace(part, theirs)
        state[name] = tensor.clone()
    for name in [name for name in state if name.endswith("q_proj.weight")]:
        owner = name.removesuffix("q_proj.weight")
        for kind in ("weight", "bias"):
            parts = [state.pop(f"{owner}{role}_proj.{kind}") for role in "qkv"]
            state[f"{owner}in_proj_{kind}"] = torch.cat(parts)
    return state


def _unpacked(theirs):
    """The state of a module of torch.nn under our names."""
    state = {}
    for name, tensor in theirs.state_dict().items():
        for part, other in RENAMED.items():
            name = name.replace(other, part)
        owner, packed, kind = name.partition("in_proj_")
        if packed:
            for role, part in zip("qkv", tensor.chunk(3), strict=True):
                state[f"{owner}{role}_proj.{kind}"] = part.clone()
        else:
            state[name] = tensor.clone()
    return state
