"""The command, as a learner types it, without a terminal."""

import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from encoderlab.lab.exercises import exercises

from .conftest import RIGHT, WRONG


@pytest.fixture
def started(command, work):
    """The command, in a folder that was started."""
    return command


def test_start_says_what_it_wrote(command, tmp_path):
    folder = tmp_path / "new"
    said = command("start", str(folder))
    assert said.returncode == 0
    assert re.match(r"\d+ files written to .*new; none was replaced\n", said.stdout)
    assert f"ENCODERLAB_WORK={folder}" in said.stdout
    assert (folder / "numpy" / "softmax.py").is_file()


def test_check_without_a_folder_says_how_to_make_one(command, monkeypatch):
    monkeypatch.delenv("ENCODERLAB_WORK", raising=False)
    said = command("check", "softmax")
    assert said.returncode == 1
    assert "make it with `encoderlab start`" in said.stderr
    assert "Traceback" not in said.stderr


def test_package_is_run_as_the_command_is(work):
    program = [sys.executable, "-m", "encoderlab", "check", "softmax"]
    said = subprocess.run(program, capture_output=True, text=True, timeout=60)
    assert (said.returncode, said.stdout) == (1, "softmax is still to do\n")


def test_check_of_a_stub_is_still_to_do(started):
    said = started("check", "softmax")
    assert (said.returncode, said.stdout) == (1, "softmax is still to do\n")


def test_check_of_a_right_solution_passes(started, write):
    write(RIGHT)
    said = started("check", "softmax")
    assert (said.returncode, said.stdout) == (0, "softmax is right\n")


def test_check_of_a_wrong_solution_names_the_mistake(started, write):
    write(WRONG)
    said = started("check", "softmax")
    assert said.returncode == 1
    assert "It looks as if you " in said.stdout
    assert "expected" in said.stdout
    assert "\x1b" not in said.stdout


def test_check_of_a_chapter_sums_up(started, write):
    write(RIGHT)
    said = started("check", "2")
    assert said.returncode == 1
    assert "softmax is right\n" in said.stdout
    assert re.search(r"^1 passed, \d+ todo$", said.stdout, re.MULTILINE)


def test_unknown_names_suggest_the_nearest(started):
    for arguments in (["check", "sofmax"], ["hint", "sofmax"], ["reset", "sofmax"]):
        said = started(*arguments)
        assert said.returncode == 1
        assert "did you mean softmax" in said.stderr
    assert "the chapters are 1, 2" in started("check", "77").stderr


def test_hints_come_one_by_one(started, softmax):
    for number, text in enumerate(softmax.hints, start=1):
        assert started("hint", "softmax", str(number)).stdout.strip() == text
    assert started("hint", "softmax", "4").returncode == 2


def test_status_counts_what_has_passed(started, write):
    write(RIGHT)
    started("check", "softmax")
    said = started("status").stdout
    assert re.search(r"\[done\] softmax +1 of 3", said)
    assert f"1 of {len(exercises())} done" in said
    write(WRONG)
    assert re.search(r"\[open\] softmax ", started("status").stdout)


def test_solution_can_be_switched_off(started):
    assert "def softmax(" in started("solution", "softmax").stdout
    said = started("solution", "softmax", ENCODERLAB_NO_SOLUTIONS="1")
    assert said.returncode == 1
    assert "switched off" in said.stdout
    assert "def softmax" not in said.stdout


def test_reset_and_restore(started, write):
    path = write(WRONG)
    assert "yours is kept as" in started("reset", "softmax").stdout
    assert "NotImplementedError" in path.read_text()
    assert started("restore", "softmax").returncode == 0
    assert path.read_text() == WRONG
    said = started("restore", "layer_norm")
    assert (said.returncode, said.stderr) == (1, "there is no backup of layer_norm\n")


def test_reports_for_programs(started, write, monkeypatch):
    write(RIGHT)
    data = json.loads(started("report", "--json", timeout=300).stdout)
    assert {entry["exercise"] for entry in data} == exercises().keys()
    status = {entry["exercise"]: entry["status"] for entry in data}
    assert status["with_numpy.functional.softmax"] == "passed"
    assert set(status.values()) == {"passed", "todo"}
    suite = started("report", "--junit", timeout=300).stdout
    suite = ElementTree.fromstring(suite.partition("?>")[2])
    assert int(suite.get("skipped")) == len(exercises()) - 1


def test_doctor_says_what_is_there(started, work):
    said = started("doctor").stdout
    assert re.search(r"^numpy \d", said, re.MULTILINE)
    assert f"{work.root} is there" in said


def test_console_of_few_characters_gets_plain_text(started, write):
    write(RIGHT.replace("return weights", "print('é ✓ 中'); return weights"))
    said = started("check", "softmax", PYTHONIOENCODING="cp1252")
    assert said.returncode == 0, said.stderr
    assert "softmax is right" in said.stdout


def test_read_only_folder_still_checks(started, write, work):
    if os.getuid() == 0:
        pytest.skip("root may write everywhere")
    write(RIGHT)
    work.root.chmod(0o555)
    try:
        said = started("check", "softmax")
        assert "softmax is right" in said.stdout
    finally:
        work.root.chmod(0o755)


def test_names_are_completed():
    from encoderlab.lab.advice import names

    assert "softmax" in names("soft")
    assert names("zzz") == []
