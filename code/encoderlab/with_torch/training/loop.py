"""The training loop, and what it is fed with."""

from collections.abc import Callable, Sequence
from math import inf, isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from tqdm import tqdm

from encoderlab.with_torch.masks import require_whole
from encoderlab.with_torch.training.checkpoint import load_checkpoint, save_checkpoint
from encoderlab.with_torch.training.options import require_interval, require_options
from encoderlab.with_torch.training.stopping import EarlyStopping


def accuracy(
    logits: Float[Tensor, "*batch C"],
    targets: Int[Tensor, "*batch"],
    *,
    ignore_index: int = -100,
) -> float:
    """Count how often the highest score is the target's.

    Parameters
    ----------
    logits
        Scores of the classes.
    targets
        The right class at each position.
    ignore_index
        The target of positions that do not count.

    Returns
    -------
    float
        The share of right answers, in [0, 1]; scores with NaN among them are not right.

    Raises
    ------
    TypeError
        If the targets are not whole numbers.
    ValueError
        If no position counts, or the shapes do not fit.

    Notes
    -----
    Chapters 13 and 15.

    Examples
    --------
    >>> accuracy(torch.eye(3), torch.tensor([0, 1, 1]))
    0.6666666666666666
    """
    require_whole("targets", targets)
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            "targets must have one class for each row of logits, expected shape "
            f"{tuple(logits.shape[:-1])}, got {tuple(targets.shape)}"
        )
    counted = targets != ignore_index
    if not counted.any():
        raise ValueError("no target counts: there is nothing to be right about")
    # a row with NaN in it has no highest score
    right = (logits.argmax(-1) == targets) & ~logits.isnan().any(-1)
    return right[counted].double().mean().item()


def minibatches(
    num_samples: int, batch_size: int, epochs: int, *, seed: int
) -> list[Int[Tensor, "B"]]:
    """Deal the samples out in batches, in a new order each epoch.

    Parameters
    ----------
    num_samples
        Samples of the training set, at least 1.
    batch_size
        Samples of a batch, at least 1; the last of an epoch may be smaller.
    epochs
        How often each sample is used.
    seed
        Of the orders, which are the same for the same seed.

    Returns
    -------
    list
        For each step the rows to take.

    Raises
    ------
    ValueError
        If a number is below 1.

    Notes
    -----
    Chapters 13 and 15.

    Examples
    --------
    >>> [len(rows) for rows in minibatches(5, 2, 2, seed=0)]
    [2, 2, 1, 2, 2, 1]
    """
    if min(num_samples, batch_size, epochs) < 1:
        raise ValueError(
            "num_samples, batch_size and epochs must be at least 1, got "
            f"{num_samples}, {batch_size} and {epochs}"
        )
    generator = torch.Generator().manual_seed(seed)
    orders = [torch.randperm(num_samples, generator=generator) for _ in range(epochs)]
    return [rows for order in orders for rows in order.split(batch_size)]


