"""Enter mistakes whose docstring holds both what is wrong and what to look at."""

from collections.abc import Callable
from inspect import cleandoc

from encoderlab.lab.mistakes import mistake


def wrong(exercise: str, module: str = "") -> Callable:
    """Enter the decorated function or class into the catalogue, under its own name.

    Parameters
    ----------
    exercise
        The last part of the exercise's id.
    module
        Where the mistake counts as standing, if not in its own file: the package, for
        one whose mistakes fill several.

    Returns
    -------
    Callable
        A decorator. The first paragraph of the docstring is the line to the learner,
        the second the hint.
    """

    def enter(target):
        said, hint = cleandoc(target.__doc__).split("\n\n")
        name = "".join("_" + c.lower() if c.isupper() else c for c in target.__name__)
        target.__module__ = module or target.__module__
        line = " ".join(said.split()), " ".join(hint.split())
        return mistake(exercise, name.lstrip("_"), *line)(target)

    return enter
