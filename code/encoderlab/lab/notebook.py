"""``check(...)`` in a cell: the same check on the live object, under a watchdog."""

import ctypes
import inspect
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import Any

from encoderlab.lab.exercises import Exercise, find
from encoderlab.lab.judge import judge
from encoderlab.lab.outcome import Report
from encoderlab.lab.report import as_html, as_text
from encoderlab.lab.stubs import imports
from encoderlab.lab.worker import Worker
from encoderlab.lab.workspace import Workspace, write


class TookTooLong(BaseException):
    """Raised in a thread whose time is over; ``except Exception`` does not stop it."""


class ShownReport(Report):
    """A report that shows itself as the result of a cell."""

    def __repr__(self):
        return as_text(self, find(self.exercise).short)

    def _repr_html_(self):
        return as_html(self, find(self.exercise).short)


def check(exercise: str, solution: Any, *, chapter: int | None = None) -> Report:
    """Check a function or class, and show the report.

    Parameters
    ----------
    exercise
        The exercise's name, ``"softmax"`` or ``"with_numpy.functional.softmax"``.
    solution
        Any function or class; neither its source nor pickling is needed.
    chapter
        Ask no more than the book has explained by the end of this one; None asks all.

    Returns
    -------
    Report
        The result; as the last line of a cell it shows itself. A pass of the whole
        exercise is stored in the learner's folder, if there is one and nothing was
        written there yet.

    Raises
    ------
    TypeError
        If the first argument is no name.
    UnknownExercise
        If there is no such exercise; the message suggests the nearest names.
    ValueError
        If the exercise belongs to a later chapter than ``chapter``.

    Notes
    -----
    A solution that still raises NotImplementedError is ``todo``: an unsolved notebook
    runs through.

    Examples
    --------
    >>> def softmax(x, axis=-1):
    ...     raise NotImplementedError
    >>> check("softmax", softmax)
    softmax is still to do
    """
    if not isinstance(exercise, str):
        raise TypeError('the name comes first: check("softmax", softmax)')
    entry = find(exercise)
    report = _judge_in_time(entry, solution, chapter)
    if report.passed and chapter is None:
        report.message = _save(entry, solution)
    return ShownReport(**vars(report))


def _judge_in_time(entry, solution, chapter):
    """Judge in this thread; a timer raises in it when the time is over.

    Forking a kernel that has used torch would hang, and a solution may live in no file.
    """
    if not callable(solution):
        kind = type(solution).__name__
        message = f"it must be a function or a class, it is {kind}"
        return Report(entry.id, "error", message=message)
    if entry.lacks():
        return Report(entry.id, "error", message=entry.lacks())
    entry.check()  # what it imports does not count
    thread = ctypes.c_ulong(threading.get_ident())
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(
        entry.limit, lambda: raise_in(thread, ctypes.py_object(TookTooLong))
    )
    timer.daemon = True
    timer.start()
    try:
        return judge(entry, solution, chapter=chapter)
    except TookTooLong:
        message = f"it was stopped after {entry.limit:g} s; is there an endless loop?"
        return Report(entry.id, "timeout", message=message)
    except SystemExit as error:
        message = f"it ended the program (exit code {error.code}); take exit() out"
        return Report(entry.id, "error", message=message)
    finally:
        timer.cancel()


def _save(entry: Exercise, solution: Any) -> str:
    """Store a pass in the learner's folder; say why not, where that is of use."""
    workspace = Workspace()
    if not workspace.exists() or not workspace.is_open(entry):
        return ""
    try:
        source = inspect.getsource(solution)
    except (OSError, TypeError):
        return ""
    text = f"import math\n\n{imports(entry)}\n\n{dedent(source)}\n"
    if solution.__name__ != entry.name:
        return f"It was not stored: name it {entry.name}, and check it once more"
    with TemporaryDirectory() as folder:
        alone = Path(folder) / workspace.file(entry).name
        alone.write_text(text, encoding="utf-8")
        report = Worker(workspace.root).check(entry, alone)
    if not report.passed:
        why = next((failure.what for failure in report.failures), report.message)
        return f"It was not stored, since it does not run without this notebook: {why}"
    try:
        write(workspace.file(entry), text)
        workspace.note(entry, passed=True)
    except OSError as error:
        return f"It could not be stored: {error}"
    return ""
