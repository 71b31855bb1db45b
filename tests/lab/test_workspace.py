"""The learner's folder: nothing is lost, nothing half-written."""

import os
import subprocess
import sys
import threading

import pytest

from encoderlab.lab import workspace as module
from encoderlab.lab.console import check_file
from encoderlab.lab.exercises import exercises
from encoderlab.lab.stubs import stub
from encoderlab.lab.workspace import NoWorkspace, Workspace

from .conftest import RIGHT, WRONG


def files(root):
    return {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_start_writes_a_stub_for_every_exercise(work):
    for exercise in exercises().values():
        assert work.file(exercise).read_text(encoding="utf-8") == stub(exercise)
        assert work.is_open(exercise)


def test_start_replaces_nothing(work, write, softmax):
    write("mine = 1\n")
    assert work.start() == []
    assert work.file(softmax).read_text() == "mine = 1\n"


def test_start_copies_the_notebooks_once(work, book):
    copied = work.copy_notebooks(book)
    assert len(copied) >= 12
    chapter = "part1-numpy/03-attention.ipynb"
    notebook = work.root / "book" / chapter
    assert notebook.read_bytes() == (book / chapter).read_bytes()
    assert (work.root / "book" / "data" / "tour.npz").is_file()
    notebook.write_text("changed")
    assert work.copy_notebooks(book) == []
    assert notebook.read_text() == "changed"


def test_without_a_folder_it_is_said_how_to_make_one(tmp_path):
    with pytest.raises(NoWorkspace, match="make it with `encoderlab start`"):
        Workspace(tmp_path / "none").require()


def test_reset_backs_up_and_restore_brings_it_back(work, write, softmax):
    path = write("first\n")
    assert work.reset(softmax).read_text() == "first\n"
    assert path.read_text(encoding="utf-8") == stub(softmax)
    path.write_text("second\n")
    work.restore(softmax)
    assert path.read_text() == "first\n"
    assert [p.read_text() for p in work.backups(softmax)] == ["first\n", "second\n"]


def test_restore_without_a_backup_is_refused(work, softmax):
    with pytest.raises(FileNotFoundError, match="no backup of softmax"):
        work.restore(softmax)


def test_backups_are_in_order_beyond_nine(work, write, softmax):
    for i in range(12):
        write(f"{i}\n")
        work.reset(softmax)
    work.restore(softmax)
    assert work.file(softmax).read_text() == "11\n"


# What has passed


def test_passed_is_bound_to_the_source(work, write, softmax):
    path = write(RIGHT)
    assert check_file(work, softmax).passed
    assert work.passed(softmax)
    path.write_text(RIGHT + "# changed\n")
    assert not work.passed(softmax)


def test_passed_is_bound_to_the_check(work, write, softmax, monkeypatch):
    write(RIGHT)
    work.note(softmax, passed=True)
    assert work.passed(softmax)
    monkeypatch.setattr(module.ast, "unparse", lambda node: "another check")
    assert not work.passed(softmax)


def test_failing_again_takes_the_pass_away(work, write, softmax):
    write(RIGHT)
    assert check_file(work, softmax).passed
    write(WRONG)
    assert not check_file(work, softmax).passed
    write(RIGHT)
    assert not work.passed(softmax)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b""])
def test_broken_note_of_a_pass_is_no_pass_and_is_written_anew(
    work, write, softmax, content
):
    write(RIGHT)
    work.note(softmax, passed=True)
    (note,) = (work.root / ".passed").iterdir()
    note.write_bytes(content)
    assert not work.passed(softmax)
    work.note(softmax, passed=True)
    assert work.passed(softmax)


def test_folder_in_place_of_a_file_is_one_error_and_no_more(work, softmax):
    path = work.file(softmax)
    path.unlink()
    path.mkdir()
    report = check_file(work, softmax)
    assert report.status == "error"
    assert "is a folder, not a file" in report.message
    assert not work.is_open(softmax)
    assert not work.passed(softmax)


def test_checks_at_once_keep_all_passes(work):
    some = list(exercises().values())[:12]
    threads = [threading.Thread(target=work.note, args=(e, True)) for e in some]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(work.passed(exercise) for exercise in some)


def test_learners_part_is_used_once_it_has_passed(work, write, softmax, monkeypatch):
    from encoderlab.lab import mine

    monkeypatch.setattr(mine, "_parts", {})
    monkeypatch.setattr(mine, "used", {})
    assert mine.softmax is softmax.reference()
    assert mine.used == {"softmax": False}
    write(RIGHT + "own = True\n")
    check_file(work, softmax)
    mine._parts.clear()
    assert mine.softmax.__module__ == "_work_numpy_softmax"
    assert mine.used == {"softmax": True}
    with pytest.raises(AttributeError, match="did you mean softmax"):
        mine.sofmax  # noqa: B018


# Whatever breaks off, a file is whole


class Killed(BaseException):
    pass


STEPS = ["mkstemp", "fdopen", "fsync", "chmod", "replace"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("what", ["start", "reset", "restore", "note"])
def test_nothing_is_lost_when_it_breaks_off(
    work, write, softmax, monkeypatch, step, what
):
    path = write("first\n")
    work.reset(softmax)
    path.write_text("second\n")
    if what == "start":
        path.with_name("layer_norm.py").unlink()
    before = files(work.root)

    def broken(*arguments, **options):
        raise Killed

    owner = module.tempfile if step == "mkstemp" else os
    monkeypatch.setattr(owner, step, broken)
    actions = {
        "start": work.start,
        "note": lambda: work.note(softmax, passed=True),
        "reset": lambda: work.reset(softmax),
        "restore": lambda: work.restore(softmax),
    }
    with pytest.raises(Killed):
        actions[what]()
    monkeypatch.undo()
    after = {p: c for p, c in files(work.root).items() if p.suffix != ".half"}
    assert before.items() <= after.items()


@pytest.mark.parametrize("error", [OSError(28, "full"), PermissionError(13, "no")])
def test_full_or_read_only_disk_loses_nothing(work, write, softmax, monkeypatch, error):
    path = write(RIGHT)

    def full(*arguments, **options):
        raise error

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(type(error)):
        work.reset(softmax)
    report = check_file(work, softmax)
    assert report.passed
    assert "could not be stored" in report.message
    monkeypatch.undo()
    assert path.read_text() == RIGHT
    assert not list(work.root.rglob("*.half"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("step", ["fdopen", "fsync", "chmod", "replace"])
@pytest.mark.parametrize("what", ["start", "reset", "restore", "note"])
def test_nothing_is_lost_when_the_process_is_killed(work, write, softmax, step, what):
    path = write("first\n")
    work.reset(softmax)
    path.write_text("second\n")
    if what == "start":
        path.with_name("layer_norm.py").unlink()
    before = files(work.root)
    program = (
        "import os, signal\n"
        "from encoderlab.lab.exercises import find\n"
        "from encoderlab.lab.workspace import Workspace\n"
        "work, softmax = Workspace(), find('softmax')\n"
        f"os.{step} = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "actions = {'start': work.start, 'note': lambda: work.note(softmax, True),\n"
        "           'reset': lambda: work.reset(softmax),\n"
        "           'restore': lambda: work.restore(softmax)}\n"
        f"actions[{what!r}]()\n"
    )
    ended = subprocess.run([sys.executable, "-c", program])
    assert ended.returncode == -9
    after = {p: c for p, c in files(work.root).items() if p.suffix != ".half"}
    assert before == after
    # and what was asked for can be done the next time
    work.start()
    work.reset(softmax)
    assert "second\n" in [backup.read_text() for backup in work.backups(softmax)]
