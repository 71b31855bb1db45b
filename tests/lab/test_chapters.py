"""A cell asks no more than its chapter explains: an answer to that is right there.

And a chapter says of an exercise what the catalogue says.
"""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

from encoderlab.lab.exercises import find
from encoderlab.lab.judge import judge
from encoderlab.lab.report import as_text
from encoderlab.with_numpy import attention as ours
from encoderlab.with_numpy import functional


def attention(q, k, v):
    weights = functional.softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


class MultiHeadAttention:
    def __init__(self, d_model, num_heads, *, rng):
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        for role in "qkvo":
            setattr(self, f"W_{role}", 0.1 * rng.standard_normal((d_model, d_model)))
            setattr(self, f"b_{role}", np.zeros(d_model))

    def __call__(self, x, mask=None):
        q = ours.split_heads(x @ self.W_q + self.b_q, self.num_heads)
        k = ours.split_heads(x @ self.W_k + self.b_k, self.num_heads)
        v = ours.split_heads(x @ self.W_v + self.b_v, self.num_heads)
        context, weights = ours.attention(q, k, v, mask)
        return ours.merge_heads(context) @ self.W_o + self.b_o, weights


class FeedForward:
    def __init__(self, d_model, d_ff, *, activation="gelu", rng):
        self.f = getattr(functional, activation)
        self.W_1 = 0.1 * rng.standard_normal((d_model, d_ff))
        self.b_1 = np.zeros(d_ff)
        self.W_2 = 0.1 * rng.standard_normal((d_ff, d_model))
        self.b_2 = np.zeros(d_model)

    def __call__(self, x):
        return self.f(x @ self.W_1 + self.b_1) @ self.W_2 + self.b_2


PARTS = pytest.mark.parametrize(
    ("solution", "chapter"), [(attention, 3), (MultiHeadAttention, 5), (FeedForward, 8)]
)


@PARTS
def test_answer_is_right_as_far_as_its_chapter_goes(solution, chapter):
    report = judge(solution.__name__, solution, chapter=chapter)
    assert as_text(report, "it") == f"it is right, as far as chapter {chapter:02} goes"


@PARTS
def test_answer_of_a_chapter_is_not_the_whole_exercise(solution, chapter):
    assert judge(solution.__name__, solution).status == "failed"


def test_chapter_asks_for_the_error_that_it_names():
    class Unchecked(MultiHeadAttention):
        def __init__(self, d_model, num_heads, *, rng):
            super().__init__(d_model, 1, rng=rng)
            self.num_heads = num_heads

    report = judge("MultiHeadAttention", Unchecked, chapter=5)
    assert [failure.says for failure in report.failures] == ["width 10 in 3 heads"]


BOOK = Path(__file__).parents[2] / "book"
TITLE = re.compile(
    r"^:::+\{exercise\} .*\(difficulty (\d) of 3, (\d+) minutes\)$", re.MULTILINE
)
CHECK = re.compile(r"\bcheck\(\"([\w.]+)\", (\w+)\)")  # the whole exercise


def asked_alone(notebook):
    """The exercises of a page that ask for one thing each: what, how hard, minutes.

    Titles and the stubs that follow belong together one by one if they are as many; the
    check of what a stub defines says which exercise it is.
    """
    runs, ids = [([], [])], {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        titles = TITLE.findall(source) if cell["cell_type"] == "markdown" else []
        if titles and runs[-1][1]:
            runs.append(([], []))
        runs[-1][0].extend(titles)
        if "exercise" in cell["metadata"].get("tags", ()):
            named = (getattr(part, "name", "") for part in ast.parse(source).body)
            runs[-1][1].extend(filter(None, named))
        ids |= {own: asked for asked, own in CHECK.findall(source)}
    for titles, stubs in runs:
        if len(titles) == len(stubs):
            for (difficulty, minutes), stub in zip(titles, stubs, strict=True):
                if stub in ids:
                    yield ids[stub], int(difficulty), int(minutes)


ASKED = {
    (path.stem, *asked)
    for path in BOOK.glob("part*/*.ipynb")
    for asked in asked_alone(path)
}


@pytest.mark.parametrize(("chapter", "name", "difficulty", "minutes"), sorted(ASKED))
def test_chapter_and_catalogue_agree_how_hard_an_exercise_is(
    chapter, name, difficulty, minutes
):
    exercise = find(name)
    assert chapter.startswith(f"{exercise.chapter:02}-")
    assert (exercise.difficulty, exercise.minutes) == (difficulty, minutes)


def test_most_chapters_have_such_an_exercise():
    assert len({chapter for chapter, *_ in ASKED}) > 10
