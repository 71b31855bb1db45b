import numpy as np
import pytest
from numpy.testing import assert_array_equal

from encoderlab.pretrained import WordPiece
from encoderlab.pretrained.wordpiece import (
    SPECIAL_TOKENS,
    match_pieces,
    normalize,
    split_words,
)

PIECES = ["play", "##ing", "##ed", "p", "##l", "##ay", "!", "東", "a"]
PAD, UNK, CLS, SEP, MASK, PLAY, ING, ED = range(8)


@pytest.fixture
def tokenizer():
    return WordPiece([*SPECIAL_TOKENS, *PIECES])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Élan", "elan"),
        ("a\u00a0b\u2003c\td\ne\u2028f", "a b c d e f"),
        ("a\x00b\x07c\ufffdd\u200be\ufefff", "abcdef"),
        ("東京a", " 東  京 a"),
        ("İI", "ii"),
        ("ıẞß", "ıßß"),
        ("ΟΔΟΣ", "οδοσ"),
        ("ﬁ²", "ﬁ²"),
        ("한", "\u1112\u1161\u11ab"),
        ("≠", "="),
        ("", ""),
    ],
)
def test_normalize_gives_the_plain_form(text, expected):
    assert normalize(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("it's 5$.", ["it", "'", "s", "5", "$", "."]),
        ("a—b«c»", ["a", "—", "b", "«", "c", "»"]),
        ("a€b", ["a€b"]),
        ("  \t ", []),
    ],
)
def test_split_words_sets_punctuation_apart(text, expected):
    assert split_words(text) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("playing", ["play", "##ing"]),
        ("plplay", ["[UNK]"]),
        ("played", ["play", "##ed"]),
        ("plaything", ["[UNK]"]),
        ("ing", ["[UNK]"]),
        ("play", ["play"]),
        ("", []),
    ],
)
def test_match_pieces_takes_the_longest_each_time(word, expected):
    assert match_pieces(word, PIECES) == expected


@pytest.mark.parametrize(("length", "known"), [(100, True), (101, False)])
def test_match_pieces_gives_up_on_more_than_100_characters(length, known):
    pieces = match_pieces("a" * length, {"a", "##a"})
    assert pieces == (["a"] + ["##a"] * 99 if known else ["[UNK]"])


def test_tokenize_adds_no_special_tokens(tokenizer):
    assert tokenizer.tokenize("Playing, played!") == [
        *("play", "##ing", "[UNK]", "play", "##ed", "!")
    ]


def test_tokenize_takes_a_special_token_in_the_text_as_that_token(tokenizer):
    found = tokenizer.tokenize("play[MASK][SEP]ed[mask]")
    assert found[:3] == ["play", "[MASK]", "[SEP]"]
    assert found[3:] == ["[UNK]"] * 4


def test_encode_puts_special_tokens_around(tokenizer):
    assert tokenizer.encode("Playing") == [CLS, PLAY, ING, SEP]
    assert tokenizer.encode("") == [CLS, SEP]


