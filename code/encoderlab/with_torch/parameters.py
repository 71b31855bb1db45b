"""New parameters as the NumPy layers draw theirs, and the two sides' names.

The NumPy layers keep ``W_q`` as (D in, D out) and ``b_q``; here both belong to the
linear map ``q_proj``, whose ``weight`` is (D out, D in).
"""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

NAMES = {
    "W_q": "q_proj.weight",
    "b_q": "q_proj.bias",
    "W_k": "k_proj.weight",
    "b_k": "k_proj.bias",
    "W_v": "v_proj.weight",
    "b_v": "v_proj.bias",
    "W_o": "out_proj.weight",
    "b_o": "out_proj.bias",
    "W_1": "linear_1.weight",
    "b_1": "linear_1.bias",
    "W_2": "linear_2.weight",
    "b_2": "linear_2.bias",
    "gamma": "weight",
    "beta": "bias",
    "W_token": "token.weight",
    "W_position": "position.weight",
    "W_segment": "segment.weight",
    "W_patch": "patch_proj.weight",
    "b_patch": "patch_proj.bias",
    "class_token": "class_token",
    "W": "classifier.weight",
    "b": "classifier.bias",
}
"""The last part of a NumPy parameter's name, and what it is called here."""

TABLES = ("W_token", "W_position", "W_segment")
"""Matrices whose rows are looked up: they are not transposed."""


def new_linear(fan_in: int, fan_out: int) -> nn.Linear:
    r"""Make a linear map with moderate weights and no bias yet.

    Parameters
    ----------
    fan_in, fan_out
        Widths of the input and the output, at least 1.

    Returns
    -------
    nn.Linear
        Weights uniform in :math:`\pm\sqrt{6 / (\mathrm{fan\_in} +
        \mathrm{fan\_out})}`, biases 0.

    Notes
    -----
    Glorot and Bengio, 2010, equation 16. PyTorch's own default has another bound, and
    draws the biases too. Chapters 11 and 14.

    Examples
    --------
    >>> new_linear(4, 3).bias.tolist()
    [0.0, 0.0, 0.0]
    """
    layer = nn.Linear(fan_in, fan_out)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def new_embedding(rows: int, width: int) -> nn.Embedding:
    """Make a table of embeddings.

    Parameters
    ----------
    rows, width
        Its shape, each at least 1.

    Returns
    -------
    nn.Embedding
        Normal with mean 0 and standard deviation 0.02, as in BERT's published code.

    Examples
    --------
    >>> new_embedding(5, 4).weight.shape
    torch.Size([5, 4])
    """
    table = nn.Embedding(rows, width)
    nn.init.normal_(table.weight, std=0.02)
    return table


def to_state_dict(weights: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
    """Name NumPy layers' parameters as the modules do, and turn the matrices.

    Parameters
    ----------
    weights
        As ``with_numpy.parameters.parameters`` and a checkpoint name them.

    Returns
    -------
    dict
        For ``load_state_dict``; the tensors are copies, of the arrays' dtype.

    Raises
    ------
    ValueError
        If a name belongs to none of the modules.

    Notes
    -----
    Chapter 14.

    Examples
    --------
    >>> arrays = {"attention.W_q": np.ones((4, 4)), "norm_1.beta": np.ones(4)}
    >>> list(to_state_dict(arrays))
    ['attention.q_proj.weight', 'norm_1.bias']
    """
    unknown = [name for name in weights if name.rpartition(".")[2] not in NAMES]
    if unknown:
        raise ValueError(f"no module has these parameters: {', '.join(unknown)}")
    state = {}
    for name, array in weights.items():
        path, dot, last = name.rpartition(".")
        turned = array.T if array.ndim == 2 and last not in TABLES else array
        state[path + dot + NAMES[last]] = torch.from_numpy(np.array(turned, order="C"))
    return state
