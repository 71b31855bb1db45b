"""Checkpoints: all that a training needs to go on, put away and taken up again."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from encoderlab.with_torch.training.file import read_training, write_training
from encoderlab.with_torch.training.stopping import EarlyStopping

MOST_SHOWN = 12


class Saved(NamedTuple):
    """How far a training had come.

    Attributes
    ----------
    step
        Steps that were done.
    losses
        Their losses, as far as they were given.
    """

    step: int
    losses: Float[Tensor, "N"]


def save_checkpoint(
    path: str | PathLike[str],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    step: int,
    *,
    losses: Sequence[float] = (),
    stopping: EarlyStopping | None = None,
) -> None:
    """Store a training, so that it can go on as if it had never been interrupted.

    Stored are the model, the optimiser's running means and options, the state of
    torch's random number generators (on the CPU and on the GPUs in use), the step and
    the losses.

    Parameters
    ----------
    path
        The file; one that is there is replaced in one stroke once the new one is safely
        on the disk. Until then the new one is called ``path`` with the number of the
        process and ``.part`` after it.
    model, optimizer
        What is trained and by what: all that the optimiser trains is the model's.
    step
        Steps that were done.
    losses
        Their losses.
    stopping
        Its history and best weights are stored too.

    Raises
    ------
    OSError
        If ``path`` cannot be written.
    TypeError
        If an option of the optimiser is none that JSON can hold.
    ValueError
        If the optimiser trains a parameter that is not the model's.

    Notes
    -----
    A safetensors file: numbers with names, and nothing that is run on loading, unlike
    the pickles of ``torch.save``. Generators that are not torch's own, NumPy's for
    example, are not stored. Chapter 15.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> model = nn.Linear(2, 1)
    >>> optimizer = torch.optim.AdamW(model.parameters())
    >>> with TemporaryDirectory() as folder:
    ...     save_checkpoint(f"{folder}/model.safetensors", model, optimizer, 7)
    ...     load_checkpoint(f"{folder}/model.safetensors", model, optimizer).step
    7
    """
    own = optimizer.state_dict()
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    numbers: dict[str, Any] = {}
    for index, state in own["state"].items():
        for name, value in state.items():
            where = tensors if isinstance(value, Tensor) else numbers
            where[f"optimizer.{index}.{name}"] = value
    for device, generator in _generators().items():
        tensors[f"random.{device}"] = generator.get_state()
    if stopping is not None:
        tensors |= {f"stopping.{k}": v for k, v in stopping.state().items()}
    tensors["losses"] = torch.tensor(losses, dtype=torch.float64)
    about = {
        "step": int(step),
        "optimizer": type(optimizer).__name__,
        "groups": own["param_groups"],
        "parameters": _parameters(model, optimizer),
        "numbers": numbers,
    }
    write_training(Path(path), tensors, about)


def load_checkpoint(
    path: str | PathLike[str],
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    stopping: EarlyStopping | None = None,
) -> Saved:
    """Put a training back to where it was stored.

    Parameters
    ----------
    path
        A file that :func:`save_checkpoint` wrote.
    model, optimizer, stopping
        Made as those that were stored; their weights, states and options, the learning
        rate among them, become those of the file.

    Returns
    -------
    Saved
        The step and the losses. torch's random number generators go on from where they
        were.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, or is none of these, or belongs to another model or
        optimiser. Nothing is changed then.
    """
    path = Path(path)
    tensors, about = read_training(path)
    parts: dict[str, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        part, _, rest = name.partition(".")
        parts.setdefault(part, {})[rest] = value
    _require_fit(path, parts, about, model, optimizer, stopping)
    model.load_state_dict(parts["model"])
    state: dict[int, dict[str, Any]] = {}
    for name, value in (parts.get("optimizer", {}) | about["numbers"]).items():
        index, _, key = name.removeprefix("optimizer.").partition(".")
        state.setdefault(int(index), {})[key] = value
    groups = [
        {k: tuple(v) if isinstance(v, list) else v for k, v in group.items()}
        for group in about["groups"]
    ]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    if stopping is not None:
        stopping.load_state(parts["stopping"])
    generators, stored = _generators(), parts["random"]
    for device in generators.keys() & stored.keys():
        generators[device].set_state(stored[device])
    return Saved(about["step"], tensors["losses"])


def _parameters(model, optimizer):
    """The names of what the optimiser trains, group by group."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = [[id(p) for p in group["params"]] for group in optimizer.param_groups]
    if not names.keys() >= {p for group in groups for p in group}:
        raise ValueError(
            "the optimiser trains a parameter that is not the model's; give the model "
            "that holds them all"
        )
    return [[names[p] for p in group] for group in groups]


def _generators():
    """The generators that dropout and the like draw from, by device."""
    ours = (torch.default_generator, *torch.cuda.default_generators)
    return {str(generator.device): generator for generator in ours}


def _require_fit(path, parts, about, model, optimizer, stopping):
    problems = []
    kind = type(optimizer).__name__
    if about["optimizer"] != kind:
        problems.append(f"optimizer: {about['optimizer']} in the file, here {kind}")
    theirs, ours = about["parameters"], _parameters(model, optimizer)
    counts = [len(names) for names in theirs], [len(names) for names in ours]
    there, here = counts
    if there != here:
        problems.append(f"parameters in each group: {there} in the file, here {here}")
    elif theirs != ours:
        problems.append("parameters: other ones, or in another order, in a group")
    if ("stopping" in parts) != (stopping is not None):
        problems.append("early stopping: only one of the file and the call has it")
    elif stopping is not None:
        theirs, ours = parts["stopping"].get("options"), stopping.state()["options"]
        if theirs is None or theirs.tolist() != ours.tolist():
            problems.append("early stopping: another patience or direction in the file")
    own = model.state_dict()
    for name in sorted(own.keys() | parts["model"].keys()):
        here, there = _kind(own.get(name)), _kind(parts["model"].get(name))
        if here != there:
            problems.append(f"{name}: {there} in the file, here {here}")
    if problems:
        raise ValueError(
            f"{path} belongs to another training; nothing was changed:\n  "
            + "\n  ".join(problems[:MOST_SHOWN])
        )


def _kind(tensor):
    return "none" if tensor is None else f"{tensor.dtype} {tuple(tensor.shape)}"
