"""What goes wrong in chapter 06 with the pieces of a word."""

from functools import partial

from encoderlab.lab.mistakes import mistake

UNKNOWN = ["[UNK]"]
pieces = partial(mistake, "match_pieces")


def cut(word, vocab, *, first="", mark="##", ends=None, give_up=None, most=100):
    """Cut greedily, with one rule changed."""
    found, start = [], 0
    while start < len(word) <= most:
        for end in ends(start) if ends else range(len(word), start, -1):
            if (piece := (mark if start else first) + word[start:end]) in vocab:
                found.append(piece)
                start = end
                break
        else:
            return give_up(found) if give_up else UNKNOWN
    return found or UNKNOWN


@pieces(
    "shortest_first",
    "you take the shortest piece that fits; the longest is wanted",
    "let the end run down from len(word)",
)
def shortest_piece_first(word, vocab):
    return cut(word, vocab, ends=lambda start: range(start + 1, len(word) + 1))


@pieces(
    "no_marks",
    "you look for the later pieces without their ##",
    'put "##" before what does not start the word, then look it up',
)
def pieces_without_marks(word, vocab):
    return cut(word, vocab, mark="")


@pieces(
    "marks_dropped",
    "you look the later pieces up with ##, and return them without",
    "append the piece as it stands in the vocabulary",
)
def marks_dropped(word, vocab):
    return [piece.removeprefix("##") for piece in cut(word, vocab)]


@pieces(
    "mark_on_the_first",
    "you put ## before the first piece as well",
    "the first piece, at start 0, has no mark",
)
def mark_on_the_first(word, vocab):
    return cut(word, vocab, first="##")


@pieces(
    "keeps_what_was_found",
    "you return the pieces found so far and then [UNK]; the whole word is unknown",
    'return ["[UNK]"] alone',
)
def keeps_what_was_found(word, vocab):
    return cut(word, vocab, give_up=lambda found: found + UNKNOWN)


@pieces(
    "drops_the_rest",
    "you return the pieces found so far where the rest matches none",
    'return ["[UNK]"] alone as soon as one part matches nothing',
)
def drops_the_rest(word, vocab):
    return cut(word, vocab, give_up=lambda found: found)


@pieces(
    "unknown_letter",
    "you step over a letter that matches nothing and put [UNK] in its place",
    "one part without a match makes the whole word one [UNK]",
)
def one_unknown_for_each_letter(word, vocab):
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((e for e in ends if mark + word[start:e] in vocab), None)
        found.append("[UNK]" if end is None else mark + word[start:end])
        start = end or start + 1
    return found if len(word) <= 100 else UNKNOWN


@pieces(
    "goes_back",
    "you try a shorter piece where the longest leaves no match; greedy never goes back",
    "once a piece is taken it stays",
)
def goes_back(word, vocab, mark=""):
    if len(word) > 100:
        return UNKNOWN
    for end in range(len(word), 0, -1):
        if mark + word[:end] in vocab:
            rest = goes_back(word[end:], vocab, "##") if end < len(word) else []
            if rest != UNKNOWN:
                return [mark + word[:end], *rest]
    return UNKNOWN


@pieces(
    "no_limit",
    "you cut words of more than 100 characters; they are unknown",
    "look at the length first",
)
def no_limit(word, vocab):
    return cut(word, vocab, most=len(word))


@pieces(
    "limit_off_by_one",
    "you refuse a word of 100 characters; only more than 100 are too many",
    "write > for >=",
)
def limit_off_by_one(word, vocab):
    return cut(word, vocab, most=99)


@pieces(
    "whole_words",
    "you look up the whole word alone",
    "where the whole word is not in the vocabulary, try shorter starts of it",
)
def whole_words_only(word, vocab):
    return [word] if word in vocab else UNKNOWN


@pieces(
    "small_letters",
    "you change the word's capitals; the word comes normalised",
    "leave the word as it is",
)
def changes_capitals(word, vocab):
    return cut(word.lower(), vocab)
