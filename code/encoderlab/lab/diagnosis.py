"""Find the known mistake that answers as a solution does."""

import math
from itertools import zip_longest

from encoderlab.lab.asking import Answer, ask_all
from encoderlab.lab.case import RTOL, SAME, Case, Property, WrongForm
from encoderlab.lab.compare import compare
from encoderlab.lab.exercises import Exercise
from encoderlab.lab.mistakes import mistakes_of
from encoderlab.lab.outcome import VALUES_WRONG, Mistaken, difference

ALL = math.inf
MOST_AT_FIRST = 3
"""Mistakes that are named though other questions tell them from the solution."""


def diagnose(
    exercise: Exercise,
    right: dict[int, list[Answer]],
    given: dict[int, list[Answer]],
    chapter: int | None = None,
) -> tuple[list[Mistaken], list[Mistaken]]:
    """Find the known mistakes that give the same answers on both probes.

    Parameters
    ----------
    exercise
        The exercise.
    right, given
        The reference's answers and the solution's, by seed.
    chapter
        The last chapter that was asked about.

    Returns
    -------
    named, at_first : list of Mistaken
        Those that agree on every question; several where they cannot be told apart. If
        there are none, those that agree the furthest, beyond the first wrong number, to
        a question that the solution answers wrongly as well, in another way.
    """
    check = exercise.check()
    refusals = all(
        _refuses(one) or compare(one, other) is None
        for seed in given
        for one, other in zip(right[seed], given[seed], strict=False)
    )
    agreed = {}
    for entry in mistakes_of(exercise.id):
        places = {
            seed: _agreed(
                answers, ask_all(check, entry.target, seed, chapter), refusals
            )
            for seed, answers in given.items()
        }
        if not any(_is_right(right[seed], given[seed], places[seed]) for seed in given):
            agreed[entry] = min(places.values())
    furthest = max(agreed.values(), default=0)
    found = [
        Mistaken(entry.id, entry.says, entry.hint)
        for entry, number in agreed.items()
        if number == furthest
    ]
    if furthest == ALL:
        return found, []
    first = max(_first_wrong_number(right[seed], given[seed]) for seed in given)
    return [], found if first < furthest and len(found) <= MOST_AT_FIRST else []


def _is_right(right, given, place):
    """Whether the answer at a place is right: what errs there was not done."""
    if place >= min(len(right), len(given)):
        return False
    return compare(right[place], given[place]) is None


def _refuses(answer):
    return isinstance(answer.case, Case) and answer.case.raises is not None


def _agreed(answers, others, refusals):
    """How many questions are answered alike before the first that is not.

    Who refuses bad input, and how, says nothing about a mistake, unless refusals are
    all that is wrong.
    """
    for place, (one, other) in enumerate(zip_longest(answers, others)):
        if one is None or other is None:
            return place
        if _refuses(one):
            wanted = one.case.raises
            if refusals and isinstance(one.error, wanted) != isinstance(
                other.error, wanted
            ):
                return place
            continue
        if (
            type(one.error) is not type(other.error)
            or one.changed_input != other.changed_input
            or (isinstance(one.error, WrongForm) and str(one.error) != str(other.error))
            or (one.error is None and _apart(one, other))
        ):
            return place
    return ALL


def _first_wrong_number(right, given):
    """The place of the first wrong answer that could hardly be another's by chance."""
    for place, (expected, answer) in enumerate(zip(right, given, strict=False)):
        found = compare(expected, answer)
        if found and answer.error is None and found[0].endswith(VALUES_WRONG):
            return place
    return ALL


def _apart(one, other):
    if isinstance(one.case, Property):
        return one.value != other.value
    rtol = one.case.rtol if one.case.rtol > RTOL else SAME  # it may be in float32
    case = Case("", one.case.call, rtol=rtol, dtype=one.case.dtype)
    ways = (other.value, one.value), (one.value, other.value)  # 1 may stand for True
    return any(difference(*way, case) is not None for way in ways)
