"""Small tasks to train on: real data that come with a package, or exactly generated."""

from encoderlab.tasks.digits import Digits, load_digits
from encoderlab.tasks.english import ENGLISH_SPECIALS, English, load_english
from encoderlab.tasks.grammar import GRAMMAR_WORDS, Sentences, sample_grammar
from encoderlab.tasks.python_source import (
    PYTHON_KINDS,
    PythonSource,
    load_python_source,
)
from encoderlab.tasks.sequences import sample_reversal

__all__ = [
    "ENGLISH_SPECIALS",
    "GRAMMAR_WORDS",
    "PYTHON_KINDS",
    "Digits",
    "English",
    "PythonSource",
    "Sentences",
    "load_digits",
    "load_english",
    "load_python_source",
    "sample_grammar",
    "sample_reversal",
]
