"""The file of a checkpoint: whole or not there, and no pickle."""

import json
import os
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

FORMAT = "encoderlab training 1"
KEY = "encoderlab.training"  # of the one entry in the file's metadata
PARTS = {"step", "optimizer", "groups", "parameters", "numbers", "losses", "random.cpu"}
"""What every checkpoint holds, apart from the model's and the optimiser's numbers."""


def write_training(
    path: Path, tensors: dict[str, Tensor], about: dict[str, Any]
) -> None:
    """Store tensors by name, and what JSON can hold, in one safetensors file.

    Parameters
    ----------
    path
        The file; one that is there is replaced once the new one is on the disk.
    tensors
        The tensors, of any device; several may share their memory.
    about
        The rest.

    Raises
    ------
    OSError
        If ``path`` cannot be written.
    TypeError
        If something in ``about`` is none that JSON can hold.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import torch
    >>> with TemporaryDirectory() as folder:
    ...     write_training(Path(folder) / "x", {"losses": torch.ones(2)}, {"step": 2})
    ...     (Path(folder) / "x").exists()
    True
    """
    try:
        metadata = {KEY: json.dumps({"format": FORMAT} | about)}
    except TypeError as error:
        raise TypeError(
            f"the optimiser has an option that cannot be stored: {error}; give it "
            "plain numbers"
        ) from error
    # clones: safetensors refuses tensors that share their memory, as tied ones do
    plain = {k: v.detach().cpu().contiguous().clone() for k, v in tensors.items()}
    _replace(path, save(plain, metadata))


def read_training(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what :func:`write_training` stored of a training.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    tuple
        The tensors by name, and the rest.

    Raises
    ------
    OSError
        If there is no such file, or it is a folder.
    ValueError
        If it is damaged, or no checkpoint of a training.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import torch
    >>> with TemporaryDirectory() as folder:
    ...     write_training(Path(folder) / "x", {"losses": torch.ones(2)}, {"step": 2})
    ...     read_training(Path(folder) / "x")
    Traceback (most recent call last):
    ValueError: ... it lacks groups, numbers, optimizer, parameters, random.cpu; ...
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise ValueError(
            f"{path} is damaged or no checkpoint of a training ({error}); delete it to "
            "begin anew"
        ) from error
    try:
        about = json.loads(metadata.get(KEY, "{}"))
    except json.JSONDecodeError:
        about = {}
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ValueError(
            f"{path} is safetensors, but no checkpoint of a training; give another path"
        )
    missing = PARTS - (tensors.keys() | about.keys())
    if missing:
        raise ValueError(
            f"{path} is damaged, it lacks {', '.join(sorted(missing))}; delete it to "
            "begin anew"
        )
    return tensors, about


def _replace(path, content):
    """Write a file so that at any moment the old or the new one is there, whole."""
    path = path.resolve()  # of a link, the file it points to
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}; make it first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
