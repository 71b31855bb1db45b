"""Weights between our modules and PyTorch's own."""

from typing import Any

import torch
from torch import nn

from encoderlab.bridge.numpy_torch import to_torch
from encoderlab.config import EncoderConfig
from encoderlab.with_torch.attention import MultiHeadAttention
from encoderlab.with_torch.encoder import Encoder
from encoderlab.with_torch.encoder_layer import EncoderLayer
from encoderlab.with_torch.feed_forward import ACTIVATIONS
from encoderlab.with_torch.normalization import LayerNorm


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
    if isinstance(module, nn.LayerNorm):
        ours = _from_layer_norm(module)
    elif isinstance(module, nn.MultiheadAttention):
        ours = _from_attention(module)
    elif isinstance(module, nn.TransformerEncoderLayer):
        ours = _from_layer(module)
    elif isinstance(module, nn.TransformerEncoder):
        ours = _from_encoder(module)
    else:
        raise TypeError(f"ours has no counterpart of {type(module).__name__}")
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


def _from_layer_norm(module):
    if (
        not isinstance(module, nn.LayerNorm)
        or len(module.normalized_shape) != 1
        or module.weight is None
        or module.bias is None
    ):
        raise ValueError(
            "the norm must be a LayerNorm over the last axis alone, with weight and "
            f"bias, got {module}"
        )
    return LayerNorm(module.normalized_shape[0], module.eps)


def _from_attention(module):
    reasons = {
        "batch_first=False, and ours takes the batch first": not module.batch_first,
        "bias=False, and ours has biases": module.in_proj_bias is None,
        "kdim or vdim, and ours attends to the tokens themselves": (
            not module._qkv_same_embed_dim
        ),
        "add_bias_kv=True, and ours adds no key": module.bias_k is not None,
        "add_zero_attn=True, and ours adds no key": module.add_zero_attn,
    }
    for reason, holds in reasons.items():
        if holds:
            raise ValueError(f"the attention was made with {reason}")
    return MultiHeadAttention(
        module.embed_dim, module.num_heads, dropout=module.dropout
    )


def _from_layer(module):
    attention = _from_attention(module.self_attn)
    rates = {module.dropout.p, module.dropout1.p, module.dropout2.p, attention.dropout}
    if len(rates) > 1:
        raise ValueError(f"ours has one rate of dropout, the layer has {sorted(rates)}")
    if module.norm1.eps != module.norm2.eps:
        raise ValueError(
            f"ours has one eps, the layer has {module.norm1.eps} and {module.norm2.eps}"
        )
    return EncoderLayer(
        attention.d_model,
        attention.num_heads,
        module.linear1.out_features,
        norm_first=module.norm_first,
        activation=_activation_name(module.activation),
        eps=module.norm1.eps,
        dropout=rates.pop(),
    )


def _activation_name(activation):
    x = torch.linspace(-3.0, 3.0, 13)
    for name, ours in ACTIVATIONS.items():
        if torch.equal(activation(x), ours(x)):
            return name
    raise ValueError(
        f"the layer's activation, {activation}, is none of ours: "
        f"{', '.join(ACTIVATIONS)}"
    )


def _from_encoder(module):
    configs = {_config(layer, len(module.layers)) for layer in module.layers}
    if len(configs) > 1:
        raise ValueError("ours has layers of one kind, the encoder's options differ")
    config = configs.pop()
    if (module.norm is not None) != config.norm_first:
        order = "pre-norm" if config.norm_first else "post-norm"
        said = "no final norm" if module.norm is None else "a final norm"
        raise ValueError(
            f"the encoder is {order} with {said}; ours has one in pre-norm alone"
        )
    if module.norm is not None and _from_layer_norm(module.norm).eps != config.eps:
        raise ValueError(
            f"ours has one eps, the encoder's layers have {config.eps} and its final "
            f"norm {module.norm.eps}"
        )
    return Encoder(config)


def _config(module, num_layers):
    layer = _from_layer(module)
    return EncoderConfig(
        d_model=layer.attention.d_model,
        num_heads=layer.attention.num_heads,
        d_ff=layer.feed_forward.d_ff,
        num_layers=num_layers,
        norm_first=layer.norm_first,
        activation=layer.feed_forward.activation,
        eps=layer.norm_1.eps,
        dropout=layer.dropout,
    )
