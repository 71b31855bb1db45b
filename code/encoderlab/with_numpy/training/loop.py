"""The training loop, and what each of its steps is made of."""

from collections.abc import Callable, Iterable
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from tqdm import tqdm

from encoderlab.with_numpy.gradients import cross_entropy_vjp, token_classifier_vjp
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.parameters import require_generator
from encoderlab.with_numpy.training.optimizers import (
    SGD,
    Adam,
    Arrays,
    require_positive,
)


def clip_gradients(gradients: Arrays, max_norm: float) -> tuple[Arrays, float]:
    r"""Shorten all gradients together if they are longer than allowed.

    .. math:: \bar\theta \leftarrow \bar\theta \,\min\left(1,
        \frac{c}{\lVert\bar\theta\rVert}\right)

    Parameters
    ----------
    gradients
        By name; left unchanged.
    max_norm
        The longest allowed norm c of all of them taken as one vector, above 0.

    Returns
    -------
    gradients : dict
        The same direction, shortened where it was too long; as they are if their norm
        is not finite, since no factor would mend that.
    norm : float
        The norm before.

    Raises
    ------
    ValueError
        If ``max_norm`` is not above 0.

    Notes
    -----
    Pascanu, Mikolov and Bengio, 2013, algorithm 1. Chapter 13.

    Examples
    --------
    >>> gradients = {"a": np.array([3.0]), "b": np.array([4.0])}
    >>> clipped, norm = clip_gradients(gradients, 1.0)
    >>> norm, clipped["a"]
    (5.0, array([0.6]))
    """
    if max_norm < inf:
        require_positive("max_norm", max_norm)
    # in float64: the squares of large or tiny numbers leave float32
    squares = (np.square(g, dtype=np.float64).sum() for g in gradients.values())
    norm = sqrt(sum(squares))
    if norm <= max_norm or not isfinite(norm):
        return gradients, norm
    return {name: g * (max_norm / norm) for name, g in gradients.items()}, norm


def loss_and_gradients(
    model: TokenClassifier,
    inputs: tuple[np.ndarray, ...],
    targets: Int[np.ndarray, "B T"],
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    **options,
) -> tuple[np.floating, Arrays]:
    """Say how wrong a classifier is, and what each parameter has to do with it.

    Parameters
    ----------
    model
        The classifier.
    inputs, options
        What its encoder takes, the inputs in a tuple.
    targets
        The right class at each position.
    ignore_index
        The target of positions that do not count.
    label_smoothing
        As in :func:`~encoderlab.with_numpy.loss.cross_entropy`.

    Returns
    -------
    loss : np.floating
        The mean cross-entropy, in nats.
    gradients : dict
        Its gradient for each parameter of the model, by name.

    Raises
    ------
    TypeError, ValueError
        As the encoder and the cross-entropy do, or if ``inputs`` is not a tuple.

    Notes
    -----
    Chapter 13.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> from encoderlab.with_numpy.encoder import TextEncoder
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> rng = np.random.default_rng(0)
    >>> model = TokenClassifier(TextEncoder(config, rng=rng), 5, rng=rng)
    >>> ids, targets = np.array([[3, 4, 9]]), np.array([[-100, 2, -100]])
    >>> loss, gradients = loss_and_gradients(model, (ids,), targets)
    >>> gradients["W"].shape
    (8, 5)
    """
    if not isinstance(inputs, tuple):
        kind = type(inputs).__name__
        raise TypeError(f"inputs must be a tuple, such as (images,), got {kind}")
    logits, through_model = token_classifier_vjp(model, *inputs, **options)
    loss, through_loss = cross_entropy_vjp(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )
    return loss, through_model(through_loss(1.0))[1]


