"""Checks of chapter 06: a word cut into pieces."""

import string

from encoderlab.lab.case import Property, ask

VOCAB = {"un", "uns", "##een", "##seen", "##s", "##e", "a", "##a", "##sky", "cat"}
WORDS = {
    "unseen": "unseen, with un, uns, ##een and ##seen",
    "uns": "a word that is one piece",
    "unsseen": "three ways to go on",
    "aa": "the same letter first and then inside",
    "een": "a word that starts with no piece, though ##een is one",
    "unx": "a word whose end is no piece",
    "xcat": "a word whose start is no piece",
    "ucat": "a word with a whole piece inside",
    "unsky": "a word whose longest start leaves no piece for the rest",
    "unseene": "a word where the longest piece leaves one letter",
    "Cat": "a capital, which the vocabulary does not have",
}


def match_pieces(solution, rng):
    for word, says in WORDS.items():
        yield ask(solution, word, VOCAB, says=says)
    letters = string.ascii_lowercase[:3]
    vocab = {mark + letter for mark in ("", "##") for letter in letters}
    vocab |= {"".join(rng.choice([*letters], 2)) for _ in range(4)}
    vocab |= {"##" + "".join(rng.choice([*letters], 3)) for _ in range(9)}
    word = "".join(rng.choice([*letters], 20))
    yield ask(solution, word, vocab, says="20 random letters a, b and c")
    yield ask(solution, "a" * 100, VOCAB, says="a word of 100 characters")
    yield ask(solution, "a" * 101, VOCAB, says="a word of 101 characters")
    ids = {piece: i for i, piece in enumerate(sorted(VOCAB))}
    yield ask(solution, "unseen", ids, says="a vocabulary that is a dictionary")
    kept = set(VOCAB)
    yield Property(
        "the vocabulary stays as it is",
        lambda: solution("unseen", kept) is not None and kept == VOCAB,
    )
