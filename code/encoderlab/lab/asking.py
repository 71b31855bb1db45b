"""Put the questions of a check to a solution, and keep what came of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from encoderlab.lab.case import (
    SAME,
    Case,
    Check,
    FromChapter,
    Property,
    WrongForm,
    values_of,
)
from encoderlab.lab.outcome import Values, difference


@dataclass
class Answer:
    """What came of one question: a value, or an error."""

    case: Case | Property
    value: Any = None
    error: BaseException | None = None
    changed_input: bool = False


def ask_all(
    check: Check, solution: Any, seed: int, chapter: int | None = None
) -> Iterator[Answer]:
    """Put every question of a check to a solution, one after another.

    Parameters
    ----------
    check
        The check.
    solution
        Who is asked.
    seed
        Of the generator that draws the questions.
    chapter
        Ask no more than the book has explained by the end of this one; None asks all.

    Yields
    ------
    Answer
        As many as could be asked: where building a layer fails, that is the last one.
    """
    questions = iter(check(solution, np.random.default_rng(seed)))
    while True:
        try:
            with np.errstate(all="ignore"):
                case = next(questions)
        except StopIteration:
            return
        except Exception as error:
            yield Answer(Case("setting it up", lambda: None), error=error)
            return
        if not isinstance(case, FromChapter):
            yield _answer(case)
        elif chapter is not None and case.chapter > chapter:
            return


@np.errstate(all="ignore")
def _answer(case):
    try:
        if isinstance(case, Property):
            return Answer(case, value=bool(case.holds()))
        before = [array.copy() for array in case.inputs]
        value = _frozen(case.call())
        changed = _restore(case.inputs, before)
        if not changed:
            again = _frozen(case.call())
            _restore(case.inputs, before)
            exact = Case("", case.call, rtol=SAME)
            comparable = difference(value, value, exact) is None  # not so for complex
            if comparable and difference(value, again, exact):
                error = WrongForm("two calls with the same input give two answers")
                return Answer(case, error=error)
        return Answer(case, value=value, changed_input=changed)
    except Exception as error:
        return Answer(case, error=error)


def _restore(arrays, before):
    changed = False
    for array, kept in zip(arrays, before, strict=True):
        if not np.array_equal(array, kept, equal_nan=array.dtype.kind == "f"):
            array[...] = kept
            changed = True
    return changed


def _frozen(value):
    """Copy arrays: a result may be a view of the input, or be used again."""
    if hasattr(value, "detach"):
        return values_of(value).copy().view(Values)
    if isinstance(value, dict):
        return {name: _frozen(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_frozen(part) for part in value)
    if isinstance(value, list):
        return [_frozen(part) for part in value]
    return value.copy() if isinstance(value, np.ndarray) else value
