"""The checks are proved: every known mistake is rejected, every right answer passes."""

import numpy as np
import pytest

from encoderlab.lab.asking import ask_all
from encoderlab.lab.exercises import exercises
from encoderlab.lab.judge import SEEDS, judge
from encoderlab.lab.mistakes import _found, mistakes_of
from encoderlab.lab.report import as_text
from encoderlab.with_numpy.functional import masked_softmax

from .right import right_solutions

EXERCISES = exercises()
MISTAKES = {m.id: (e, m) for e in EXERCISES for m in mistakes_of(e)}
RIGHT = right_solutions()


@pytest.mark.parametrize("exercise", EXERCISES)
def test_reference_passes_its_own_check(exercise):
    report = judge(exercise, EXERCISES[exercise].reference())
    assert report.passed, report.failures
    assert report.cases >= 2


def test_every_mistake_belongs_to_an_exercise_and_every_exercise_has_some():
    assert _found.keys() == MISTAKES.keys()
    few = [e for e in EXERCISES if len(mistakes_of(e)) < 2]
    assert not few


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_rejected_and_named(mistake):
    exercise, entry = MISTAKES[mistake]
    report = judge(exercise, entry.target)
    assert report.status in ("failed", "error")
    assert report.failures
    assert mistake in report.mistakes
    assert "WrongForm" not in as_text(report, "it")  # a name of ours, not the learner's


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_wrong_as_it_says_and_not_by_accident(mistake):
    """What it is derived from may have changed under it."""
    exercise, entry = MISTAKES[mistake]
    for answer in ask_all(EXERCISES[exercise].check(), entry.target, SEEDS[0]):
        if getattr(answer.case, "raises", None):
            continue  # bad input may end in any error
        broken = isinstance(answer.error, (AttributeError, NameError, RecursionError))
        said = str(answer.error)
        broken |= isinstance(answer.error, TypeError) and (
            "not callable" in said or "argument" in said
        )
        assert not broken, said


def test_nearly_all_mistakes_are_told_apart():
    some = [*MISTAKES.values()][::5]  # all of them take minutes
    alone = [judge(e, m.target).mistakes == [m.id] for e, m in some]
    assert sum(alone) >= 0.97 * len(alone)


@pytest.mark.parametrize(("exercise", "name"), RIGHT)
def test_right_variant_passes(exercise, name):
    report = judge(exercise, RIGHT[exercise, name])
    assert report.passed, report.failures


def test_first_of_two_mistakes_is_named_as_what_comes_first():
    def attention(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
        scores = q @ np.swapaxes(k, -1, -2)  # no scale, and no dropout below
        if mask is not None and mask.dtype != bool:
            raise TypeError
        weights = masked_softmax(scores, np.True_ if mask is None else mask)
        return weights @ v, weights

    report = judge("attention", attention)
    assert not report.named
    assert [mistake.id for mistake in report.at_first] == ["attention.no_scale"]
    assert "The first ones fit" in as_text(report, "attention")


def test_common_first_error_gets_advice_once():
    def attention(q, k, v, mask=None, *, dropout_p=0.0, rng=None):
        scores = np.exp(q @ k.T)
        return scores @ v, scores

    def unkept(x, axis=-1):
        return np.exp(x) / np.exp(x).sum(axis)

    def without_axis(x):
        return x

    assert as_text(judge("attention", attention), "it").count("print both shapes") == 1
    assert as_text(judge("softmax", unkept), "it").count("unless keepdims=True") == 1
    assert as_text(judge("softmax", without_axis), "it").count("the stub's") == 1


def test_signature_that_was_missed_is_named():
    def dropout(x, p):
        return x

    def softmax(x, axis=-1):
        return dropout(x, 0.1, training=False)

    text = as_text(judge("softmax", softmax), "it")
    assert "look at the signature of dropout" in text
    assert "the stub's" not in text


def test_missing_refusals_are_not_taken_for_others():
    def padding_mask(lengths, max_len):
        lengths = np.asarray(lengths)
        if lengths.dtype.kind == "f" or isinstance(max_len, float):
            raise TypeError
        if lengths.ndim != 1 or lengths.max() > max_len:
            raise ValueError
        return (np.arange(max_len) < lengths[:, None])[:, None, None, :]

    report = judge("padding_mask", padding_mask)
    assert report.mistakes == ["padding_mask.negative_accepted"]


def test_chapter_before_the_exercise_is_refused():
    with pytest.raises(ValueError, match="give 3 or a later one"):
        judge("attention", len, chapter=2)
