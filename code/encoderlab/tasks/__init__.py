"""Small tasks to train on: real data that come with a package, or exactly generated."""

from encoderlab.tasks.digits import Digits, load_digits
from encoderlab.tasks.grammar import GRAMMAR_WORDS, Sentences, sample_grammar
from encoderlab.tasks.sequences import sample_reversal

__all__ = [
    "GRAMMAR_WORDS",
    "Digits",
    "Sentences",
    "load_digits",
    "sample_grammar",
    "sample_reversal",
]
