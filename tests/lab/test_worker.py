"""Whatever a file does, its check ends, says why, and the next one works."""

import dataclasses
import subprocess
import sys
import time

import psutil
import pytest

from encoderlab.lab.worker import Worker

from .conftest import RIGHT, WRONG


@pytest.fixture
def check(work, softmax):
    def check(path, limit=10.0):
        exercise = dataclasses.replace(softmax, limit=limit)
        return Worker(work.root).check(exercise, path)

    return check


def test_right_file_passes(check, write):
    report = check(write(RIGHT))
    assert report.passed
    assert report.cases >= 8


def test_wrong_file_fails_and_its_mistake_is_named(check, write):
    report = check(write(WRONG))
    assert report.status == "failed"
    assert "softmax.no_shift" in report.mistakes
    assert report.failures[0].got


def test_process_ends_with_the_one_that_started_it(work, write, tmp_path):
    """Even where that one was killed and could not end it."""
    me = tmp_path / "pid"
    path = write(
        f"import os\nopen({str(me)!r}, 'w').write(str(os.getpid()))\nwhile True: pass\n"
    )
    source = (
        "from pathlib import Path\n"
        "from encoderlab.lab.exercises import find\n"
        "from encoderlab.lab.worker import Worker\n"
        f"Worker(Path({str(work.root)!r})).check(find('softmax'), Path({str(path)!r}))"
    )
    parent = subprocess.Popen([sys.executable, "-c", source])
    deadline = time.monotonic() + 60
    while not (me.exists() and me.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    worker = int(me.read_text())
    while psutil.pid_exists(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not psutil.pid_exists(worker)


IN_FUNCTION = "def softmax(x, axis=-1):\n    "


@pytest.mark.parametrize(
    ("source", "status", "message"),
    [
        ("def softmax(x, axis=-1)\n", "error", "line 1: expected ':'"),
        ("import numpy\n", "error", "does not define softmax; it defines numpy"),
        ("softmax = 3\n", "error", "softmax must be a function or a class, it is int"),
        ("import nothing_there\n", "error", "No module named 'nothing_there', line 1"),
        (b"# caf\xe9\n", "error", "is not UTF-8 (byte 5); save it as UTF-8"),
        (b"x = '\0'\n", "error", "null bytes"),
        ("exit(3)\n", "error", "ended the whole program (exit code 3)"),
        (IN_FUNCTION + "exit(3)\n", "error", "ended the whole program (exit code 3)"),
        ("import os\nos._exit(4)\n", "error", "ended the whole program (exit code 4)"),
        (
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
            "error",
            "killed by signal 9",
        ),
        ("raise NotImplementedError\n", "todo", ""),
        (IN_FUNCTION + "raise NotImplementedError\n", "todo", ""),
    ],
)
def test_unusable_file_is_said_to_be(check, write, source, status, message):
    report = check(write(source))
    assert report.status == status
    assert message in report.message
    assert check(write(RIGHT)).passed


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("pass", "it returns None: is a `return` missing?"),
        ("return undefined", "NameError: name 'undefined' is not defined, line 2: ret"),
        ("return 'text'", "it must return numbers, it returns str"),
        ("return [[1], [1, 2]]", "it must return numbers, it returns list"),
        ("return x[:1]", "the shape differs"),
        ("return x * 1j", "it must return numbers, it returns ndarray"),
        ("yield x", "it must return numbers, it returns generator"),
        ("return input()", "it waits for input; take input() out"),
        ("return x * float('nan')", "NaN where a number is expected"),
    ],
)
def test_unusable_answer_is_said_to_be(check, write, body, what):
    report = check(write(IN_FUNCTION + body + "\n"))
    assert what in report.failures[0].what
    assert report.status in ("failed", "error")


def test_wrong_signature_is_said_to_be(check, write):
    report = check(write("def softmax():\n    return 1\n"))
    assert report.status == "error"
    assert "takes 0 positional arguments but 1 was given" in report.failures[0].what


