"""What an optimiser is given: which parameters decay and which do not."""

from math import inf
from typing import Any

from torch import nn

LINEAR = (nn.Linear, nn.Bilinear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Modules whose ``weight`` is a linear map."""

PACKED = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")
"""The linear maps that ``torch.nn.MultiheadAttention`` holds without such a module."""


def decay_groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Sort a module's parameters by what they are: weights of linear maps decay.

    Parameters
    ----------
    module
        Any module.
    weight_decay
        For the weights of linear maps, at least 0. Biases, the norms' scales and
        shifts, tables of embeddings, class tokens and all else get 0, and so does a
        table that is at the same time the weight of a linear map.

    Returns
    -------
    list of dict
        Two groups for an optimiser of :mod:`torch.optim`: what decays, and what does
        not. A parameter that is used in several places stands there once; one that is
        frozen is left out.

    Raises
    ------
    ValueError
        If ``weight_decay`` is negative or not finite, or every parameter is frozen.

    Notes
    -----
    By the kind of the module and not by name or shape: a rule that looks for ``bias``
    and ``LayerNorm`` in the names misses those that are called otherwise, and one that
    takes every matrix shrinks the vectors of rare tokens, which seldom get a gradient.
    Chapter 15.

    Examples
    --------
    >>> from torch import nn
    >>> model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 3), nn.LayerNorm(3))
    >>> for group in decay_groups(model, 0.01):
    ...     print(group["weight_decay"], [list(p.shape) for p in group["params"]])
    0.01 [[3, 4]]
    0.0 [[5, 4], [3], [3], [3]]
    """
    if not 0 <= weight_decay < inf:
        raise ValueError(
            f"weight_decay must be at least 0 and finite, got {weight_decay}"
        )
    maps, tables = set(), set()
    for part in module.modules():
        if isinstance(part, LINEAR):
            maps.add(part.weight)
        elif isinstance(part, nn.MultiheadAttention):
            maps.update(getattr(part, name) for name in PACKED)
        elif isinstance(part, nn.Embedding | nn.EmbeddingBag):
            tables.add(part.weight)
    trained = [p for p in module.parameters() if p.requires_grad]  # each one once
    if not trained:
        raise ValueError("module has no parameter to train: unfreeze one")
    decaying = maps - tables
    return [
        {"params": [p for p in trained if p in decaying], "weight_decay": weight_decay},
        {"params": [p for p in trained if p not in decaying], "weight_decay": 0.0},
    ]
