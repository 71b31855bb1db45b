"""Sentences of the grammar and sequences keep the rules that they are drawn by."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from encoderlab.tasks import GRAMMAR_WORDS, sample_grammar, sample_reversal
from encoderlab.tasks.grammar import ADJECTIVES, PLURAL, SINGULAR

MASK = GRAMMAR_WORDS.index("[MASK]")


@pytest.fixture(scope="module")
def sentences():
    return sample_grammar(400, rng=np.random.default_rng(0))


def words(ids):
    return [GRAMMAR_WORDS[i] for i in ids]


def test_grammar_words_are_all_different():
    assert len(set(GRAMMAR_WORDS)) == len(GRAMMAR_WORDS)
    assert GRAMMAR_WORDS[0] == "[PAD]"
    assert len(SINGULAR) == len(PLURAL)


def test_masked_word_agrees_with_the_first_noun_after_it(sentences):
    for ids, real, targets in zip(*sentences, strict=True):
        (place,) = np.flatnonzero(ids == MASK)
        after = [w for w in words(ids[real])[place + 1 :] if w not in ADJECTIVES]
        answer = GRAMMAR_WORDS[targets[place]]
        assert answer == ("this" if after[0] in SINGULAR else "these")
        assert after[0] in SINGULAR + PLURAL
        assert (np.delete(targets, place) == -100).all()


def test_grammar_says_nothing_about_the_masked_word_elsewhere(sentences):
    """Each noun's number, and what stands left of the mask, is fair with the answer."""
    answers = sentences.targets.max(axis=1) == GRAMMAR_WORDS.index("this")
    first = np.isin(
        sentences.token_ids[:, 1], [GRAMMAR_WORDS.index(w) for w in SINGULAR]
    )
    last_real = sentences.attention_mask.sum(axis=1) - 2
    last = sentences.token_ids[np.arange(400), last_real]
    last = np.isin(last, [GRAMMAR_WORDS.index(w) for w in SINGULAR])
    for share in (answers.mean(), (answers == first).mean(), (answers == last).mean()):
        assert 0.4 < share < 0.6
    for ids in sentences.token_ids:
        before = words(ids)[:3]
        assert before[0] == "the"
        assert before[2] == "saw"


def test_grammar_pads_at_the_end_alone(sentences):
    lengths = sentences.attention_mask.sum(axis=1)
    assert set(lengths) == {9, 10, 11, 12}
    expected = np.arange(12) < lengths[:, None]
    assert_array_equal(sentences.attention_mask, expected)
    assert_array_equal(sentences.token_ids == 0, ~expected)


def test_reversal_targets_are_the_sequence_backwards():
    ids, targets = sample_reversal(6, 5, 9, rng=np.random.default_rng(0))
    assert ids.shape == (6, 5)
    assert_array_equal(targets[:, ::-1], ids)
    assert set(ids.ravel()) <= set(range(9))
    assert targets.base is None  # it may be changed without changing the ids


def test_samples_are_the_same_for_the_same_seed():
    for sample in (
        lambda rng: sample_grammar(3, rng=rng).token_ids,
        lambda rng: sample_reversal(3, 4, 5, rng=rng)[0],
    ):
        one, other = sample(np.random.default_rng(1)), sample(np.random.default_rng(1))
        assert_array_equal(one, other)


@pytest.mark.parametrize("sizes", [(0, 4, 5), (3, 0, 5), (3, 4, 1)])
def test_reversal_refuses_sizes_that_are_too_small(sizes):
    with pytest.raises(ValueError, match="must be at least 1 and num_symbols 2"):
        sample_reversal(*sizes, rng=np.random.default_rng(0))


def test_grammar_refuses_no_sentences():
    with pytest.raises(ValueError, match="num_sentences must be at least 1, got 0"):
        sample_grammar(0, rng=np.random.default_rng(0))


def test_samples_refuse_a_seed_for_a_generator():
    with pytest.raises(TypeError, match=r"rng must be a np\.random\.Generator"):
        sample_grammar(3, rng=0)
    with pytest.raises(TypeError, match=r"rng must be a np\.random\.Generator"):
        sample_reversal(3, 4, 5, rng=0)
