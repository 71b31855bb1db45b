"""A learner's path in a real terminal, from the start to a solution of one's own."""

import sys
import time

import pytest

from .conftest import RIGHT, WRONG

pexpect = pytest.importorskip("pexpect", reason="needs a POSIX terminal")
if sys.platform == "win32":
    pytest.skip("needs a POSIX terminal", allow_module_level=True)

PROGRAM = ["-c", "from encoderlab.lab.cli import main; main()"]


@pytest.fixture
def terminal(tmp_path, monkeypatch):
    """Type a command in a terminal; returns what can be expected from it."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("ENCODERLAB_WORK", str(tmp_path / "work"))
    open_terminals = []

    def type_in(*arguments):
        child = pexpect.spawn(
            sys.executable,
            [*PROGRAM, *arguments],
            cwd=tmp_path,
            encoding="utf-8",
            timeout=30,
            dimensions=(40, 120),
        )
        open_terminals.append(child)
        return child

    yield type_in
    for child in open_terminals:
        child.close(force=True)


def ended(child):
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_from_start_to_a_right_solution(terminal, tmp_path):
    child = terminal("start")
    child.expect("files written to")
    assert ended(child) == 0
    path = tmp_path / "work" / "numpy" / "softmax.py"

    child = terminal("check", "softmax")
    child.expect("softmax is still to do")
    assert ended(child) == 1

    path.write_text(WRONG)
    child = terminal("check", "softmax")
    child.expect("\x1b\\[31m.*softmax is not right yet")  # in red
    child.expect("It looks as if you")
    child.expect("expected")
    assert ended(child) == 1

    child = terminal("hint", "softmax", "3")
    child.expect("keepdims=True")
    assert ended(child) == 0

    path.write_text(RIGHT)
    child = terminal("check", "softmax")
    child.expect("\x1b\\[32m.*softmax is right")  # in green
    assert ended(child) == 0

    child = terminal("status")
    child.expect(r"\[done\] softmax")
    child.expect("1 of")
    assert ended(child) == 0

    child = terminal("reset", "softmax")
    child.expect("yours is kept as")
    assert ended(child) == 0
    child = terminal("restore", "softmax")
    assert ended(child) == 0
    assert path.read_text() == RIGHT

    child = terminal("check", "softmax")
    child.expect("softmax is right")
    assert ended(child) == 0


def test_watch_answers_each_save_until_it_is_interrupted(terminal, tmp_path):
    assert ended(terminal("start")) == 0
    path = tmp_path / "work" / "numpy" / "softmax.py"
    child = terminal("watch")
    child.expect("watching .* Ctrl-C ends it")
    path.write_text(WRONG)
    child.expect("softmax is not right yet")
    path.write_text(RIGHT)
    child.expect("softmax is right")
    path.write_text("def softmax(x:\n")
    child.expect("line 1")
    path.write_text(RIGHT)
    child.expect("softmax is right")
    child.sendintr()
    assert ended(child) == 0
    assert "Traceback" not in (child.before or "")


def test_interrupted_check_ends_quietly_and_leaves_nothing_behind(terminal, tmp_path):
    assert ended(terminal("start")) == 0
    path = tmp_path / "work" / "numpy" / "softmax.py"
    reached = tmp_path / "reached"
    path.write_text(
        f"def softmax(x, axis=-1):\n    open({str(reached)!r}, 'w').close()\n"
        "    while True: pass\n"
    )
    child = terminal("check", "softmax")
    while not reached.exists():
        assert child.isalive()
        time.sleep(0.05)
    child.sendintr()
    assert ended(child) in (1, 130)
    assert "Traceback" not in (child.before or "")
