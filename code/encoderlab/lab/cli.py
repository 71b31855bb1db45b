"""The ``encoderlab`` command: start, check, watch, hint and whatever else helps."""

import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from encoderlab.lab.advice import (
    Name,
    book_folder,
    doctor,
    hint,
    names,
    search,
    solution,
)
from encoderlab.lab.console import check_file, say, show, summary
from encoderlab.lab.exercises import UnknownExercise, exercises, find
from encoderlab.lab.report import as_json, as_junit
from encoderlab.lab.worker import Worker
from encoderlab.lab.workspace import VARIABLE, NoWorkspace, Workspace

app = typer.Typer(
    help="Write the parts of an encoder yourself, and have them checked.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
for told in (hint, solution, search, doctor):
    app.command()(told)


@app.command()
def start(folder: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Make the folder to work in: a stub for each exercise, and the notebooks."""
    workspace = Workspace(folder)
    written = workspace.start()
    book = book_folder()
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
            autocompletion=names,
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
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    spare = Worker(workspace.root)
    said = False
    try:
        for changed in changes(
            workspace.root,
            debounce=40,
            step=10,
            stop_event=interrupted,
            rust_timeout=200,
            yield_on_timeout=True,
        ):
            if not said:  # it watches now: what is saved from here on is seen
                say(f"watching {workspace.root}; Ctrl-C ends it")
                said = True
            paths = {Path(path) for _, path in changed}
            for path in sorted(paths & by_path.keys()):
                if path.exists():
                    show(check_file(workspace, by_path[path], spare), by_path[path])
                    spare = Worker(workspace.root)
    finally:
        spare.close()


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
    if what.isdecimal():
        chosen = [e for e in exercises().values() if e.chapter == int(what)]
        if not chosen:
            chapters = sorted({e.chapter for e in exercises().values()})
            raise UnknownExercise(
                f"there are no exercises in chapter {what}; the chapters are "
                + ", ".join(map(str, chapters))
            )
        return chosen
    return [find(what)]
