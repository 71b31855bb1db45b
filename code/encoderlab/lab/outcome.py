"""What came of a check: each failure in words, and the report of them all."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

VALUES_WRONG = "wrong"
"""How the words end for numbers that differ, in the right form otherwise."""

Status = Literal["passed", "failed", "todo", "error", "timeout"]


class Values(np.ndarray):
    """What a tensor holds, to tell it from an array."""


@dataclass
class Failure:
    """One question that was answered wrongly.

    Attributes
    ----------
    says
        What was asked.
    what
        What is wrong with the answer, in words.
    expected, got
        The right answer and the given one, shortened, or empty.
    also
        Other questions that fail alike.
    """

    says: str
    what: str
    expected: str = ""
    got: str = ""
    also: list[str] = field(default_factory=list)


@dataclass
class Mistaken:
    """A known mistake that gives the same answers.

    Attributes
    ----------
    id
        The mistake's name in the catalogue.
    says
        What is done wrong, to the learner.
    hint
        What to look at.
    """

    id: str
    says: str
    hint: str


@dataclass
class Report:
    """The result of one check.

    Attributes
    ----------
    exercise
        The exercise's id.
    status
        ``passed``, ``failed``, ``todo``, ``error`` or ``timeout``.
    failures
        What was answered wrongly, the first question first.
    named
        Known mistakes that answer alike; where two do, both.
    at_first
        Known mistakes that answer alike at first, where none does to the end.
    message
        What else there is to say: an error and its line, a time limit.
    cases
        How many questions were asked.
    seconds
        How long it took.
    parts
        Parts of other exercises that were used: name to whether the learner's own.
    printed
        The end of what the solution printed.
    chapter
        The chapter that the questions go up to; None if all were asked.
    """

    exercise: str
    status: Status
    failures: list[Failure] = field(default_factory=list)
    named: list[Mistaken] = field(default_factory=list)
    at_first: list[Mistaken] = field(default_factory=list)
    message: str = ""
    cases: int = 0
    seconds: float = 0.0
    parts: dict[str, bool] = field(default_factory=dict)
    printed: str = ""
    chapter: int | None = None

    @property
    def passed(self) -> bool:
        """Whether every question was answered rightly."""
        return self.status == "passed"

    @property
    def mistakes(self) -> list[str]:
        """The ids of the mistakes that were recognised."""
        return [mistake.id for mistake in self.named]

    def as_dict(self) -> dict[str, Any]:
        """Give the report as plain data, for JSON."""
        return asdict(self)


def difference(expected: Any, got: Any, case) -> tuple[str, str, str] | None:
    """Say how an answer differs from the right one, the plainest reason first.

    Parameters
    ----------
    expected
        The right answer: an array, a number, or tuples and dictionaries of them.
    got
        The given answer.
    case
        The question, for its tolerance.

    Returns
    -------
    tuple or None
        What is wrong in words, what was expected, what came; None if nothing is wrong.
    """
    if got is None and expected is not None:
        return "it returns None: is a `return` missing?", "", ""
    if isinstance(expected, dict):
        return _in_dict(expected, got, case)
    if isinstance(expected, tuple | list):
        return _in_tuple(expected, got, case)
    if expected is None or isinstance(expected, str | bool | type):
        if type(got) is type(expected) and got == expected:
            return None
        return "the answer differs", repr(expected), repr(got)
    if isinstance(expected, Values) and not isinstance(got, Values):
        return f"it must return a tensor, it returns {type(got).__name__}", "", ""
    return _in_array(np.asarray(expected), got, case)


def _in_dict(expected, got, case):
    if not isinstance(got, dict):
        kind = type(got).__name__
        return f"it must return a dictionary by name, not {kind}", "", ""
    if got.keys() != expected.keys():
        missing = ", ".join(sorted(map(str, expected.keys() - got.keys()))) or "none"
        extra = ", ".join(sorted(map(str, got.keys() - expected.keys()))) or "none"
        return "the names differ", f"missing: {missing}", f"not asked for: {extra}"
    for name in expected:
        found = difference(expected[name], got[name], case)
        if found:
            return (f"{name}: {found[0]}", *found[1:])
    return None


def _in_tuple(expected, got, case):
    asked = f"{len(expected)} thing{'s' * (len(expected) != 1)}"
    if not isinstance(got, tuple | list):
        kind = type(got).__name__
        return f"it must return {asked}, it returns one {kind}", "", ""
    if len(got) != len(expected):
        return f"it must return {asked}, it returns {len(got)}", "", ""
    for place, (right, given) in enumerate(zip(expected, got, strict=True), start=1):
        found = difference(right, given, case)
        if found:
            return (f"result {place}: {found[0]}", *found[1:])
    return None


def _in_array(expected, got, case):
    try:
        array = np.asarray(got)
        kind = array.dtype.kind
    except ValueError:
        kind = "O"
    if kind not in "fiub":
        return f"it must return numbers, it returns {type(got).__name__}", "", ""
    if array.shape != expected.shape:
        return "the shape differs", str(expected.shape), str(array.shape)
    if case.dtype and array.dtype != expected.dtype:
        return "the dtype differs", str(expected.dtype), str(array.dtype)
    if expected.dtype.kind == "b":
        if array.dtype.kind != "b":
            return "it must hold booleans", "bool", str(array.dtype)
        wrong = array != expected
    else:
        size = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
        with np.errstate(invalid="ignore"):
            distance = np.abs(array.astype(float) - expected.astype(float))
        same = (array == expected) | (np.isnan(array) & np.isnan(expected))
        wrong = ~(same | (distance <= case.rtol * max(size, 1e-3)))
    if not wrong.any():
        return None
    if np.isnan(array[wrong]).any():
        what = "NaN where a number is expected"
    else:
        what = f"{wrong.sum()} of {wrong.size} values are {VALUES_WRONG}"
        if wrong.all() and wrong.size == 1:
            what = f"the value is {VALUES_WRONG}"
    return what, _shorten(expected, wrong), _shorten(array, wrong)


def _shorten(array, wrong):
    """A small array whole; of a larger one the row with the first wrong value."""
    with np.printoptions(precision=6, suppress=True, threshold=24, linewidth=72):
        if array.ndim == 0 or array.size <= 12:
            return np.array2string(array, separator=", ")
        place = tuple(int(i) for i in np.argwhere(wrong)[0][:-1])
        row = np.array2string(array[place], separator=", ")
        return f"row {place}: {row}" if place else row
