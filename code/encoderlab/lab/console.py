"""Check files and say what came of it, in a terminal or where there is none."""

import os
import sys

import typer

from encoderlab.lab.exercises import Exercise
from encoderlab.lab.outcome import Report
from encoderlab.lab.report import as_text
from encoderlab.lab.worker import Worker
from encoderlab.lab.workspace import Workspace


def check_file(
    workspace: Workspace, exercise: Exercise, worker: Worker | None = None
) -> Report:
    """Check a learner's file in a process of its own, and keep in mind if it passed.

    Parameters
    ----------
    workspace
        The learner's folder.
    exercise
        The exercise.
    worker
        A process that waits already; None starts one.

    Returns
    -------
    Report
        The result.
    """
    path = workspace.file(exercise)
    if worker is None and path.exists() and workspace.is_open(exercise):
        return Report(exercise.id, "todo")  # the stub as it was: no need to run it
    worker = worker or Worker(workspace.root)
    try:
        result = worker.check(exercise, path)
    except OSError as error:  # one file must not end the report of all
        result = Report(exercise.id, "error", message=str(error))
    try:
        workspace.note(exercise, result.passed)
    except OSError as error:
        result.message += f"\nthat it passed could not be stored: {error}"
    return result


def say(text: str) -> None:
    """Print, also where the console knows few characters."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding))


def show(result: Report, exercise: Exercise) -> None:
    """Print a report, its headline in colour where a terminal shows it."""
    text = as_text(result, exercise.short)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        head, *rest = text.split("\n")
        colour = {"passed": "green", "todo": "yellow"}.get(result.status, "red")
        text = "\n".join([typer.style(head, fg=colour, bold=True), *rest])
    say(text)


def summary(reports: list[Report]) -> str:
    """Count reports by their status, in a line."""
    counts = {
        status: sum(report.status == status for report in reports)
        for status in ("passed", "failed", "error", "timeout", "todo")
    }
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)
