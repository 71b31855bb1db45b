"""Searching the book by meaning, with the learner's encoder where it has passed."""

import numpy as np
import pytest

from encoderlab.lab import mine, search
from encoderlab.lab.exercises import find
from encoderlab.lab.search import Passage, passages


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.setattr(mine, "_parts", {})
    monkeypatch.setattr(mine, "used", {})


@pytest.fixture
def small_book(tmp_path):
    """A book of two pages, so that its index is quickly made."""
    book = tmp_path / "book"
    (book / "part").mkdir(parents=True)
    (book / "_ext").mkdir()
    (book / "_ext" / "no.md").write_text("# Hidden\n\n" + "word " * 20)
    (book / "page.md").write_text(
        "---\ntitle: x\n---\n\n# Scaling\n\nThe scores are divided by the root of the "
        "width, so that their spread does not grow.\n\n```python\nnot prose at all, "
        "but code of many words that nobody asks for\n```\n\n## Cats\n\nA cat sleeps "
        "on a warm windowsill for most of {doc}`the day <cats>` in winter.\n\nShort.\n"
    )
    return book


def test_passages_are_paragraphs_under_their_headings(small_book):
    assert passages(small_book) == [
        Passage(
            "page.md",
            "Scaling",
            "The scores are divided by the root of the width, so that their spread "
            "does not grow.",
        ),
        Passage(
            "page.md",
            "Cats",
            "A cat sleeps on a warm windowsill for most of the day in winter.",
        ),
    ]


def test_passages_of_the_book_have_no_markup(book):
    found = passages(book)
    assert len(found) > 400
    assert {p.page for p in found} >= {"tour.ipynb", "part1-numpy/03-attention.ipynb"}
    for passage in found:
        assert passage.heading
        assert ":::" not in passage.text
        assert "```" not in passage.text


def test_search_finds_by_meaning_and_keeps_its_index(
    small_book, work, fresh, monkeypatch
):
    question = "why divide by the square root of the dimension?"
    hits = search.search(question, small_book, work)
    assert [hit.passage.heading for hit in hits] == ["Scaling", "Cats"]
    assert hits[0].similarity > hits[1].similarity + 0.1
    assert mine.used == {"TextEncoder": False}
    kept = (work.root / ".index.npz").stat().st_mtime_ns
    assert search.search(question, small_book, work) == hits
    assert (work.root / ".index.npz").stat().st_mtime_ns == kept


@pytest.mark.parametrize("content", [b"", b"broken"])
def test_broken_index_is_made_anew(small_book, work, fresh, content):
    (work.root / ".index.npz").write_bytes(content)
    assert search.search("a pet", small_book, work)[0].passage.heading == "Cats"
    with np.load(work.root / ".index.npz") as kept:
        assert kept["vectors"].shape == (2, 384)


def test_search_works_without_a_folder(small_book, tmp_path, fresh, monkeypatch):
    from encoderlab.lab.workspace import Workspace

    monkeypatch.setenv("ENCODERLAB_WORK", str(tmp_path / "none"))
    hits = search.search("a pet", small_book, Workspace(), most=1)
    assert [hit.passage.heading for hit in hits] == ["Cats"]
    assert not (tmp_path / "none").exists()


def test_learners_encoder_runs_the_real_model(small_book, work, fresh):
    exercise = find("TextEncoder")
    source = (
        "from encoderlab.with_numpy.encoder import TextEncoder as Reference\n\n\n"
        "class TextEncoder(Reference):\n    own = True\n"
    )
    work.file(exercise).write_text(source)
    work.note(exercise, passed=True)
    hits = search.search("a pet", small_book, work)
    assert hits[0].passage.heading == "Cats"
    assert mine.used["TextEncoder"] is True
    assert mine.TextEncoder.own
