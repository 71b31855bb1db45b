"""Search the book by meaning, with the encoder that the learner wrote.

The book's text is cut at its headings; every piece becomes a vector once, kept in the
learner's folder until the text or the encoder changes.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from encoderlab import pretrained
from encoderlab.lab import mine
from encoderlab.lab.workspace import Workspace
from encoderlab.sentences import SentenceEncoder
from encoderlab.with_numpy.parameters import load

FENCED = re.compile(r"^(```|:::+|\$\$).*?^(```|:::+|\$\$)[^\n]*$", re.M | re.S)


class Passage(NamedTuple):
    """A piece of the book.

    Attributes
    ----------
    page
        Its file, below ``book/``.
    heading
        The heading that it stands under.
    text
        Its words.
    """

    page: str
    heading: str
    text: str


class Hit(NamedTuple):
    """A passage that was found, and the cosine of its vector with the question's."""

    similarity: float
    passage: Passage


def passages(book: Path) -> list[Passage]:
    """Cut the book's prose into pieces.

    Parameters
    ----------
    book
        The folder of its pages and notebooks.

    Returns
    -------
    list of Passage
        Paragraphs of at least eight words, each with the heading above it.
    """
    return [
        Passage(path.relative_to(book).as_posix(), heading, text)
        for path in sorted([*book.rglob("*.md"), *book.rglob("*.ipynb")])
        if not any(p.startswith(("_", ".")) for p in path.relative_to(book).parts)
        for heading, text in _paragraphs(_prose(path))
    ]


def search(question: str, book: Path, workspace: Workspace, most: int = 5) -> list[Hit]:
    """Find the passages nearest in meaning to a question.

    Parameters
    ----------
    question
        Some words.
    book
        The folder of the book.
    workspace
        The learner's folder, where the index is kept; if it is not there, the index is
        made anew.
    most
        How many to find.

    Returns
    -------
    list of Hit
        The nearest first.
    """
    encode, kind = sentence_encoder()
    pieces = passages(book)
    vectors = _index(pieces, encode, kind, workspace)
    similarities = vectors @ encode([question])[0]
    hits: dict[tuple[str, str], Hit] = {}  # the best passage under each heading
    for i in np.argsort(-similarities):
        hit = Hit(float(similarities[i]), pieces[i])
        hits.setdefault((hit.passage.page, hit.passage.heading), hit)
    return list(hits.values())[:most]


def sentence_encoder():
    """MiniLM's weights in the learner's encoder, where it has passed, else the book's.

    Returns
    -------
    encode : Callable
        From texts to unit vectors.
    kind : str
        A key that changes when the encoder's source does.
    """
    checkpoint = pretrained.load("minilm-l6")
    encoder = mine.TextEncoder(checkpoint.config, rng=np.random.default_rng(0))
    load(encoder, checkpoint.weights)
    workspace, kind = Workspace(), "the book's"
    if mine.used["TextEncoder"]:
        files = sorted(workspace.root.glob("numpy/*.py"))
        content = b"".join(path.read_bytes() for path in files)
        kind = hashlib.sha256(content).hexdigest()
    return SentenceEncoder(encoder, checkpoint.tokenizer).encode, kind


def _index(pieces, encode, kind, workspace):
    texts = [f"{piece.heading}. {piece.text}" for piece in pieces]
    key = hashlib.sha256(json.dumps([kind, texts]).encode()).hexdigest()
    path = workspace.root / ".index.npz"
    try:
        with np.load(path) as kept:
            if str(kept["key"]) == key:
                return kept["vectors"]
    except (OSError, ValueError, KeyError, EOFError):
        pass
    vectors = encode(texts)
    if workspace.exists():
        half = path.with_name(".index.half.npz")
        np.savez(half, key=key, vectors=vectors)
        half.replace(path)
    return vectors


def _prose(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    cells = json.loads(text)["cells"]
    return "\n\n".join(
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    )


def _paragraphs(text: str) -> Iterator[tuple[str, str]]:
    heading = ""
    text = FENCED.sub("", text)
    for block in re.split(r"\n\s*\n", text):
        block = block.strip()
        if block.startswith("#"):
            heading = block.lstrip("# ").split("\n")[0]
        elif len(block.split()) >= 8 and block[0] not in "|:`<(":
            plain = re.sub(r"\{[a-z:]+\}`([^`<]*?)(?: <[^>]*>)?`", r"\1", block)
            plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
            yield heading, " ".join(plain.replace("**", "").split())
