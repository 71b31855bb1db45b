"""One set of weights and masks in three places: our NumPy, our PyTorch, ``torch.nn``.

Everything is copied: what happens to one side does not reach the other.
"""

from encoderlab.bridge.masks import from_torch_nn_mask, to_torch_nn_mask
from encoderlab.bridge.numpy_torch import to_arrays, to_numpy, to_torch
from encoderlab.bridge.torch_nn import from_torch_nn, to_torch_nn

__all__ = [
    "from_torch_nn",
    "from_torch_nn_mask",
    "to_arrays",
    "to_numpy",
    "to_torch",
    "to_torch_nn",
    "to_torch_nn_mask",
]
