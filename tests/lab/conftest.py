"""A learner's folder, and the command run in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from encoderlab.lab.exercises import find
from encoderlab.lab.workspace import Workspace

RIGHT = """\
import numpy as np


def softmax(x, axis=-1):
    x = x if x.dtype.kind == "f" else x.astype(float)
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)
"""
WRONG = RIGHT.replace("x - x.max(axis=axis, keepdims=True)", "x")


def pytest_addoption(parser):
    parser.addoption(
        "--solutions",
        metavar="DIR",
        help="a learner's folder whose files are checked; default: the references",
    )


@pytest.fixture(autouse=True)
def _as_a_learner_has_it(without_shape_checks):
    """Wrong input is part of the checks: nothing may refuse it before the code does."""


@pytest.fixture
def softmax():
    return find("softmax")


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder to work in, with its stubs; the commands find it."""
    monkeypatch.setenv("ENCODERLAB_WORK", str(tmp_path / "work"))
    workspace = Workspace()
    workspace.start()
    return workspace


@pytest.fixture
def write(work, softmax):
    """Write a solution of softmax."""

    def write(source):
        path = work.file(softmax)
        content = source.encode() if isinstance(source, str) else source
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def command(tmp_path):
    """Run the command line in a process of its own, without a terminal."""

    def command(*arguments, timeout=60, **environment):
        program = "from encoderlab.lab.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            timeout=timeout,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
            encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        )

    return command


@pytest.fixture(scope="session")
def book():
    return Path(__file__).parents[2] / "book"
