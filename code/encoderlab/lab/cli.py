"""The ``encoderlab`` command: start, check, watch, hint and whatever else helps."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from encoderlab.lab.console import check_file, say, show, summary
from encoderlab.lab.exercises import UnknownExercise, exercises, find
from encoderlab.lab.report import as_json, as_junit
from encoderlab.lab.worker import Worker
from encoderlab.lab.workspace import VARIABLE, NoWorkspace, Workspace

NO_SOLUTIONS = "ENCODERLAB_NO_SOLUTIONS"
"""Set by a teacher: `solution` then shows nothing."""

app = typer.Typer(
    help="Write the parts of an encoder yourself, and have them checked.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _names(incomplete: str) -> list[str]:
    known = [exercise.short for exercise in exercises().values()]
    return [name for name in known if name.startswith(incomplete)]


Name = Annotated[str, typer.Argument(help="An exercise.", autocompletion=_names)]


@app.command()
def start(folder: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Make the folder to work in: a stub for each exercise, and the notebooks."""
    workspace = Workspace(folder)
    written = workspace.start()
    book = _book()
    if book is not None:
        written += workspace.copy_notebooks(book)
    say(f"{len(written)} files written to {workspace.root}; none was replaced")
    if folder is not None and workspace.root != Workspace().root:
        say(f"for the other commands set {VARIABLE}={workspace.root}")


@app.command("check")
def check_command(
    what: Annotated[
        str | None,
        typer.Argument(
            help="An exercise, a chapter's number, or nothing for all.",
            autocompletion=_names,
        ),
    ] = None,
) -> None:
    """Check an exercise, a chapter, or all."""
    workspace = _workspace()
    chosen = _chosen(what)
    reports = []
    for exercise in chosen:
        reports.append(check_file(workspace, exercise))
        if len(chosen) == 1 or reports[-1].status != "todo":
            show(reports[-1], exercise)
    if len(chosen) > 1:
        say(summary(reports))
    if not all(report.passed for report in reports):
        raise typer.Exit(1)


@app.command()
def watch() -> None:
    """Check each file again when it is saved, until Ctrl-C."""
    from watchfiles import watch as changes

    workspace = _workspace()
    by_path = {workspace.file(e): e for e in exercises().values()}
    say(f"watching {workspace.root}; Ctrl-C ends it")
    spare = Worker(workspace.root)
    try:
        for changed in changes(
            workspace.root, debounce=40, step=10, raise_interrupt=False
        ):
            paths = {Path(path) for _, path in changed}
            for path in sorted(paths & by_path.keys()):
                if path.exists():
                    show(check_file(workspace, by_path[path], spare), by_path[path])
                    spare = Worker(workspace.root)
    except KeyboardInterrupt:
        pass  # that is how it ends
    finally:
        spare.close()


@app.command()
def hint(
    exercise: Name,
    number: Annotated[int, typer.Argument(min=1, max=3, help="1, 2 or 3.")] = 1,
) -> None:
    """Give a hint: 1 a question, 2 an example worked by hand, 3 the line to look at."""
    say(find(exercise).hints[number - 1])


@app.command()
def status() -> None:
    """List the exercises by chapter, and which have passed."""
    workspace = _workspace()
    chapter = None
    done = 0
    for exercise in sorted(exercises().values(), key=lambda e: e.chapter):
        if exercise.chapter != chapter:
            chapter = exercise.chapter
            say(f"chapter {chapter:02}")
        passed = workspace.passed(exercise)
        done += passed
        mark = "done" if passed else "    " if workspace.is_open(exercise) else "open"
        level = f"{exercise.difficulty} of 3, {exercise.minutes} min"
        say(f"  [{mark}] {exercise.short:26} {level}")
    say(f"{done} of {len(exercises())} done")


@app.command()
def solution(exercise: Name) -> None:
    """Show the book's own solution."""
    import inspect

    if os.environ.get(NO_SOLUTIONS):
        say(f"solutions are switched off here ({NO_SOLUTIONS} is set)")
        raise typer.Exit(1)
    say(inspect.getsource(find(exercise).reference()))


@app.command()
def reset(exercise: Name) -> None:
    """Put the stub back; what was there is backed up first."""
    found = find(exercise)
    backup = _workspace().reset(found)
    kept = f"; yours is kept as {backup}" if backup else ""
    say(f"{found.short} is a stub again{kept}")


@app.command()
def restore(exercise: Name) -> None:
    """Put the newest backup back."""
    found = find(exercise)
    say(f"{found.short} is what it was in {_workspace().restore(found)}")


@app.command()
def report(
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    junit: Annotated[bool, typer.Option("--junit", help="JUnit's XML.")] = False,
) -> None:
    """Check all, and print one report of it."""
    workspace = _workspace()
    reports = [check_file(workspace, e) for e in exercises().values()]
    if json:
        say(as_json(reports))
    elif junit:
        say(as_junit(reports))
    else:
        say(summary(reports))


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="Some words.")],
    most: Annotated[int, typer.Option(help="How many passages.", min=1)] = 5,
) -> None:
    """Search the book by meaning, with your own encoder where it has passed."""
    from encoderlab.lab import mine
    from encoderlab.lab.search import search as find_passages

    book = _book()
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


@app.command()
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


def main() -> None:
    """Run the command; what a learner can mend is said in one line."""
    try:
        app()
    except (UnknownExercise, NoWorkspace, FileNotFoundError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(1)


def _workspace():
    workspace = Workspace()
    workspace.require()
    return workspace


def _chosen(what):
    if what is None:
        return list(exercises().values())
    if what.isdigit():
        chosen = [e for e in exercises().values() if e.chapter == int(what)]
        if not chosen:
            chapters = sorted({e.chapter for e in exercises().values()})
            raise UnknownExercise(
                f"there are no exercises in chapter {what}; the chapters are "
                + ", ".join(map(str, chapters))
            )
        return chosen
    return [find(what)]


def _book():
    """The book's folder, where the package runs from a clone."""
    book = Path(__file__).resolve().parents[3] / "book"
    return book if (book / "tour.ipynb").is_file() else None
