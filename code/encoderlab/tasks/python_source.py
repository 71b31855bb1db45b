"""Pieces of Python source, and what each of them is: a name, or part of a string?"""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

PYTHON_KINDS = [
    "layout",
    "comment",
    "string",
    "number",
    "keyword",
    "name",
    "operator",
]
"""What a piece may be; a kind's number is its place here."""

PIECE = re.compile(r"[A-Za-z]+|[0-9_]|\n|[^\w\s]")
FILE = Path(__file__).parent / "data" / "python_source.npz"
FEWEST = 5  # a piece seen less often has no id of its own


class PythonSource(NamedTuple):
    """Windows of source code and the kind of each of their pieces.

    Attributes
    ----------
    pieces
        The pieces by id; the first is ``[UNK]``, which stands for all rare ones.
    train_ids, test_ids
        Windows of piece ids.
    train_kinds, test_kinds
        What each piece is: places in ``PYTHON_KINDS``.
    """

    pieces: list[str]
    train_ids: Int[np.ndarray, "N T"]
    train_kinds: Int[np.ndarray, "N T"]
    test_ids: Int[np.ndarray, "M T"]
    test_kinds: Int[np.ndarray, "M T"]


def load_python_source(seq_len: int = 64) -> PythonSource:
    """Load source code of the standard library, cut into pieces and windows.

    A piece is a run of letters, a digit, a sign or the end of a line; spaces are left
    out. Its kind is often not to be seen in it: ``for`` is a keyword, or a word of a
    comment or of a string, and a window may begin and end in the middle of one. What
    stands on both sides tells.

    Parameters
    ----------
    seq_len
        Pieces of a window, at least 1.

    Returns
    -------
    PythonSource
        About 113,000 pieces of 25 modules to learn from and 18,000 of 6 other modules
        to be tested on, the same ones always. What is left after the last whole window
        is dropped.

    Raises
    ------
    ValueError
        If ``seq_len`` is below 1, or longer than the text.

    Notes
    -----
    CPython 3.11.7, PSF License: ``tasks/data/README.md``. The kinds are those of its
    ``tokenize`` module, with keywords told from names; layout is what it has no token
    for, and the ends of lines. They are stored, since other versions of Python cut a
    few tokens otherwise. Chapter 15.

    Examples
    --------
    >>> source = load_python_source(seq_len=8)
    >>> [source.pieces[i] for i in source.test_ids[69]]
    ['type', ')', ':', '\\n', '#', '[UNK]', 'it', 'as']
    >>> [PYTHON_KINDS[i] for i in source.test_kinds[69]]
    ['name', 'operator', 'operator', 'layout',
     'comment', 'comment', 'comment', 'comment']
    """
    with np.load(FILE) as stored:
        text = stored["characters"].tobytes().decode("ascii")
        kind_of = stored["kinds"].astype(np.int64)
        train_length = stored["lengths"][~stored["held_out"]].sum()
    found = list(PIECE.finditer(text))
    starts = np.array([piece.start() for piece in found])
    words = [piece.group() for piece in found]
    border = int((starts < train_length).sum())
    if not 1 <= seq_len <= len(words) - border:
        raise ValueError(
            f"seq_len must be from 1 to {len(words) - border}, got {seq_len}"
        )
    counts = Counter(words[:border]).most_common()  # of equals the first seen first
    pieces = ["[UNK]", *(word for word, count in counts if count >= FEWEST)]
    number = {piece: i for i, piece in enumerate(pieces)}
    ids = np.array([number.get(word, 0) for word in words])
    kinds = kind_of[starts]

    def windows(values):
        return values[: len(values) // seq_len * seq_len].reshape(-1, seq_len)

    return PythonSource(
        pieces,
        windows(ids[:border]),
        windows(kinds[:border]),
        windows(ids[border:]),
        windows(kinds[border:]),
    )
