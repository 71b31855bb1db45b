"""The exercises: what is asked for, in which chapter, how hard, with three hints."""

import ast
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
CATALOG = PACKAGE / "lab" / "catalog"
TORCH = ("with_torch.", "bridge.")


@dataclass(frozen=True)
class Exercise:
    """One exercise.

    Attributes
    ----------
    id
        The dotted path of the reference, without the package's name.
    chapter
        Number of its chapter.
    difficulty
        From 1 to 3.
    minutes
        About how long it takes.
    hints
        A question, a probe worked by hand, the line to look at.
    needs
        Ids of the exercises that it builds on.
    limit
        Seconds after which a check is stopped.
    not_asked
        Methods of the class that need not be written; the stub leaves them out.
    """

    id: str
    chapter: int
    difficulty: int
    minutes: int
    hints: tuple[str, str, str]
    needs: tuple[str, ...] = ()
    limit: float = 10.0
    not_asked: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the id, which is the name to define."""
        return self.id.rpartition(".")[2]

    @property
    def short(self) -> str:
        """What a learner types: the name, with ``torch.`` before it for PyTorch."""
        return ("torch." if self.id.startswith("with_torch.") else "") + self.name

    @property
    def in_torch(self) -> bool:
        """Whether it is solved with PyTorch."""
        return self.id.startswith(TORCH)

    def lacks(self) -> str:
        """Say what must be installed first; empty if nothing."""
        if self.in_torch and find_spec("torch") is None:
            return "it needs PyTorch: install it with `pip install torch`"
        return ""

    def reference(self) -> Any:
        """Import the book's own solution."""
        module, _, name = self.id.rpartition(".")
        return getattr(import_module(f"encoderlab.{module}"), name)

    def check(self) -> Any:
        """Import the check: what is asked of a solution."""
        module, _, name = self.id.rpartition(".")
        return getattr(import_module(f"encoderlab.lab.checks.{module}"), name)

    def node(self, below: str = "") -> ast.ClassDef | ast.FunctionDef:
        """Read the reference, or the check in ``lab/checks``, without running it."""
        path = PACKAGE.joinpath(below, *self.id.split(".")[:-1])
        for file in (path.with_suffix(".py"), *sorted(path.glob("*.py"))):
            source = file.read_text(encoding="utf-8") if file.exists() else ""
            for part in ast.parse(source).body:
                if getattr(part, "name", "") == self.name:
                    assert isinstance(part, ast.ClassDef | ast.FunctionDef)
                    return part
        raise LookupError(f"{path} does not define {self.name}")


class UnknownExercise(LookupError):
    """No exercise has that name; the message suggests those that are near."""


@cache
def exercises() -> dict[str, Exercise]:
    """Read the catalogue.

    Returns
    -------
    dict
        Id to exercise, in the order of the chapters.
    """
    entries = {}
    for path in sorted(CATALOG.glob("*.toml")):
        for identity, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            entry["hints"] = tuple(entry["hints"])
            for listed in ("needs", "not_asked"):
                entry[listed] = tuple(entry.get(listed, ()))
            entries[identity] = Exercise(identity, **entry)
    return entries


def find(name: str) -> Exercise:
    """Find an exercise by its id or its short name.

    Parameters
    ----------
    name
        ``softmax``, ``torch.softmax`` or ``with_numpy.functional.softmax``.

    Returns
    -------
    Exercise
        The exercise.

    Raises
    ------
    UnknownExercise
        If there is none; the message suggests the nearest names.

    Examples
    --------
    >>> find("softmax").id
    'with_numpy.functional.softmax'
    """
    known = exercises()
    if name in known:
        return known[name]
    by_short = {exercise.short: exercise for exercise in known.values()}
    if name in by_short:
        return by_short[name]
    near = get_close_matches(name, by_short, n=3, cutoff=0.5)
    advice = f"did you mean {' or '.join(near)}?" if near else "`status` lists them all"
    raise UnknownExercise(f"there is no exercise {name!r}; {advice}")
