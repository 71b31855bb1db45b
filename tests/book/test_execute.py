"""`make notebooks` runs every cell, stores what does not change, and spoils no file."""

import json
import os
import subprocess
import sys

import pytest

from .notebook_lint import ROOT, figures

DRAW = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"


@pytest.fixture
def write(tmp_path):
    """Write a notebook as an older Jupyter leaves it, one code cell for each source."""

    def write(*sources):
        cells = [
            {
                "cell_type": "code",
                "metadata": {
                    "execution": {"iopub.execute_input": "2026-01-01T00:00:00Z"},
                    "tags": ["kept"],
                },
                "source": source.splitlines(keepends=True),
                "execution_count": None,
                "outputs": [],
            }
            for source in sources
        ]
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 4,
            "metadata": {
                "kernelspec": {"name": "elsewhere", "display_name": "Elsewhere"},
                "language_info": {"name": "python", "version": "3.1.4"},
                "widgets": {"state": {}},
            },
            "cells": cells,
        }
        path = tmp_path / "chapter.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    return write


def execute(path):
    return subprocess.run(
        [sys.executable, ROOT / "book" / "_tools" / "execute.py", path],
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )


def test_execute_stores_what_a_second_run_reproduces(write):
    path = write("import sys\nprint(sys.executable)\nprint(2)", DRAW)
    first = execute(path)
    assert first.returncode == 0, first.stderr
    assert "[1] import sys" in first.stdout
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    run, draw = notebook["cells"]
    assert "".join(run["outputs"][0]["text"]) == f"{sys.executable}\n2\n"
    assert len(figures(draw)) == 1
    assert [run["execution_count"], draw["execution_count"]] == [1, 2]
    assert run["metadata"] == {"tags": ["kept"]}
    assert run["id"] != draw["id"]
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert sorted(notebook["metadata"]) == ["kernelspec", "language_info"]

    second = execute(path)
    assert second.returncode == 0, second.stderr
    assert "no change" in second.stdout
    assert path.read_text(encoding="utf-8") == text


def test_execute_stops_at_an_error_and_leaves_the_file_alone(write):
    path = write("print(1)", "print(1 / 0)", "print(3)")
    before = path.read_bytes()
    result = execute(path)
    assert result.returncode == 1
    assert f"{path}: code cell 2 failed, file unchanged" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("content", ["", "[]", '{"cells": []'])
def test_execute_names_a_file_that_is_no_notebook(tmp_path, content):
    path = tmp_path / "broken.ipynb"
    path.write_text(content, encoding="utf-8")
    result = execute(path)
    assert result.returncode == 1
    assert f"{path}: not a notebook" in result.stderr
    assert "Traceback" not in result.stderr
    assert path.read_text(encoding="utf-8") == content


def test_execute_names_a_path_that_is_no_file(tmp_path):
    for path in (tmp_path / "missing.ipynb", tmp_path):
        result = execute(path)
        assert result.returncode == 1
        assert f"{path}: no notebook that can be read and written" in result.stderr


def test_execute_keeps_the_file_a_link_leads_to_and_its_mode(write, tmp_path):
    path = write("print(2)")
    path.chmod(0o664)
    link = tmp_path / "link.ipynb"
    link.symlink_to(path)
    assert execute(link).returncode == 0
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o664
    assert json.loads(path.read_text(encoding="utf-8"))["cells"][0]["outputs"]
