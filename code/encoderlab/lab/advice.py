"""Commands that tell: a hint, a solution, a passage of the book, what is installed."""

import inspect
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from encoderlab.lab.console import say
from encoderlab.lab.exercises import exercises, find
from encoderlab.lab.workspace import Workspace

NO_SOLUTIONS = "ENCODERLAB_NO_SOLUTIONS"
"""Set by a teacher: `solution` then shows nothing."""


def names(incomplete: str) -> list[str]:
    """Complete the name of an exercise."""
    known = [exercise.short for exercise in exercises().values()]
    return [name for name in known if name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(help="An exercise.", autocompletion=names)]


def hint(
    exercise: Name,
    number: Annotated[int, typer.Argument(min=1, max=3, help="1, 2 or 3.")] = 1,
) -> None:
    """Give a hint: 1 a question, 2 an example worked by hand, 3 the line to look at."""
    say(find(exercise).hints[number - 1])


def solution(exercise: Name) -> None:
    """Show the book's own solution."""
    if os.environ.get(NO_SOLUTIONS):
        say(f"solutions are switched off here ({NO_SOLUTIONS} is set)")
        raise typer.Exit(1)
    say(inspect.getsource(find(exercise).reference()))


def search(
    question: Annotated[str, typer.Argument(help="Some words.")],
    most: Annotated[int, typer.Option(help="How many passages.", min=1)] = 5,
) -> None:
    """Search the book by meaning, with your own encoder where it has passed."""
    from encoderlab.lab import mine
    from encoderlab.lab.search import search as find_passages

    book = book_folder()
    if book is None:
        raise FileNotFoundError("the book's pages are not here: run this in a clone")
    for similarity, passage in find_passages(question, book, Workspace(), most):
        say(f"{similarity:.2f}  {passage.page}: {passage.heading}")
        say(f"      {passage.text[:200]}")
    own = [name for name, learners in mine.used.items() if learners]
    if own:
        say(f"found by your own {', '.join(own)}")
    else:
        say("found by the book's encoder: yours has not passed yet")


def doctor() -> None:
    """Say what this machine has, for a question to somebody who helps."""
    say(f"Python {platform.python_version()} on {platform.platform()}")
    for package in ("encoderlab", "numpy", "scipy", "torch", "typer", "rich"):
        try:
            say(f"{package} {version(package)}")
        except PackageNotFoundError:
            say(f"{package} is not installed")
    workspace = Workspace()
    state = "there" if workspace.exists() else "not there: `encoderlab start` makes it"
    say(f"{workspace.root} is {state}")
    if workspace.exists():
        writable = os.access(workspace.root, os.W_OK)
        say("it can be written to" if writable else "it cannot be written to")


def book_folder():
    """The book's folder, where the package runs from a clone."""
    book = Path(__file__).resolve().parents[3] / "book"
    return book if (book / "tour.ipynb").is_file() else None
