"""Every notebook of the book keeps the rules of notebook_lint, and the rules bite."""

import copy
import json
import re
from pathlib import Path

import pytest

from .notebook_lint import ROOT, lint, long_cells

NOTEBOOKS = sorted(
    path
    for path in (ROOT / "book").rglob("*.ipynb")
    if not any(part.startswith((".", "_")) for part in path.relative_to(ROOT).parts)
)
ALT = "Bars for two tokens, the second twice as high as the first"


def code_cell(text, *outputs, count=None, **metadata):
    return {
        "cell_type": "code",
        "id": "a",
        "metadata": metadata,
        "source": text,
        "execution_count": count,
        "outputs": list(outputs),
    }


def printed(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def drawn(svg="<svg/>"):
    data = {"image/svg+xml": svg, "text/plain": "<Figure size 600x320 with 1 Axes>"}
    return {"output_type": "display_data", "data": data, "metadata": {}}


def described(alt=ALT, caption="Two tokens."):
    return {"image": {"alt": alt}, "figure": {"caption": caption}}


@pytest.fixture
def notebook():
    """A notebook without a defect: some text, a printed number, a figure."""
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {
                "cell_type": "markdown",
                "id": "m",
                "metadata": {},
                "source": "![A drawn encoder](encoder.svg)",
            },
            code_cell("print(1 + 1)", printed("2\n"), count=1),
            code_cell("bar(x); print(2)", printed("2\n"), drawn(), count=2),
        ],
    }


@pytest.fixture
def found(notebook, tmp_path):
    """Lint the notebook with other cells after, or other metadata in, its figure's."""
    notebook["cells"][2]["metadata"] = {"mystnb": described()}

    def lint_with(*cells, folder="part1-numpy", figure=None):
        changed = copy.deepcopy(notebook)
        changed["cells"] += cells
        changed["cells"][2]["metadata"] |= figure or {}
        path = tmp_path / folder / "chapter.ipynb"
        path.parent.mkdir()
        path.write_text(json.dumps(changed), encoding="utf-8")
        return lint(path)

    return lint_with


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_keeps_the_rules(path):
    assert lint(path) == []


def test_lint_finds_nothing_in_a_clean_notebook(found):
    assert found() == []


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (code_cell("1"), "execution counts are [1, 2, None], not 1 to 3"),
        (code_cell("1", count=5), "execution counts are [1, 2, 5], not 1 to 3"),
        (
            code_cell("1", {"output_type": "error", "ename": "KeyError"}, count=3),
            "cell 3 stores an error, KeyError",
        ),
        (
            code_cell("1", printed("careful", "stderr"), count=3),
            "cell 3 stores stderr: 'careful'",
        ),
        (
            code_cell("1\n" * 26, count=3),
            "cell 3 has 26 lines, 25 are allowed",
        ),
        (code_cell("a" * 89, count=3), "cell 3 has a line of 89 characters"),
        (
            code_cell("print(1); draw();\n", count=3),
            "cell 3 ends in `;`: end it with a print or an assert",
        ),
        (
            code_cell("bar()", drawn(), count=3, mystnb=described()),
            "cell 3 draws and neither prints nor asserts a number",
        ),
        (
            code_cell("assert 1", drawn("x" * 150_001), count=3, mystnb=described()),
            "cell 3 stores an SVG of 150 kB",
        ),
        (
            code_cell("1", count=3, tags=["nbval-ignore-output"]),
            "cell 3 is tagged nbval-ignore-output and asserts nothing",
        ),
        (
            code_cell("assert 1", count=3, tags=["gpu"]),
            "cell 3 is tagged gpu and not nbval-ignore-output",
        ),
        (
            code_cell("assert 1", count=3, tags=["nbval-skip"]),
            "cell 3 is tagged nbval-skip: nothing would notice it failing",
        ),
        (
            code_cell("def heat_map(x):\n    return x", count=3),
            "cell 3 defines heat_map again: import it",
        ),
        (
            code_cell("class EncoderConfig:\n    pass", count=3),
            "cell 3 defines EncoderConfig again: import it",
        ),
        (code_cell("import torch", count=3), "cell 3 imports torch"),
        (
            code_cell("from transformers.models import bert", count=3),
            "cell 3 imports transformers.models",
        ),
        (
            {"cell_type": "markdown", "metadata": {}, "source": "![](a.svg)"},
            "image a.svg has no real alt text, ''",
        ),
        (
            {"cell_type": "markdown", "metadata": {}, "source": '<img src="a.svg">'},
            '<img src="a.svg"> has no real alt text',
        ),
        (
            code_cell("1", printed("x" * 1_000_000), count=3),
            "the file has 1.0 MB",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_lint_finds_a_planted_defect(found, cell, message):
    assert message in found(cell)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        (described(alt=""), "cell 2 draws without a real mystnb.image.alt, ''"),
        (
            described(alt="the file _images/12ab.svg here"),
            "cell 2 draws without a real mystnb.image.alt, "
            "'the file _images/12ab.svg here'",
        ),
        (described(caption=" "), "cell 2 draws without a mystnb.figure.caption"),
    ],
)
def test_lint_finds_a_figure_without_words(found, about, message):
    assert found(figure={"mystnb": about}) == [message]


@pytest.mark.parametrize(
    "cell",
    [
        code_cell("def heat_map(x):\n    return x", count=3, tags=["exercise"]),
        code_cell("assert 1", count=3, tags=["nbval-ignore-output"]),
        code_cell("np.testing.assert_allclose(1, 1)", drawn(), count=3),
        code_cell("1", count=3, tags=["gpu", "nbval-ignore-output"]),
        code_cell("%matplotlib inline\nimport numpy as np", count=3),
    ],
    ids=["exercise", "asserted", "asserted figure", "gpu", "magic"],
)
def test_lint_lets_what_is_allowed_pass(found, cell):
    cell = copy.deepcopy(cell)
    cell["metadata"]["mystnb"] = described()
    assert found(cell) == []


def test_lint_lets_torch_pass_from_part_two_on(found):
    assert found(code_cell("import torch", count=3), folder="part2-pytorch") == []


def test_long_cells_reports_what_is_allowed_but_unusual(notebook, tmp_path):
    path = Path(tmp_path, "chapter.ipynb")
    notebook["cells"].append(code_cell("1\n" * 13, count=3))
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert list(long_cells(path)) == ["cell 3 has 13 lines"]


def test_teaching_page_adds_up_the_minutes_of_the_exercises():
    page = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| \{doc\}`([^`]+)` \| \d+ \| (\d+) \|", page)
    assert rows
    for name, minutes in rows:
        text = (ROOT / "book" / f"{name}.ipynb").read_text(encoding="utf-8")
        stated = re.findall(
            r":::\{exercise\}[^\\\n]*difficulty \d of 3, (\d+) minut", text
        )
        assert len(stated) == text.count(":::{exercise}")
        assert sum(map(int, stated)) == int(minutes)
