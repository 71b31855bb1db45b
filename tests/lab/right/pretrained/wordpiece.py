"""A word cut in other ways: from the end, by recursion, by a shrinking string."""


def match_pieces__with_two_ends(word, vocab):
    if len(word) > 100:
        return ["[UNK]"]
    start, end, pieces = 0, len(word), []
    while start < len(word):
        piece = word[start:end] if start == 0 else "##" + word[start:end]
        if end == start:
            return ["[UNK]"]
        if piece in vocab:
            pieces.append(piece)
            start, end = end, len(word)
        else:
            end -= 1
    return pieces


def match_pieces__by_recursion(word, vocab):
    def cut(rest, mark):
        if not rest:
            return []
        for end in reversed(range(1, len(rest) + 1)):
            if mark + rest[:end] in vocab:
                tail = cut(rest[end:], "##")
                return None if tail is None else [mark + rest[:end], *tail]
        return None

    return (len(word) <= 100 and cut(word, "")) or ["[UNK]"]


def match_pieces__by_the_longest_of_all_starts(word, vocab):
    pieces, rest, mark = [], word, ""
    while rest:
        starts = [rest[:n] for n in range(1, len(rest) + 1) if mark + rest[:n] in vocab]
        if len(word) > 100 or not starts:
            return ["[UNK]"]
        pieces.append(mark + max(starts, key=len))
        rest, mark = rest[len(starts[-1]) :], "##"
    return tuple(pieces)