def accuracy(
    logits: Float[np.ndarray, "*batch C"],
    targets: Int[np.ndarray, "*batch"],
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
        The share of right answers, in [0, 1].

    Raises
    ------
    ValueError
        If no position counts, or the shapes do not fit.

    Notes
    -----
    Chapter 13.

    Examples
    --------
    >>> accuracy(np.eye(3), np.array([0, 1, 1]))
    0.6666666666666666
    """
    logits, targets = np.asarray(logits), np.asarray(targets)
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            "targets must have one class for each row of logits, expected shape "
            f"{logits.shape[:-1]}, got {targets.shape}"
        )
    counted = targets != ignore_index
    if not counted.any():
        raise ValueError("no target counts: there is nothing to be right about")
    # a row with NaN in it has no highest score
    right = (logits.argmax(axis=-1) == targets) & ~np.isnan(logits).any(axis=-1)
    return float(right[counted].mean())


def minibatches(
    num_samples: int, batch_size: int, epochs: int, *, rng: np.random.Generator
) -> list[Int[np.ndarray, "B"]]:
    """Deal the samples out in batches, in a new order each epoch.

    Parameters
    ----------
    num_samples
        Samples of the training set, at least 1.
    batch_size
        Samples of a batch, at least 1; the last of an epoch may be smaller.
    epochs
        How often each sample is used.
    rng
        Source of the orders.

    Returns
    -------
    list
        For each step the rows to take.

    Raises
    ------
    TypeError
        If ``rng`` is not a Generator.
    ValueError
        If a number is below 1.

    Notes
    -----
    Chapter 13.

    Examples
    --------
    >>> [len(rows) for rows in minibatches(5, 2, 2, rng=np.random.default_rng(0))]
    [2, 2, 1, 2, 2, 1]
    """
    require_generator(rng)
    if min(num_samples, batch_size, epochs) < 1:
        raise ValueError(
            "num_samples, batch_size and epochs must be at least 1, got "
            f"{num_samples}, {batch_size} and {epochs}"
        )
    orders = (rng.permutation(num_samples) for _ in range(epochs))
    starts = range(0, num_samples, batch_size)
    return [order[start : start + batch_size] for order in orders for start in starts]


def fit(
    step: Callable[[Any], tuple[np.floating, Arrays]],
    batches: Iterable[Any],
    optimizer: SGD | Adam,
    *,
    schedule: Callable[[int], float] | None = None,
    max_norm: float | None = None,
    progress: bool | None = None,
) -> Float[np.ndarray, "N"]:
    """Train: for each batch the loss, its gradients, and one change of the parameters.

    Parameters
    ----------
    step
        From a batch to its loss and the gradients by name; :func:`loss_and_gradients`
        of a model, for one.
    batches
        What ``step`` is called with, one after another.
    optimizer
        Changes the parameters.
    schedule
        From the step, counted from 1, to the learning rate's factor, as in
        :mod:`encoderlab.schedules`; None keeps it at 1.
    max_norm
        Longest allowed norm of the gradients; None does not clip.
    progress
        Whether to show a progress bar on the error stream; None shows one in a
        terminal.

    Returns
    -------
    np.ndarray
        The loss of each batch, before the parameters were changed.

    Raises
    ------
    FloatingPointError
        If a loss, a gradient or a factor is not finite. The parameters are those of the
        step before.
    ValueError
        If there is no batch, or ``max_norm`` is not above 0.

    Notes
    -----
    Interrupted in the middle of a step, it may leave some parameters changed and others
    not. Chapter 13.

    Examples
    --------
    >>> theta = {"x": np.array([4.0])}
    >>> def step(batch):
    ...     return (theta["x"] ** 2).sum(), {"x": 2 * theta["x"]}
    >>> fit(step, range(3), SGD(theta, lr=0.25))
    array([16.,  4.,  1.])
    """
    if max_norm is None:
        max_norm = inf
    clip_gradients({}, max_norm)  # refuses a norm that allows nothing, before any work
    losses: list[float] = []
    hide = None if progress is None else not progress
    for batch in tqdm(batches, desc="steps", disable=hide):
        loss, gradients = step(batch)
        clipped, norm = clip_gradients(gradients, max_norm)
        factor = 1.0 if schedule is None else schedule(len(losses) + 1)
        if not (isfinite(loss) and isfinite(norm) and isfinite(factor)):
            raise FloatingPointError(
                f"at step {len(losses) + 1} the loss is {loss}, the gradients' norm "
                f"{norm} and the schedule's factor {factor}; lower the learning rate, "
                "warm up, or clip with max_norm. The parameters are those of the step "
                "before"
            )
        losses.append(float(loss))
        optimizer.step(clipped, factor)
    if not losses:
        raise ValueError("there is no batch to train on; a generator is used up once")
    return np.array(losses)
