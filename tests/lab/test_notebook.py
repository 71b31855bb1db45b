"""``check`` in a notebook: on live objects, under a watchdog."""

import dataclasses
import time
from contextlib import suppress

import numpy as np
import pytest

from encoderlab.lab import Report, check, notebook
from encoderlab.lab.workspace import Workspace

from .conftest import RIGHT, WRONG


def define(source):
    """A function as it lives in a notebook: without a file."""
    space = {}
    exec(source, space)
    return space["softmax"]


@pytest.fixture
def short(monkeypatch, softmax):
    quick = dataclasses.replace(softmax, limit=0.5)
    monkeypatch.setattr(notebook, "find", lambda name: quick)


def test_check_passes_a_live_function():
    report = check("softmax", define(RIGHT))
    assert isinstance(report, Report)
    assert report.passed
    assert repr(report) == "softmax is right"


def test_check_takes_any_callable(softmax):
    assert check("softmax", lambda x, axis=-1: softmax.reference()(x, axis)).passed
    assert check(softmax.id, softmax.reference()).passed


def test_check_shows_what_is_wrong_as_text_and_html():
    report = check("softmax", define(WRONG))
    assert repr(report).startswith("softmax is not right yet\n  It looks as if you")
    shown = report._repr_html_()
    assert shown.startswith('<div class="report report-failed"><strong>✗ softmax is')
    assert "<script" not in shown


def test_check_says_the_same_every_time():
    assert repr(check("softmax", define(WRONG))) == repr(
        check("softmax", define(WRONG))
    )


def test_html_of_a_report_is_escaped():
    def softmax(x, axis=-1):
        raise ValueError("<script>alert(1)</script>")

    assert "<script" not in check("softmax", softmax)._repr_html_()


def test_stub_is_still_to_do():
    def softmax(x, axis=-1):
        raise NotImplementedError

    report = check("softmax", softmax)
    assert report.status == "todo"
    assert repr(report) == "softmax is still to do"


def test_endless_loop_is_stopped_and_the_next_check_works(short):
    def softmax(x, axis=-1):
        while True:
            with suppress(Exception):
                time.sleep(0.01)

    start = time.monotonic()
    assert check("softmax", softmax).status == "timeout"
    assert time.monotonic() - start < 5
    assert check("softmax", define(RIGHT)).passed


def test_exit_does_not_end_the_notebook():
    def softmax(x, axis=-1):
        raise SystemExit(2)

    report = check("softmax", softmax)
    assert report.status == "error"
    assert "exit code 2" in report.message


@pytest.mark.parametrize("thing", [None, 3, np.ones(3), "softmax"])
def test_what_is_no_function_is_said_to_be(thing):
    report = check("softmax", thing)
    assert report.status == "error"
    assert "must be a function or a class" in report.message


def test_interrupt_reaches_the_reader():
    def softmax(x, axis=-1):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check("softmax", softmax)


def test_pass_is_stored_where_nothing_was_written(work, softmax, tmp_path):
    path = tmp_path / "cell.py"
    path.write_text(RIGHT)
    space = {}
    exec(compile(RIGHT, str(path), "exec"), space)
    assert check("softmax", space["softmax"]).passed
    assert "return weights / weights.sum" in work.file(softmax).read_text()
    assert work.passed(softmax)


def test_pass_is_not_stored_over_something_written(work, write, softmax, tmp_path):
    write("mine = 1\n")
    path = tmp_path / "cell.py"
    path.write_text(RIGHT)
    space = {}
    exec(compile(RIGHT, str(path), "exec"), space)
    assert check("softmax", space["softmax"]).passed
    assert work.file(softmax).read_text() == "mine = 1\n"


def test_pass_without_a_source_or_a_folder_is_still_a_pass(work, monkeypatch, tmp_path):
    assert check("softmax", define(RIGHT)).passed
    monkeypatch.setenv("ENCODERLAB_WORK", str(tmp_path / "none"))
    assert check("softmax", define(RIGHT)).passed
    assert not Workspace().exists()


def test_pass_that_needs_the_notebook_is_not_stored(work, softmax, tmp_path):
    source = (
        "def softmax(x, axis=-1):\n"
        "    weights = helper(x, axis)\n"
        "    return weights / weights.sum(axis=axis, keepdims=True)\n"
    )
    path = tmp_path / "cell.py"
    path.write_text(source)
    space = {"helper": lambda x, axis: np.exp(x - np.max(x, axis, keepdims=True))}
    exec(compile(source, str(path), "exec"), space)
    report = check("softmax", space["softmax"])
    assert report.passed
    assert "not stored" in report.message
    assert "'helper' is not defined" in report.message
    assert not work.passed(softmax)
