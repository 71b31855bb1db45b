"""Common mistakes, each a small wrong implementation with a name, a line and a hint.

They stand in files that mirror the package. A check must reject every one of them; when
a learner's solution answers as one of them does, the learner is told its line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Attributes
    ----------
    exercise
        The last part of the exercise's id, ``softmax``.
    id
        Its own name, ``softmax.no_shift``; with ``torch.`` before it for PyTorch.
    says
        What is done wrong, in one line, to the learner.
    hint
        What to look at.
    target
        The wrong implementation: a function or a class.
    """

    exercise: str
    id: str
    says: str
    hint: str
    target: Any


_found: dict[str, Mistake] = {}


def mistake(exercise: str, name: str, says: str, hint: str) -> Callable:
    """Enter the decorated function or class into the catalogue.

    Parameters
    ----------
    exercise
        The last part of the exercise's id.
    name
        The mistake's name; with the exercise's before it, it is unique.
    says
        What is done wrong, in one line, to the learner: "you divide by d".
    hint
        What to look at, in a line.

    Returns
    -------
    Callable
        A decorator that returns what it is given.
    """

    def enter(target):
        side = "torch." if ".with_torch." in target.__module__ else ""
        entry = Mistake(exercise, f"{side}{exercise}.{name}", says, hint, target)
        if entry.id in _found:
            raise ValueError(f"the mistake {entry.id} is there already")
        _found[entry.id] = entry
        return target

    return enter


@cache
def mistakes_of(exercise_id: str) -> tuple[Mistake, ...]:
    """Load the known mistakes of an exercise.

    Parameters
    ----------
    exercise_id
        The exercise's id, ``with_numpy.functional.softmax``.

    Returns
    -------
    tuple of Mistake
        In the order of their file, or of the files of their folder; empty if none is
        known.
    """
    module, _, name = exercise_id.rpartition(".")
    path = f"{__name__}.{module}"
    if find_spec(path) is None:
        return ()
    import_module(path)
    inside = [
        entry
        for entry in _found.values()
        if f"{entry.target.__module__}.".startswith(f"{path}.")
    ]
    return tuple(entry for entry in inside if entry.exercise == name)
