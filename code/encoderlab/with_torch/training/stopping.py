"""Stop when a model no longer gets better, and keep the best one."""

from math import isnan

import torch
from torch import Tensor, nn


class EarlyStopping:
    """Watch a figure, remember the weights it was best with, and say when to stop.

    Parameters
    ----------
    patience
        How many evaluations in a row may be no better than the best; at least 1.
    higher_is_better
        True for an accuracy, False for a loss.

    Attributes
    ----------
    history : list of (int, float)
        For each evaluation the step and the figure.

    Raises
    ------
    ValueError
        If ``patience`` is no whole number or below 1.

    Notes
    -----
    What was used to choose the weights no longer measures them fairly: keep a third
    part of the data for that. Prechelt, 1998, "Early Stopping - But When?". Chapter 15.

    Examples
    --------
    >>> model, stopping = nn.Linear(1, 1), EarlyStopping(2)
    >>> for step, loss in enumerate([3.0, 1.0, 2.0, 1.5], start=1):
    ...     stopping.update(step, loss, model)
    >>> stopping.best_step, stopping.is_over
    (2, True)
    """

    def __init__(self, patience: int, *, higher_is_better: bool = False):
        if not isinstance(patience, int) or patience < 1:
            raise ValueError(
                f"patience must be a whole number of at least 1, got {patience}"
            )
        self.patience, self.higher_is_better = patience, higher_is_better
        self.history: list[tuple[int, float]] = []
        self.weights: dict[str, Tensor] = {}

    @property
    def _best(self) -> int:
        """The place of the best evaluation, the first of equals; -1 before it."""
        sign = -1.0 if self.higher_is_better else 1.0
        ranked = [
            (sign * value, place)
            for place, (_, value) in enumerate(self.history)
            if not isnan(value)
        ]
        return min(ranked, default=(0.0, -1))[1]

    @property
    def best_step(self) -> int | None:
        """The step of the best evaluation, the first of equals; None if all are NaN."""
        return None if self._best < 0 else self.history[self._best][0]

    @property
    def is_over(self) -> bool:
        """Whether the last ``patience`` evaluations set no new best."""
        return len(self.history) - 1 - self._best >= self.patience

    def update(self, step: int, value: float, model: nn.Module) -> None:
        """Take in an evaluation, and a copy of the ``state_dict`` if it is the best.

        Parameters
        ----------
        step
            How many steps the model has been trained.
        value
            The figure; NaN is worse than any.
        model
            The model it was measured on.
        """
        self.history.append((step, float(value)))
        if self._best == len(self.history) - 1:
            state = model.state_dict()
            self.weights = {name: value.clone() for name, value in state.items()}

    def restore(self, model: nn.Module) -> None:
        """Give a model the best weights; it keeps its own where all figures were NaN.

        Parameters
        ----------
        model
            The model that was watched.
        """
        if self.weights:
            model.load_state_dict(self.weights)

    def state(self) -> dict[str, Tensor]:
        """Say all that there is to remember, in tensors; for a checkpoint."""
        return {
            "options": torch.tensor([self.patience, self.higher_is_better]).long(),
            "steps": torch.tensor([step for step, _ in self.history]).long(),
            "values": torch.tensor([v for _, v in self.history], dtype=torch.float64),
            **{f"weights.{name}": value for name, value in self.weights.items()},
        }

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Go on from what :meth:`state` said."""
        steps, values = state["steps"].tolist(), state["values"].tolist()
        self.history = list(zip(steps, values, strict=True))
        self.weights = {
            name.removeprefix("weights."): value
            for name, value in state.items()
            if name.startswith("weights.")
        }
