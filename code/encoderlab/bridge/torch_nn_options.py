"""Which of our modules one of PyTorch's own corresponds to, by its options."""

from typing import Any

import torch
from torch import nn

from encoderlab.config import EncoderConfig
from encoderlab.with_torch.attention import MultiHeadAttention
from encoderlab.with_torch.encoder import Encoder
from encoderlab.with_torch.encoder_layer import EncoderLayer
from encoderlab.with_torch.feed_forward import ACTIVATIONS
from encoderlab.with_torch.normalization import LayerNorm


def new_like(module: nn.Module) -> Any:
    """Build our module with the sizes and options of one of PyTorch's own.

    Parameters
    ----------
    module
        As :func:`~encoderlab.bridge.from_torch_nn` takes it.

    Returns
    -------
    nn.Module
        Ours, with new weights.

    Raises
    ------
    TypeError
        If ours has no such module.
    ValueError
        If it was made with an option that ours does not have; the message says which.

    Examples
    --------
    >>> new_like(nn.LayerNorm(4, eps=0.1)).eps
    0.1
    """
    if isinstance(module, nn.LayerNorm):
        return _from_layer_norm(module)
    if isinstance(module, nn.MultiheadAttention):
        return _from_attention(module)
    if isinstance(module, nn.TransformerEncoderLayer):
        return _from_layer(module)
    if isinstance(module, nn.TransformerEncoder):
        return _from_encoder(module)
    raise TypeError(f"ours has no counterpart of {type(module).__name__}")


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
