"""Judge a solution: ask it what the reference is asked, compare, name the mistake."""

import time
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from encoderlab.lab import mine
from encoderlab.lab.asking import Answer, ask_all
from encoderlab.lab.compare import failures, in_words, together
from encoderlab.lab.diagnosis import diagnose
from encoderlab.lab.exercises import Exercise, find
from encoderlab.lab.load import CannotLoad, load_solution
from encoderlab.lab.outcome import Report

ENDED = "the solution ended the whole program (exit code {}); take exit() out"
BROKEN = (
    "the book's own solution fails here too: {}\nrestart the kernel and check again"
)
SEEDS = (1, 2)
"""Two independent probes: what agrees on both is no accident."""


def judge(
    exercise: str | Exercise,
    solution: Any,
    right: dict[int, list[Answer]] | None = None,
    *,
    chapter: int | None = None,
    naming: bool = True,
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
    naming
        Whether to look for known mistakes that answer alike, which takes the longest.

    Returns
    -------
    Report
        The result, with the mistakes that answer alike.

    Raises
    ------
    UnknownExercise
        If there is no such exercise.
    ValueError
        If the exercise belongs to a later chapter than ``chapter``.
    """
    exercise = find(exercise) if isinstance(exercise, str) else exercise
    if chapter is not None and chapter < exercise.chapter:
        raise ValueError(
            f"{exercise.name} is an exercise of chapter {exercise.chapter}, got "
            f"chapter={chapter}; give {exercise.chapter} or a later one"
        )
    with _apart(exercise):
        return _judge(exercise, solution, right, chapter, naming)


@contextmanager
def _apart(exercise):
    """A check neither changes what a notebook draws nor hangs on its grad mode."""
    if not exercise.in_torch:
        yield
        return
    import torch  # for its exercises alone

    from encoderlab.lab.modules import own_chance

    with own_chance(), torch.enable_grad():
        yield


def _judge(exercise, solution, right, chapter, naming):
    start = time.perf_counter()
    check = exercise.check()
    right = right or ask_reference(exercise, chapter)
    for answer in chain(*right.values()):
        if answer.error is not None and not getattr(answer.case, "raises", None):
            said = BROKEN.format(in_words(answer.error))
            return Report(exercise.id, "error", message=said, chapter=chapter)
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
            report.failures += failures(right[seed], given[seed])
        if report.failures:
            report.status = "failed"
            if all(answer.error is not None for answer in given[SEEDS[0]]):
                report.status = "error"
            report.failures = together(report.failures)
            if report.status == "failed" and naming:
                with _apart(exercise):  # the solution may have changed the mode
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
        return Report(exercise.id, "error", message=in_words(error))
    finally:
        mine.loading.discard(exercise.short)
    try:
        report = judge(exercise, solution, right)
    except SystemExit as error:
        return Report(exercise.id, "error", message=ENDED.format(error.code))
    except BaseException as error:
        return Report(exercise.id, "error", message=in_words(error))
    report.parts = dict(mine.used)
    return report
