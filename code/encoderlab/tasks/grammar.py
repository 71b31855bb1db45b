"""A toy grammar in which a masked word depends on what stands to its right.

"the cat saw [MASK] small dogs near the boat .": whether "this" or "these" is masked is
decided by the first noun after it. The nouns elsewhere are of either number and say
nothing about it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from encoderlab.with_numpy.parameters import require_generator

MASKED_WORDS = ["this", "these"]
SINGULAR = ["cat", "dog", "bird", "child", "teacher", "horse", "fox", "boat"]
PLURAL = ["cats", "dogs", "birds", "children", "teachers", "horses", "foxes", "boats"]
ADJECTIVES = ["small", "old", "grey", "quiet", "clever", "wet"]
OTHERS = ["[PAD]", "[MASK]", ".", "the", "saw", "near"]
GRAMMAR_WORDS = [*OTHERS, *MASKED_WORDS, *SINGULAR, *PLURAL, *ADJECTIVES]
"""The words of the grammar; a word's id is its place here."""

MAX_ADJECTIVES = 3


class Sentences(NamedTuple):
    """Sentences with one word masked.

    Attributes
    ----------
    token_ids
        Ids of the words, with ``[MASK]`` in place of the one asked for.
    attention_mask
        True for a word, False for padding.
    targets
        The id of the masked word at its place, -100 at all others.
    """

    token_ids: Int[np.ndarray, "B T"]
    attention_mask: Bool[np.ndarray, "B T"]
    targets: Int[np.ndarray, "B T"]


def sample_grammar(num_sentences: int, *, rng: np.random.Generator) -> Sentences:
    """Draw sentences of the grammar.

    Parameters
    ----------
    num_sentences
        How many, at least 1.
    rng
        Source of the words.

    Returns
    -------
    Sentences
        Of 9 to 12 words, padded to 12.

    Raises
    ------
    TypeError
        If ``rng`` is not a Generator.
    ValueError
        If ``num_sentences`` is below 1.

    Notes
    -----
    Chapters 01 and 13.

    Examples
    --------
    >>> sentences = sample_grammar(2, rng=np.random.default_rng(3))
    >>> for ids, real in zip(sentences.token_ids, sentences.attention_mask):
    ...     print(" ".join(GRAMMAR_WORDS[i] for i in ids[real]))
    the dogs saw [MASK] quiet small small dog near the fox .
    the child saw [MASK] clever small bird near the dogs .
    """
    require_generator(rng)
    if num_sentences < 1:
        raise ValueError(f"num_sentences must be at least 1, got {num_sentences}")
    longest = 9 + MAX_ADJECTIVES
    token_ids = np.zeros((num_sentences, longest), np.int64)  # [PAD] is 0
    targets = np.full((num_sentences, longest), -100)
    for row in range(num_sentences):
        numbers = rng.integers(2, size=3)  # of the nouns: 0 singular, 1 plural
        first, seen, last = (
            rng.choice((SINGULAR, PLURAL)[number]) for number in numbers
        )
        adjectives = rng.choice(ADJECTIVES, rng.integers(MAX_ADJECTIVES + 1))
        words = ["the", first, "saw", "[MASK]", *adjectives, seen, "near", "the", last]
        ids = [GRAMMAR_WORDS.index(word) for word in [*words, "."]]
        token_ids[row, : len(ids)] = ids
        answer = MASKED_WORDS[numbers[1]]
        targets[row, words.index("[MASK]")] = GRAMMAR_WORDS.index(answer)
    return Sentences(token_ids, token_ids != 0, targets)
