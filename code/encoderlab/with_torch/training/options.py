"""What the training loop refuses before it begins."""

from typing import Any


def require_options(
    batches: Any,
    max_norm: float | None,
    model: Any,
    stopping: Any,
    evaluate: Any,
    checkpoint: Any,
) -> None:
    """Refuse options of :func:`~encoderlab.with_torch.training.fit` that do not fit.

    Parameters
    ----------
    batches, max_norm, model, stopping, evaluate, checkpoint
        As ``fit`` takes them.

    Raises
    ------
    TypeError
        If ``batches`` is no list.
    ValueError
        If there is no batch, ``max_norm`` is not above 0, or one option needs another.

    Examples
    --------
    >>> require_options([1], 1.0, None, None, None, None)
    """
    if not (hasattr(batches, "__len__") and hasattr(batches, "__getitem__")):
        raise TypeError(
            f"batches must be a list, got {type(batches).__name__}; give list(batches)"
        )
    if len(batches) == 0:
        raise ValueError("there is no batch to train on")
    if max_norm is not None and not max_norm > 0:
        raise ValueError(f"max_norm must be above 0, got {max_norm}")
    if stopping is not None and evaluate is None:
        raise ValueError("stopping needs evaluate, which measures what it watches")
    if model is None and (stopping is not None or checkpoint is not None):
        raise ValueError("stopping and checkpoint need model, whose weights they keep")


def require_interval(name: str, steps: int | None, what: str, value: Any) -> None:
    """Refuse a number of steps without what is done after them, and the reverse.

    Parameters
    ----------
    name
        What the message calls the number.
    steps
        The number; None if there is none.
    what
        What the message calls that which is done.
    value
        That, or None.

    Raises
    ------
    ValueError
        If only one of both is there, or the number is below 1.

    Examples
    --------
    >>> require_interval("every", 5, "evaluate", print)
    """
    if (steps is None) != (value is None):
        raise ValueError(f"{name} and {what} go together: give both or neither")
    if steps is not None and steps < 1:
        raise ValueError(f"{name} must be at least 1, got {steps}")
