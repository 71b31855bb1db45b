"""Judge a solution: ask it what the reference is asked, compare, name the mistake."""

import math
import sys
import time
import traceback
from contextlib import nullcontext
from itertools import zip_longest
from pathlib import Path
from typing import Any

from encoderlab.lab import mine
from encoderlab.lab.asking import Answer, ask_all
from encoderlab.lab.case import SAME, Case, Property, WrongForm
from encoderlab.lab.exercises import Exercise, find
from encoderlab.lab.load import CannotLoad, load_solution
from encoderlab.lab.mistakes import mistakes_of
from encoderlab.lab.outcome import VALUES_WRONG, Failure, Mistaken, Report, difference

ENDED = "the solution ended the whole program (exit code {}); take exit() out"
ALL = math.inf
MOST_AT_FIRST = 3
"""Mistakes that are named though other questions tell them from the solution."""
ADVICE = {
    "could not be broadcast": "\nprint the shapes of both: a sum, mean or max over an "
    "axis loses it unless keepdims=True",
    "matmul: Input": "\nthe last axis of the first must be as long as the last but one "
    "of the second: print both shapes. `.T` turns all axes round, .swapaxes(-1, -2) "
    "the last two",
    "missing 1 required": "\ncompare the signature with the stub's",
    "unexpected keyword": "\ncompare the signature with the stub's",
    "positional arguments but": "\ncompare the signature with the stub's",
    "before Module.__init__": "\nbegin __init__ with super().__init__()",
    "mat1 and mat2": "\nthe last axis of the first must be as long as the last but one "
    "of the second: print both shapes",
    "must match the size of tensor": "\nprint the shapes of both: a sum, mean or amax "
    "over an axis loses it unless keepdim=True",
    "inplace operation": "\nan operation changed a value that the way back needs: "
    "write x = x + y for x += y",
    "requires grad. Use": "\nnumpy() ends the chain of gradients: stay with tensors",
    "missing the required": "\na module computes in `forward`: is that its name?",
}
"""What to do about what Python, NumPy and PyTorch say, by a part of their message."""
PACKAGE = str(Path(__file__).parents[1])
SEEDS = (1, 2)
"""Two independent probes: what agrees on both is no accident."""


def judge(
    exercise: str | Exercise,
    solution: Any,
    right: dict[int, list[Answer]] | None = None,
    *,
    chapter: int | None = None,
) -> Report:
    """Check a solution in this process, without a time limit.

    Parameters
    ----------
    exercise
        The exercise, or its name.
    solution
        Any function or class; neither its source nor pickling is needed.
    right
        The reference's answers, where they were taken before; None asks it now.
    chapter
        Ask no more than the book has explained by the end of this one; None asks all.

    Returns
    -------
    Report
        The result, with the mistakes that answer alike.

    Raises
    ------
    UnknownExercise
        If there is no such exercise.
    """
    exercise = find(exercise) if isinstance(exercise, str) else exercise
    with _own_chance(exercise):
        return _judge(exercise, solution, right, chapter)


def _own_chance(exercise):
    """What a notebook draws after a check does not depend on it."""
    if not exercise.in_torch:
        return nullcontext()
    from encoderlab.lab.modules import own_chance  # torch is for its exercises alone

    return own_chance()


def _judge(exercise, solution, right, chapter):
    start = time.perf_counter()
    check = exercise.check()
    right = right or ask_reference(exercise, chapter)
    given = {seed: list(ask_all(check, solution, seed, chapter)) for seed in SEEDS}
    cases = sum(map(len, right.values()))
    report = Report(exercise.id, "passed", cases=cases, chapter=chapter)
    if any(
        isinstance(answer.error, NotImplementedError)
        and not answer.error.args  # PyTorch raises it with words, of a wrong dtype
        for answer in (*given[SEEDS[0]], *given[SEEDS[1]])
    ):
        report.status = "todo"
    else:
        for seed in SEEDS:
            report.failures += _failures(right[seed], given[seed])
        if report.failures:
            report.status = "failed"
            if all(answer.error is not None for answer in given[SEEDS[0]]):
                report.status = "error"
            report.failures = _once(report.failures)
            if report.status == "failed":
                report.named, report.at_first = diagnose(
                    exercise, right, given, chapter
                )
    report.seconds = time.perf_counter() - start
    return report


def ask_reference(
    exercise: Exercise, chapter: int | None = None
) -> dict[int, list[Answer]]:
    """Ask the book's own solution; returns its answers by seed."""
    check, reference = exercise.check(), exercise.reference()
    return {seed: list(ask_all(check, reference, seed, chapter)) for seed in SEEDS}


