"""Names by a table of one's own, and through a copy of each array."""

import numpy as np
import torch

from encoderlab.with_torch.parameters import NAMES

MODULES = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "o": "out_proj"}
MODULES |= {"1": "linear_1", "2": "linear_2", "": "classifier", "patch": "patch_proj"}
TABLES = ("token", "position", "segment")


def to_state_dict__by_parts(weights):
    state = {}
    for name, array in weights.items():
        *path, last = name.split(".")
        kind, _, what = last.partition("_")
        tensor = torch.tensor(array)
        if last in ("gamma", "beta"):
            new = {"gamma": "weight", "beta": "bias"}[last]
        elif last == "class_token":
            new = last
        elif kind == "W" and what in TABLES:
            new = f"{what}.weight"
        elif kind in "Wb" and what in MODULES:
            new = f"{MODULES[what]}.{'weight' if kind == 'W' else 'bias'}"
            tensor = tensor.t().contiguous() if kind == "W" else tensor
        else:
            raise ValueError(name)
        state[".".join([*path, new])] = tensor
    return state


def to_state_dict__sorted(weights):
    state = {}
    for name in sorted(weights):
        head, _, last = ("." + name).rpartition(".")
        if last not in NAMES:
            raise ValueError(last)
        array = np.asarray(weights[name])
        if array.ndim == 2 and not last.endswith(("token", "position", "segment")):
            array = np.swapaxes(array, 0, 1)
        tensor = torch.from_numpy(np.ascontiguousarray(array)).clone()
        state[f"{head}.{NAMES[last]}".strip(".")] = tensor
    return state
