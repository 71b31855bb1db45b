"""Judge a solution: ask it what the reference is asked, compare, name the mistake."""

import sys
import time
import traceback
from itertools import zip_longest
from pathlib import Path
from typing import Any

from encoderlab.lab import mine
from encoderlab.lab.asking import Answer, ask_all
from encoderlab.lab.case import SAME, Case, Property, WrongForm
from encoderlab.lab.exercises import Exercise, find
from encoderlab.lab.load import CannotLoad, load_solution
from encoderlab.lab.mistakes import mistakes_of
from encoderlab.lab.outcome import Failure, Mistaken, Report, difference

ENDED = "the solution ended the whole program (exit code {}); take exit() out"
PACKAGE = str(Path(__file__).parents[1])
SEEDS = (1, 2)
"""Two independent probes: what agrees on both is no accident."""


def judge(
    exercise: str | Exercise,
    solution: Any,
    right: dict[int, list[Answer]] | None = None,
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
    start = time.perf_counter()
    check = exercise.check()
    right = right or ask_reference(exercise)
    given = {seed: list(ask_all(check, solution, seed)) for seed in SEEDS}
    report = Report(exercise.id, "passed", cases=sum(map(len, right.values())))
    if any(
        isinstance(answer.error, NotImplementedError)
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
                report.named = diagnose(exercise, given)
    report.seconds = time.perf_counter() - start
    return report


def ask_reference(exercise: Exercise) -> dict[int, list[Answer]]:
    """Ask the book's own solution; returns its answers by seed."""
    check, reference = exercise.check(), exercise.reference()
    return {seed: list(ask_all(check, reference, seed)) for seed in SEEDS}


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
    right = ask_reference(exercise)  # before the file can change anything
    mine.loading.add(exercise.name)
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
        mine.loading.discard(exercise.name)
    try:
        report = judge(exercise, solution, right)
    except SystemExit as error:
        return Report(exercise.id, "error", message=ENDED.format(error.code))
    except BaseException as error:
        return Report(exercise.id, "error", message=_in_words(error))
    report.parts = dict(mine.used)
    return report


def diagnose(exercise: Exercise, given: dict[int, list[Answer]]) -> list[Mistaken]:
    """Find the known mistakes that give the same answers on both probes.

    Parameters
    ----------
    exercise
        The exercise.
    given
        The solution's answers, by seed.

    Returns
    -------
    list of Mistaken
        One, or several where they cannot be told apart; empty if none agrees.
    """
    check = exercise.check()
    return [
        Mistaken(entry.id, entry.says, entry.hint)
        for entry in mistakes_of(exercise.id)
        if all(
            _same(answers, ask_all(check, entry.target, seed))
            for seed, answers in given.items()
        )
    ]


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
    return f"{type(error).__name__}: {said}{place}"


def _once(failures):
    """The first failure of each question: the second probe asks the same again."""
    seen: dict[str, Failure] = {}
    for failure in failures:
        seen.setdefault(failure.says, failure)
    return list(seen.values())


def _same(answers, others):
    """Whether others come to the same answers; the first that differs ends it."""
    for one, other in zip_longest(answers, others):
        if one is None or other is None:
            return False
        if isinstance(one.case, Case) and one.case.raises:
            continue  # who refuses bad input, and how, says nothing about the mistake
        if type(one.error) is not type(other.error):
            return False
        if one.changed_input != other.changed_input:
            return False
        if one.error is None and _apart(one, other):
            return False
    return True


def _apart(one, other):
    if isinstance(one.case, Property):
        return one.value != other.value
    case = Case("", one.case.call, rtol=SAME, dtype=one.case.dtype)
    return difference(other.value, one.value, case) is not None
