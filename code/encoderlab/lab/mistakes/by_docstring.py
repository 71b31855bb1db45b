"""Enter mistakes whose docstring holds both what is wrong and what to look at."""

from collections.abc import Callable
from inspect import getdoc

from encoderlab.lab.mistakes import mistake


def wrong(exercise: str, name: str = "", build: Callable | None = None) -> Callable:
    """Enter the decorated piece into the catalogue.

    Parameters
    ----------
    exercise
        The last part of the exercise's id.
    name
        The mistake's name; empty takes the piece's own.
    build
        From the piece to a whole solution; None takes it as it is.

    Returns
    -------
    Callable
        A decorator that returns the piece. The first paragraph of the docstring is the
        line to the learner, the second the hint.
    """

    def enter(piece):
        says, hint = (" ".join(part.split()) for part in getdoc(piece).split("\n\n"))
        own = "".join("_" + c.lower() if c.isupper() else c for c in piece.__name__)
        target = build(piece) if build else piece
        target.__module__ = piece.__module__
        mistake(exercise, name or own.lstrip("_"), says, hint)(target)
        return piece

    return enter
