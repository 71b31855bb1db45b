"""The same for PyTorch: ``from encoderlab.lab.mine.torch import softmax``."""

from typing import Any

from encoderlab.lab.mine import part


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return part(f"torch.{name}")