def judge_file(exercise: str | Exercise, path: Path) -> Report:
    """Check a learner's file in this process, without a time limit.

    Parameters
    ----------
    exercise
        The exercise, or its name.
    path
        The file.

    Returns
    -------
    Report
        The result; ``error`` with a message where the file cannot be run.
    """
    exercise = find(exercise) if isinstance(exercise, str) else exercise
    if exercise.lacks():
        return Report(exercise.id, "error", message=exercise.lacks())
    right = ask_reference(exercise)  # before the file can change anything
    mine.loading.add(exercise.short)
    try:
        solution = load_solution(path, exercise.name)
    except CannotLoad as error:
        return Report(exercise.id, "error", message=str(error))
    except NotImplementedError:
        return Report(exercise.id, "todo")
    except SystemExit as error:
        return Report(exercise.id, "error", message=ENDED.format(error.code))
    except BaseException as error:
        return Report(exercise.id, "error", message=_in_words(error))
    finally:
        mine.loading.discard(exercise.short)
    try:
        report = judge(exercise, solution, right)
    except SystemExit as error:
        return Report(exercise.id, "error", message=ENDED.format(error.code))
    except BaseException as error:
        return Report(exercise.id, "error", message=_in_words(error))
    report.parts = dict(mine.used)
    return report


def diagnose(
    exercise: Exercise,
    right: dict[int, list[Answer]],
    given: dict[int, list[Answer]],
    chapter: int | None = None,
) -> tuple[list[Mistaken], list[Mistaken]]:
    """Find the known mistakes that give the same answers on both probes.

    Parameters
    ----------
    exercise
        The exercise.
    right, given
        The reference's answers and the solution's, by seed.

    Returns
    -------
    named, at_first : list of Mistaken
        Those that agree on every question; several where they cannot be told apart. If
        there are none, those that agree the furthest, the first wrong number among it:
        what is wrong then is theirs, and something else besides.
    """
    check = exercise.check()
    agreed = {
        entry: min(
            _agreed(answers, ask_all(check, entry.target, seed, chapter))
            for seed, answers in given.items()
        )
        for entry in mistakes_of(exercise.id)
    }
    furthest = max(agreed.values(), default=0)
    found = [
        Mistaken(entry.id, entry.says, entry.hint)
        for entry, number in agreed.items()
        if number == furthest
    ]
    if furthest == ALL:
        return found, []
    first = max(_first_wrong_number(right[seed], given[seed]) for seed in SEEDS)
    return [], found if first < furthest and len(found) <= MOST_AT_FIRST else []


def _failures(right, given):
    failures = []
    for expected, answer in zip(right, given, strict=False):
        found = _compare(expected, answer)
        if found:
            failures.append(Failure(expected.case.says, *found))
    if len(given) < len(right) and not failures:
        failures.append(Failure(right[len(given)].case.says, "it was never reached"))
    return failures


def _compare(expected, answer):
    case, error = expected.case, answer.error
    wanted = case.raises if isinstance(case, Case) else None
    if wanted is not None:
        if isinstance(error, wanted):
            return None
        came = "none came" if error is None else f"{type(error).__name__} came"
        return f"it must raise {wanted.__name__}, {came}", "", ""
    if isinstance(error, WrongForm):
        return str(error), "", ""
    if error is not None:
        return _in_words(error), "", ""
    if isinstance(case, Property):
        return None if answer.value else ("this must hold, and does not", "", "")
    if answer.changed_input:
        return "it changes its input: work on a copy", "", ""
    return difference(expected.value, answer.value, case)


def _in_words(error):
    """An error's name, message and line in the learner's code."""
    if isinstance(error, EOFError):
        return "EOFError: it waits for input; take input() out"
    frames = traceback.extract_tb(error.__traceback__)
    libraries = (PACKAGE, sys.prefix, sys.base_prefix, "<frozen", "<__array")
    own = [frame for frame in frames if not frame.filename.startswith(libraries)]
    place = f", line {own[-1].lineno}: {own[-1].line}" if own and own[-1].line else ""
    try:
        said = str(error)
    except Exception:
        said = "(its message cannot be shown)"
    advice = next((text for part, text in ADVICE.items() if part in said), "")
    return f"{type(error).__name__}: {said}{place}{advice}"


def _once(failures):
    """Each question once, those that fail alike or get the same advice together."""
    by_question: dict[str, Failure] = {}
    for failure in failures:  # the second probe asks the same again
        by_question.setdefault(failure.says, failure)
    together: dict[tuple, Failure] = {}
    for failure in by_question.values():
        words = failure.what.split("\n")[-1], failure.expected, failure.got
        first = together.setdefault(words, failure)
        first.times += first is not failure
    return list(together.values())


def _agreed(answers, others):
    """How many questions are answered alike before the first that is not."""
    for place, (one, other) in enumerate(zip_longest(answers, others)):
        if one is None or other is None:
            return place
        if isinstance(one.case, Case) and one.case.raises:
            continue  # who refuses bad input, and how, says nothing about the mistake
        if (
            type(one.error) is not type(other.error)
            or one.changed_input != other.changed_input
            or (isinstance(one.error, WrongForm) and str(one.error) != str(other.error))
            or (one.error is None and _apart(one, other))
        ):
            return place
    return ALL


def _first_wrong_number(right, given):
    """The place of the first wrong answer that could hardly be another's by chance."""
    for place, (expected, answer) in enumerate(zip(right, given, strict=False)):
        found = _compare(expected, answer)
        if found and answer.error is None and found[0].endswith(VALUES_WRONG):
            return place
    return ALL


def _apart(one, other):
    if isinstance(one.case, Property):
        return one.value != other.value
    case = Case("", one.case.call, rtol=SAME, dtype=one.case.dtype)
    return difference(other.value, one.value, case) is not None
