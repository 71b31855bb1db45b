"""Read a BERT checkpoint: its configuration, weights and vocabulary, strictly."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from encoderlab.config import TextConfig
from encoderlab.pretrained.names import modern, tensors, text_config
from encoderlab.pretrained.wordpiece import WordPiece

WEIGHTS = "model.safetensors"
MOST_SHOWN = 12
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
PICKLE_STARTS = (b"PK\x03\x04", b"\x80")
REFUSED = (
    "which is never read, since loading one can run code hidden in it; get the model's "
    "safetensors file"
)
DTYPES = ("F32", "F16")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A pretrained encoder's configuration, weights and tokenizer.

    Parameters
    ----------
    config
        Sizes and choices.
    weights
        Our parameter names to float32 arrays, in C order and writable.
    tokenizer
        Turns text into the ids that the weights were trained on.
    """

    config: TextConfig
    weights: dict[str, np.ndarray]
    tokenizer: WordPiece


def read_checkpoint(
    folder: str | PathLike[str], *, left_aside: Collection[str] = ()
) -> Checkpoint:
    """Read a folder that holds a BERT encoder as Hugging Face saves it.

    Parameters
    ----------
    folder
        Holds ``config.json``, ``model.safetensors`` and ``vocab.txt``.
    left_aside
        Tensors in the file that are not the encoder's, by the names in the file.

    Returns
    -------
    Checkpoint
        What the folder holds, under this package's names.

    Raises
    ------
    FileNotFoundError
        If the folder or a file in it is missing.
    ValueError
        If a file is damaged or the model is not BERT's architecture; or if a tensor is
        missing, extra, of another shape or of a dtype other than float32 and float16.

    Notes
    -----
    Nothing is unpickled: a pickle can run code. Chapter 18.
    """
    folder = Path(folder).expanduser()
    config = _read_config(require_file(folder, "config.json"))
    weights = _read_weights(require_file(folder, WEIGHTS), config, left_aside)
    tokenizer = _read_vocab(require_file(folder, "vocab.txt"), config)
    return Checkpoint(config, weights, tokenizer)


def require_file(folder: Path, name: str) -> Path:
    """Return the path of a checkpoint's file, or say that it is missing."""
    path = folder / name
    if path.is_file():
        return path
    if not folder.is_dir():
        raise FileNotFoundError(
            f"folder must hold a checkpoint's files, got {folder}, which is no folder"
        )
    pickles = sorted(p.name for p in folder.iterdir() if p.suffix in PICKLES)
    if name == WEIGHTS and pickles:
        raise FileNotFoundError(
            f"{name} is missing from {folder}, which has {pickles[0]} instead: a "
            f"pickle, {REFUSED}"
        )
    raise FileNotFoundError(f"{name} is missing from {folder}; put it there")


def _read_config(path: Path) -> TextConfig:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"expected keys and values, got {content!r:.60}")
        return text_config(content)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} cannot be used: {error}") from error


def _read_weights(
    path: Path, config: TextConfig, left_aside: Collection[str]
) -> dict[str, np.ndarray]:
    found, weights, problems = {}, {}, []
    try:
        file = safe_open(path, framework="numpy")
    except SafetensorError as error:
        raise ValueError(_why_unreadable(path, error)) from error
    with file:
        if config.num_layers > len(file.keys()):
            raise ValueError(
                f"{path} does not fit its config.json, which has {config.num_layers} "
                f"layers: the file has {len(file.keys())} tensors in all"
            )
        expected = tensors(config)
        for name in sorted(set(file.keys()).difference(left_aside)):
            if modern(name) in expected and modern(name) not in found:
                found[modern(name)] = name
            else:
                problems.append(f"extra: {name}")
        for theirs, (ours, shape, transposed) in expected.items():
            if theirs not in found:
                problems.append(f"missing: {theirs} {shape}")
                continue
            name = found[theirs]
            stored = file.get_slice(name)
            if tuple(stored.get_shape()) != shape:
                problems.append(
                    f"wrong shape: {name}, expected {shape}, "
                    f"got {tuple(stored.get_shape())}"
                )
            elif stored.get_dtype() not in DTYPES:
                problems.append(
                    f"wrong dtype: {name}, expected {' or '.join(DTYPES)}, got "
                    f"{stored.get_dtype()}: convert it with PyTorch's tensor.float() "
                    "and save the file again"
                )
            else:
                array = file.get_tensor(name)
                array = array.T if transposed else array
                weights[ours] = np.array(array, np.float32, order="C")
    if problems:
        raise ValueError(
            f"{path} does not fit its config.json, number of problems: {len(problems)} "
            "(name in `left_aside` what the encoder does not need):\n  "
            + "\n  ".join(problems[:MOST_SHOWN])
        )
    return weights


def _why_unreadable(path: Path, error: SafetensorError) -> str:
    with path.open("rb") as file:
        start = file.read(4)
    if start.startswith(PICKLE_STARTS):
        return f"{path} is not safetensors; it looks like a pickle, {REFUSED}"
    if start == b"vers":  # "version https://git-lfs…"
        return f"{path} only points to the weights; get them with `git lfs pull`"
    return f"{path} is damaged or cut short ({error}); get it again"


def _read_vocab(path: Path, config: TextConfig) -> WordPiece:
    try:
        with path.open(encoding="utf-8") as file:
            tokenizer = WordPiece([line.rstrip("\n") for line in file])
    except ValueError as error:
        raise ValueError(f"{path} cannot be used: {error}") from error
    if len(tokenizer.vocab) != config.vocab_size:
        raise ValueError(
            f"{path} must have one token for each of the {config.vocab_size} ids of "
            f"config.json, got {len(tokenizer.vocab)}"
        )
    return tokenizer
