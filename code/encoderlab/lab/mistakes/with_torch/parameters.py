"""What goes wrong with NumPy's parameters under the modules' names."""

import numpy as np
import torch

from encoderlab.lab.mistakes.by_docstring import wrong
from encoderlab.with_torch import parameters as ours

here = wrong("to_state_dict")
TABLES = tuple(ours.NAMES[name] for name in ours.TABLES)


def turn(tensor):
    """Turn a matrix, row by row in memory."""
    return tensor.T.contiguous() if tensor.ndim == 2 else tensor


@here
def not_turned(weights):
    """you leave the matrices as they are: an nn.Linear keeps a row for each output

    `array.T` for every matrix but the tables
    """
    state = ours.to_state_dict(weights)
    return {
        name: tensor if name.endswith(TABLES) else turn(tensor)
        for name, tensor in state.items()
    }


@here
def tables_turned(weights):
    """you turn the tables of embeddings as well

    their rows are looked up, in NumPy as in nn.Embedding
    """
    state = ours.to_state_dict(weights)
    return {
        name: turn(tensor) if name.endswith(TABLES) else tensor
        for name, tensor in state.items()
    }


@here
def only_oblong_turned(weights):
    """you turn a matrix only where its shape does not fit: a square one always fits

    turn every matrix of a linear map
    """
    state = ours.to_state_dict(weights)
    return {
        name: tensor
        if name.endswith(TABLES) or len(set(tensor.shape)) == 2
        else turn(tensor)
        for name, tensor in state.items()
    }


@here
def keys_and_queries_swapped(weights):
    """you exchange queries and keys

    W_q belongs to q_proj
    """
    swap = {"q_proj": "k_proj", "k_proj": "q_proj"}
    state = ours.to_state_dict(weights)
    return {
        ".".join(swap.get(part, part) for part in name.split(".")): tensor
        for name, tensor in state.items()
    }


@here
def gamma_kept(weights):
    """you leave gamma and beta under their names

    a LayerNorm of PyTorch calls them weight and bias
    """
    state = ours.to_state_dict(weights)
    last = {"gamma": "weight", "beta": "bias"}
    for name in weights:
        path, dot, part = name.rpartition(".")
        if part in last:
            state[name] = state.pop(path + dot + last[part])
    return state


@here
def path_lost(weights):
    """you lose the path before a name: all layers' weights get one name

    only the last part of the name changes
    """
    return ours.to_state_dict({k.rpartition(".")[2]: w for k, w in weights.items()})


@here
def always_float32(weights):
    """you turn float64 into float32

    a tensor has its array's dtype: torch.from_numpy keeps it, torch.Tensor does not
    """
    return {k: t.float() for k, t in ours.to_state_dict(weights).items()}


@here
def arrays_left(weights):
    """you leave NumPy arrays in the result

    torch.from_numpy makes tensors of them
    """
    return {k: t.numpy() for k, t in ours.to_state_dict(weights).items()}


@here
def shares_memory(weights):
    """your tensors share the arrays' memory: what one side learns changes the other

    torch.from_numpy does not copy: give it np.array(…)
    """
    state = {}
    for name, array in weights.items():
        (new,) = ours.to_state_dict({name: array})
        turned = new.endswith("weight") and not new.endswith(TABLES)
        state[new] = torch.from_numpy(array.T if turned else array)
    return state


@here
def not_in_rows(weights):
    """your turned matrices are views: in memory they lie column by column

    np.array(array.T, order="C") copies row by row; files of weights need that
    """
    state = ours.to_state_dict(weights)
    return {
        name: turn(tensor).T if tensor.ndim == 2 else tensor
        for name, tensor in state.items()
    }


@here
def unknown_kept(weights):
    """you hand on a parameter that no module has

    raise ValueError and name it
    """
    known = {k: w for k, w in weights.items() if k.rpartition(".")[2] in ours.NAMES}
    rest = {k: torch.from_numpy(np.array(w)) for k, w in weights.items()}
    return ours.to_state_dict(known) | {k: rest[k] for k in weights.keys() - known}
