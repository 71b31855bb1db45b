"""English prose in sequences of word ids, to hide words in and guess them."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

ENGLISH_SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[MASK]"]
"""The words that are none; a special word's id is its place here."""

WORD = re.compile(r"\w+(?:['.-]\w+)*|[.,;:()?!]")
FILE = Path(__file__).parent / "data" / "english.txt"
FEWEST = 4  # a word seen less often has no id of its own
EVERY = 10  # one document in so many is held out
LONGEST = 4096  # longer than most documents: the rest would be padding
PAD, UNK, CLS, _ = range(len(ENGLISH_SPECIALS))


class English(NamedTuple):
    """Sequences of words.

    Attributes
    ----------
    words
        The words by id, the special ones first, then from the most common to the
        rarest.
    train_ids, test_ids
        Sequences of ids, each with ``[CLS]`` before it and padded with ``[PAD]``.
    """

    words: list[str]
    train_ids: Int[np.ndarray, "N T"]
    test_ids: Int[np.ndarray, "M T"]


def load_english(seq_len: int = 16) -> English:
    """Load the prose of Python's documentation, in small letters, as ids of words.

    Parameters
    ----------
    seq_len
        Ids of a sequence, ``[CLS]`` included; from 2 to 4096.

    Returns
    -------
    English
        Documents one after another, cut into sequences; nine of ten documents to learn
        from, and every tenth to be tested on. Words seen less than four times in the
        former are ``[UNK]``.

    Raises
    ------
    ValueError
        If ``seq_len`` is below 2 or above 4096.

    Notes
    -----
    CPython 3.11.7, PSF License: what is prose in its reference and in the docstrings of
    its library; ``tasks/data/README.md``. Chapter 16.

    Examples
    --------
    >>> english = load_english(seq_len=8)
    >>> [english.words[i] for i in english.test_ids[0]]
    ['[CLS]', 'the', 'operator', 'yields', 'the', 'bitwise', 'and', 'of']
    """
    if not 2 <= seq_len <= LONGEST:
        raise ValueError(f"seq_len must be from 2 to {LONGEST}, got {seq_len}")
    text = FILE.read_text(encoding="utf-8").lower()
    documents = [WORD.findall(document) for document in text.split("\n\n")]
    held_out = documents[EVERY - 1 :: EVERY]
    del documents[EVERY - 1 :: EVERY]
    counts = Counter(word for document in documents for word in document).most_common()
    words = [*ENGLISH_SPECIALS, *(word for word, count in counts if count >= FEWEST)]
    number = {word: i for i, word in enumerate(words)}

    def sequences(documents):
        rows = []
        for document in documents:
            ids = [number.get(word, UNK) for word in document]
            for start in range(0, len(ids), seq_len - 1):
                row = [CLS, *ids[start : start + seq_len - 1]]
                rows.append(row + [PAD] * (seq_len - len(row)))
        return np.array(rows)

    return English(words, sequences(documents), sequences(held_out))