def test_batch_pads_to_the_longest(tokenizer):
    token_ids, mask, segment_ids = tokenizer.batch(["playing", "", "play"], 9)
    expected = [[CLS, PLAY, ING, SEP], [CLS, SEP, PAD, PAD], [CLS, PLAY, SEP, PAD]]
    assert_array_equal(token_ids, expected)
    assert_array_equal(mask, [[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    assert_array_equal(segment_ids, np.zeros((3, 4)))
    assert token_ids.dtype == mask.dtype == segment_ids.dtype == np.int64


@pytest.mark.parametrize(
    ("max_length", "expected"),
    [
        (2, [CLS, SEP]),
        (3, [CLS, PLAY, SEP]),
        (4, [CLS, PLAY, ING, SEP]),
        (5, [CLS, PLAY, ING, SEP]),
    ],
)
def test_batch_cuts_to_max_length_and_ends_in_sep(max_length, expected, tokenizer):
    token_ids, mask, _ = tokenizer.batch(("playing",), max_length)
    assert_array_equal(token_ids, [expected])
    assert mask.all()


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_tokens_names_ids(kind, tokenizer):
    assert tokenizer.tokens(kind([CLS, PLAY, ED])) == ["[CLS]", "play", "##ed"]


def test_wordpiece_names_the_ids_of_special_tokens():
    tokenizer = WordPiece(["a", "[MASK]", "[SEP]", "[CLS]", "[UNK]", "[PAD]"])
    assert (tokenizer.pad_id, tokenizer.unk_id) == (5, 4)
    assert (tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id) == (3, 2, 1)
    assert tokenizer.ids["a"] == 0


def test_wordpiece_refuses_a_vocabulary_in_one_string():
    with pytest.raises(TypeError, match="vocab must be a list of tokens, got a single"):
        WordPiece("[PAD] [UNK]")


def test_wordpiece_refuses_a_token_that_comes_twice():
    with pytest.raises(ValueError, match="vocab must hold a token once, got 'a' twice"):
        WordPiece([*SPECIAL_TOKENS, "b", "a", "c", "a"])


def test_wordpiece_names_missing_special_tokens():
    with pytest.raises(ValueError, match=r"it lacks \[CLS\], \[MASK\]: add them"):
        WordPiece(["[PAD]", "[UNK]", "[SEP]", "a"])


@pytest.mark.parametrize("text", [None, 5, b"play", ["play"]])
@pytest.mark.parametrize("step", [normalize, split_words, "tokenize", "encode"])
def test_text_that_is_no_string_is_refused(text, step, tokenizer):
    step = getattr(tokenizer, step) if isinstance(step, str) else step
    with pytest.raises(TypeError, match=r"text must be a string, got \S*(None|5|play)"):
        step(text)


@pytest.mark.parametrize("step", [normalize, split_words, "tokenize", "encode"])
def test_text_with_half_a_surrogate_pair_is_refused(step, tokenizer):
    step = getattr(tokenizer, step) if isinstance(step, str) else step
    with pytest.raises(
        ValueError, match=r"half of a surrogate pair, '\\ud83d' at 1; decode the bytes"
    ):
        step("a\ud83db")


@pytest.mark.parametrize("texts", ["play", 5, None, iter(["play"])])
def test_batch_refuses_what_is_no_list(texts, tokenizer):
    with pytest.raises(
        TypeError, match=r"texts must be a list of strings, got .*; put a single text"
    ):
        tokenizer.batch(texts, 8)


def test_batch_names_the_text_that_is_no_string(tokenizer):
    with pytest.raises(TypeError, match=r"texts\[1\] must be a string, got b'play'"):
        tokenizer.batch(["play", b"play"], 8)


def test_batch_refuses_an_empty_list(tokenizer):
    with pytest.raises(ValueError, match="texts must hold at least one text, got an"):
        tokenizer.batch([], 8)


@pytest.mark.parametrize("max_length", [1, 0, -1])
def test_batch_refuses_a_max_length_without_room(max_length, tokenizer):
    with pytest.raises(
        ValueError, match=rf"max_length must be at least 2, .*, got {max_length}$"
    ):
        tokenizer.batch(["play"], max_length)


@pytest.mark.parametrize("max_length", [8.0, "8", None, True])
def test_batch_refuses_a_max_length_that_is_no_number(max_length, tokenizer):
    with pytest.raises(TypeError, match="max_length must be a whole number, got"):
        tokenizer.batch(["play"], max_length)


@pytest.mark.parametrize("i", [-1, 14])
def test_tokens_refuses_ids_out_of_range(i, tokenizer):
    with pytest.raises(ValueError, match=f"ids must be from 0 to 13, .*, got {i}$"):
        tokenizer.tokens([CLS, i])


@pytest.mark.parametrize("ids", [[1.0], ["play"], [True], np.array([[2, 3]])])
def test_tokens_refuses_what_is_no_row_of_ids(ids, tokenizer):
    with pytest.raises(TypeError, match="ids must be a text's whole numbers, got"):
        tokenizer.tokens(ids)
