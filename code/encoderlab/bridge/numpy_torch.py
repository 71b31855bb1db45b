"""Weights between the NumPy layers and the modules of the same names."""

from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from encoderlab.with_numpy.parameters import cast, load, parameters
from encoderlab.with_torch.parameters import NAMES, TABLES, to_state_dict

FILES = {
    "LayerNorm": "normalization",
    "RMSNorm": "normalization",
    "MultiHeadAttention": "attention",
    "FeedForward": "feed_forward",
    "EncoderLayer": "encoder_layer",
    "Encoder": "encoder",
    "TextEncoder": "encoder",
    "ImageEncoder": "encoder",
    "TextEmbeddings": "embeddings",
    "PatchEmbeddings": "embeddings",
    "TokenClassifier": "heads",
}
"""The layers that both sides have, and the file that they stand in."""


def to_torch(layer: Any) -> Any:
    """Build the module of the same name with a NumPy layer's weights.

    Parameters
    ----------
    layer
        A layer of ``encoderlab.with_numpy``.

    Returns
    -------
    nn.Module
        That of ``encoderlab.with_torch``, in the layer's dtype and in evaluation mode,
        as a NumPy layer is without ``rng``.

    Raises
    ------
    TypeError
        If it is no layer of that package.

    Notes
    -----
    Chapter 14.

    Examples
    --------
    >>> from encoderlab.with_numpy.normalization import LayerNorm
    >>> to_torch(LayerNorm(4))
    LayerNorm()
    """
    module = _counterpart(layer, "with_numpy", "with_torch", to_torch, {})
    module.load_state_dict(to_state_dict(parameters(layer)), assign=True)
    return module.eval()


def to_numpy(module: nn.Module) -> Any:
    """Build the NumPy layer of the same name with a module's weights.

    Parameters
    ----------
    module
        A module of ``encoderlab.with_torch``, on any device.

    Returns
    -------
    object
        The layer of ``encoderlab.with_numpy``, in the module's dtype; bfloat16, which
        NumPy does not know, becomes float32.

    Raises
    ------
    TypeError
        If it is no module of that package, or has no counterpart in NumPy.

    Notes
    -----
    Chapter 14.

    Examples
    --------
    >>> from encoderlab.with_torch.normalization import LayerNorm
    >>> to_numpy(LayerNorm(2)).gamma
    array([1., 1.], dtype=float32)
    """
    chance = {"rng": np.random.default_rng(0)}
    layer = _counterpart(module, "with_torch", "with_numpy", to_numpy, chance)
    weights = to_arrays(module)
    dtypes = {array.dtype for array in weights.values()}
    if len(dtypes) == 1:
        cast(layer, dtypes.pop())
    return load(layer, weights)


def to_arrays(module: nn.Module) -> dict[str, np.ndarray]:
    """Give a module's parameters under the names of the NumPy layers.

    Parameters
    ----------
    module
        A module of ``encoderlab.with_torch``.

    Returns
    -------
    dict
        Name to a copy, matrices turned to (in, out); bfloat16 as float32. Gradients
        of parameters have the same names and shapes.

    Raises
    ------
    TypeError
        If it is one of PyTorch's own, or a parameter has no counterpart in NumPy.

    Notes
    -----
    Chapter 14.

    Examples
    --------
    >>> from encoderlab.with_torch.attention import MultiHeadAttention
    >>> list(to_arrays(MultiHeadAttention(4, 2)))[:2]
    ['W_q', 'b_q']
    """
    if type(module).__module__.startswith("torch."):
        raise TypeError(
            f"expected a module of encoderlab.with_torch, got PyTorch's own "
            f"{type(module).__name__}; from_torch_nn makes one of it"
        )
    arrays = {}
    for name, tensor in module.named_parameters():
        ours = numpy_name(name)
        arrays[ours] = array_of(ours, tensor)
    return arrays


def numpy_name(name: str) -> str:
    """Give the NumPy layers' name of a module's parameter.

    Parameters
    ----------
    name
        As ``named_parameters`` gives it.

    Returns
    -------
    str
        The path, with its end as in NumPy.

    Raises
    ------
    TypeError
        If NumPy has no such parameter.

    Examples
    --------
    >>> numpy_name("layers.0.norm_1.weight")
    'layers.0.norm_1.gamma'
    """
    for ours, theirs in NAMES.items():  # the norms' plain weight and bias come last
        if theirs not in ("weight", "bias") and f".{name}".endswith(f".{theirs}"):
            return name.removesuffix(theirs) + ours
    owner, _, last = name.rpartition(".")
    if "norm" in owner.rpartition(".")[2] or not owner:
        for ours in ("gamma", "beta"):
            if NAMES[ours] == last:
                return name.removesuffix(last) + ours
    raise TypeError(f"NumPy has no counterpart of the parameter {name}")


def array_of(name: str, tensor: Tensor) -> np.ndarray:
    """Copy a parameter, or its gradient, into the form that NumPy keeps it in.

    Parameters
    ----------
    name
        Its name in NumPy.
    tensor
        The values.

    Returns
    -------
    np.ndarray
        Matrices as (in, out), tables as they are; bfloat16 as float32.

    Examples
    --------
    >>> array_of("W_q", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        tensor = tensor.float()
    turned = tensor.ndim == 2 and name.rpartition(".")[2] not in TABLES
    return np.array((tensor.T if turned else tensor).numpy(), order="C")


def _counterpart(layer, here, there, to_other, chance):
    kind = type(layer).__name__
    file = FILES.get(kind)
    if type(layer).__module__ != f"encoderlab.{here}.{file}":
        raise TypeError(
            f"expected a layer of encoderlab.{here} ({', '.join(FILES)}), got "
            f"{type(layer).__module__}.{kind}"
        )
    build = getattr(import_module(f"encoderlab.{there}.{file}"), kind)
    if kind in ("LayerNorm", "RMSNorm"):
        scale = layer.weight if here == "with_torch" else layer.gamma
        return build(len(scale), layer.eps)
    if kind == "MultiHeadAttention":
        return build(layer.d_model, layer.num_heads, dropout=layer.dropout, **chance)
    if kind == "FeedForward":
        options = {"activation": layer.activation, "dropout": layer.dropout}
        return build(layer.d_model, layer.d_ff, **options, **chance)
    if kind == "EncoderLayer":
        return build(
            layer.attention.d_model,
            layer.attention.num_heads,
            layer.feed_forward.d_ff,
            norm_first=layer.norm_first,
            activation=layer.feed_forward.activation,
            eps=layer.norm_1.eps,
            dropout=layer.dropout,
            **chance,
        )
    if kind == "TokenClassifier":
        bias = layer.classifier.bias if here == "with_torch" else layer.b
        return build(to_other(layer.encoder), len(bias), **chance)
    return build(layer.config, **chance)