def test_line_is_named_wherever_the_folder_lies(tmp_path, softmax):
    folder = tmp_path / "encoderlab" / "work" / "numpy"
    folder.mkdir(parents=True)
    path = folder / "softmax.py"
    path.write_text(IN_FUNCTION + "return undefined\n")
    report = Worker(folder.parent).check(softmax, path)
    assert "line 2: return undefined" in report.failures[0].what


def test_missing_file_is_said_to_be(check, work, softmax):
    path = work.file(softmax)
    path.unlink()
    assert "`encoderlab start` makes it" in check(path).message


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(60)"])
def test_endless_solution_is_stopped_at_its_limit(check, write, body):
    report = check(write(IN_FUNCTION + body + "\n"), limit=1.0)
    assert report.status == "timeout"
    assert report.message == "it was stopped after 1 s; is there an endless loop?"
    assert check(write(RIGHT)).passed


def test_there_is_nothing_to_read_from_standard_input(check, write):
    report = check(write(IN_FUNCTION + "import sys; return sys.stdin.read()\n"))
    assert report.failures[0].what == "it must return numbers, it returns str"


def test_flood_of_output_is_cut(check, write):
    report = check(write(IN_FUNCTION + "while True: print('x' * 9000)\n"), limit=1.0)
    assert report.status == "timeout"
    assert 0 < len(report.printed) <= 2000
    assert check(write(RIGHT)).passed


def test_what_a_solution_prints_does_not_spoil_its_report(check, write):
    report = check(write(RIGHT + 'print(\'{"status": "failed"}\')\n'))
    assert report.passed
    assert report.printed.strip() == '{"status": "failed"}'


def test_flood_of_memory_is_stopped(check, write):
    body = "rows = []\n    while True: rows.append(bytearray(10**7))\n"
    report = check(write(IN_FUNCTION + body))
    assert report.status == "error"
    assert "more than 2 GB of memory" in report.message
    assert check(write(RIGHT)).passed


def test_children_of_a_solution_do_not_outlive_it(check, write):
    import psutil

    source = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(p.pid, flush=True)\n" + IN_FUNCTION + "while True: pass\n"
    )
    report = check(write(source), limit=1.0)
    child = int(report.printed)
    deadline = time.monotonic() + 5
    while psutil.pid_exists(child) and time.monotonic() < deadline:
        if psutil.Process(child).status() == psutil.STATUS_ZOMBIE:
            break
        time.sleep(0.05)
    assert (
        not psutil.pid_exists(child)
        or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    )


def test_child_that_outlives_a_right_solution_does_not_hold_up_its_check(check, write):
    source = "import subprocess\nsubprocess.Popen(['sleep', '50'])\n" + RIGHT
    start = time.monotonic()
    assert check(write(source)).passed
    assert time.monotonic() - start < 20


def test_part_that_asks_for_itself_is_said_to(check, write):
    report = check(write("from encoderlab.lab.mine import softmax\n"))
    assert report.status == "error"
    assert "softmax asks for itself" in report.message


def test_file_that_replaces_the_reference_does_not_pass(check, write):
    report = check(
        write(
            "from encoderlab.with_numpy import functional\n"
            "functional.softmax = softmax = lambda x, axis=-1: x\n"
        )
    )
    assert report.status == "failed"


def test_line_is_the_learners_and_not_the_librarys(check, write):
    body = "import numpy as np\n    return np.stack(np.split(x, 7, axis=-1))\n"
    report = check(write(IN_FUNCTION + body))
    assert "line 3: return np.stack" in report.failures[0].what


def test_error_that_cannot_be_shown_is_still_reported(check, write):
    source = (
        "class Odd(BaseException):\n    def __str__(self): raise ValueError\n"
        + IN_FUNCTION
        + "raise Odd\n"
    )
    report = check(write(source))
    assert report.status == "error"
    assert "Odd: (its message cannot be shown)" in report.message


def test_two_checks_at_once_do_not_disturb_each_other(work, write, softmax):
    one, other = Worker(work.root), Worker(work.root)
    path = write(RIGHT)
    assert one.check(softmax, path).passed
    assert other.check(softmax, path).passed