def fit(
    step: Callable[[Any], Tensor],
    batches: Sequence[Any],
    optimizer: torch.optim.Optimizer,
    *,
    schedule: Callable[[int], float] | None = None,
    max_norm: float | None = None,
    progress: bool | None = None,
    model: nn.Module | None = None,
    evaluate: Callable[[int], float] | None = None,
    every: int | None = None,
    stopping: EarlyStopping | None = None,
    checkpoint: str | PathLike[str] | None = None,
    save_every: int | None = None,
) -> Float[Tensor, "N"]:
    """Train: for each batch the loss, its gradients, and one change of the parameters.

    Parameters
    ----------
    step
        From a batch to its loss, a scalar.
    batches
        What ``step`` is called with, one after another.
    optimizer
        Changes the parameters; it has a ``step()`` without arguments.
    schedule
        From the step, counted from 1, to the factor of each group's learning rate, as
        in :mod:`encoderlab.schedules`; None keeps it at 1.
    max_norm
        Longest allowed norm of all gradients together; None does not clip.
    progress
        Whether to show a progress bar on the error stream; None shows one in a
        terminal.
    model
        Put into training mode at the beginning, and into evaluation mode for
        ``evaluate``. Checkpoints and early stopping need it.
    evaluate
        From the number of steps done to a figure; called without gradients after every
        ``every`` steps and after the last.
    every
        Steps between two evaluations, at least 1.
    stopping
        Given that figure, ends the training before the batches are used up; at the end
        ``model`` gets the weights that were best.
    checkpoint
        A file in which the training is stored at the beginning, after every
        ``save_every`` steps and after the last. If it is there already, the training
        goes on from it and its learning rates, and a finished one does nothing more:
        delete it to begin anew.
    save_every
        Steps between two checkpoints, at least 1.

    Returns
    -------
    Tensor
        The loss of each batch, before the parameters were changed, in float64.

    Raises
    ------
    FloatingPointError
        If a loss, a gradient or a factor is not finite. The parameters are those of the
        step before.
    TypeError
        If ``step`` does not return a scalar tensor, ``batches`` is no list, or the
        optimiser has an option that cannot be stored.
    ValueError
        If there is no batch, options are out of range or do not go together, the loss
        does not depend on the optimiser's parameters, or the checkpoint is damaged or
        belongs to another training.

    Notes
    -----
    After a checkpoint the training goes on as if it had not been interrupted, to the
    last bit on one thread of a CPU, if all that is drawn comes from torch's own
    generator. Half precision is ``step``'s affair: ``torch.autocast`` in bfloat16.
    Chapter 15.

    Examples
    --------
    >>> theta = nn.Parameter(torch.tensor(4.0))
    >>> optimizer = torch.optim.SGD([theta], lr=0.25)
    >>> fit(lambda batch: theta**2, range(3), optimizer)
    tensor([16.,  4.,  1.], dtype=torch.float64)
    """
    require_options(batches, max_norm, model, stopping, evaluate, checkpoint)
    require_interval("every", every, "evaluate", evaluate)
    require_interval("save_every", save_every, "checkpoint", checkpoint)
    losses: list[float] = []
    if checkpoint is not None and Path(checkpoint).exists():
        losses = _resume(checkpoint, batches, model, optimizer, stopping)
    elif stopping is not None and stopping.history:
        raise ValueError(
            "stopping has the history of another training; make a new EarlyStopping"
        )
    elif checkpoint is not None:  # what cannot be stored is found before the first step
        _save(checkpoint, model, optimizer, losses, stopping)
    if model is not None:
        model.train()
    total = len(batches)
    clip = inf if max_norm is None else max_norm
    hide = None if progress is None else not progress

    def is_over():
        return len(losses) == total or (stopping is not None and stopping.is_over)

    with tqdm(total=total, initial=len(losses), desc="steps", disable=hide) as bar:
        while not is_over():
            done = len(losses) + 1
            factor = 1.0 if schedule is None else schedule(done)
            losses.append(_change(step, batches, optimizer, done, factor, clip))
            bar.update()
            if every and (done % every == 0 or done == total):
                _evaluate(evaluate, done, model, stopping)
            if save_every and (done % save_every == 0 or is_over()):
                _save(checkpoint, model, optimizer, losses, stopping)
    if stopping is not None and model is not None:
        stopping.restore(model)
    return torch.tensor(losses, dtype=torch.float64)


def _resume(checkpoint, batches, model, optimizer, stopping):
    saved = load_checkpoint(checkpoint, model, optimizer, stopping=stopping)
    if len(saved.losses) != saved.step:
        raise ValueError(
            f"{checkpoint} has done {saved.step} steps and holds {len(saved.losses)} "
            "losses; fit goes on only from what it stored itself, or with all losses"
        )
    if saved.step > len(batches):
        raise ValueError(
            f"{checkpoint} has done {saved.step} steps and there are only "
            f"{len(batches)} batches; give those it was begun with, or delete it"
        )
    return saved.losses.tolist()


def _save(checkpoint, model, optimizer, losses, stopping):
    options = {"losses": losses, "stopping": stopping}
    save_checkpoint(checkpoint, model, optimizer, len(losses), **options)


def _change(step, batches, optimizer, done, factor, max_norm):
    """One step: the loss, its gradients, and the change."""
    loss = step(batches[done - 1])
    if not isinstance(loss, Tensor) or loss.ndim:
        shape = f" of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else ""
        raise TypeError(
            f"step must return a scalar tensor, got {type(loss).__name__}{shape}"
        )
    groups = optimizer.param_groups
    trained = [p for group in groups for p in group["params"]]
    optimizer.zero_grad()
    if loss.requires_grad:
        loss.backward()
    if all(p.grad is None for p in trained):
        raise ValueError(
            "the loss does not depend on any parameter of the optimiser; give it those "
            "of the model that step uses, and compute the loss with gradients"
        )
    value, norm = loss.item(), clip_grad_norm_(trained, max_norm).item()
    if not (isfinite(value) and isfinite(norm) and isfinite(factor)):
        raise FloatingPointError(
            f"at step {done} the loss is {value}, the gradients' norm {norm} and the "
            f"schedule's factor {factor}; lower the learning rate, warm up, or clip "
            "with max_norm; a NaN at once is often a mean over nothing. The parameters "
            "are those of the step before"
        )
    rates = [group["lr"] for group in groups]
    try:
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate * factor
        optimizer.step()
    finally:
        for group, rate in zip(groups, rates, strict=True):
            group["lr"] = rate
    return value


def _evaluate(evaluate, done, model, stopping):
    if model is not None:
        model.eval()
    try:
        with torch.no_grad():
            value = evaluate(done)
    finally:
        if model is not None:
            model.train()
    if stopping is not None:
        stopping.update(done, value, model)
