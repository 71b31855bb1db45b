"""nbval, as the project runs it, notices when a notebook's stored numbers are wrong."""

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from .notebook_lint import ROOT, lint


def cell(source, *printed, count):
    outputs = [new_output("stream", name="stdout", text=text) for text in printed]
    return new_code_cell(source, execution_count=count, outputs=outputs)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    cells = [
        cell("print(1 + 1)", "2\n", count=1),
        cell("print('0.25 s')", "0.31 s\n", count=2),
        cell("print(1 + 1)", "3\n", count=3),
        cell("print(1 / 0)", "1\n", count=4),
        cell("print(1 + 1)", count=None),
    ]
    path = tmp_path_factory.mktemp("nbval") / "chapter.ipynb"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


@pytest.fixture(scope="module")
def report(path):
    """What nbval says of each cell, by its number from 0."""
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env", "-v"]
    sanitize = f"--nbval-sanitize-with={ROOT / 'tests' / 'nbval-sanitize.cfg'}"
    result = subprocess.run(
        [*command, sanitize, f"--rootdir={path.parent}", str(path)],
        cwd=path.parent,
        capture_output=True,
        text=True,
    )
    lines = [line for line in result.stdout.splitlines() if "::Cell" in line]
    assert result.returncode == 1, result.stdout + result.stderr
    return dict(line.split("::Cell ")[1].split()[:2] for line in reversed(lines))


def test_nbval_passes_what_is_reproduced(report):
    assert report["0"] == "PASSED"


def test_nbval_does_not_compare_measured_times(report):
    assert report["1"] == "PASSED"


def test_nbval_catches_a_wrong_stored_number(report):
    assert report["2"] == "FAILED"


def test_nbval_catches_a_failing_cell(report):
    assert report["3"] == "FAILED"


def test_nbval_overlooks_a_cell_that_never_ran_and_the_lint_does_not(report, path):
    assert report["4"] == "PASSED"
    assert "execution counts are [1, 2, 3, 4, None], not 1 to 5" in lint(path)
