"""The learner's own parts, where they pass; else the book's.

``from encoderlab.lab.mine import softmax`` gives the ``softmax`` of the folder that is
worked in once it has passed its check, and until then the reference.
"""

from typing import Any

from encoderlab.lab.exercises import UnknownExercise, find
from encoderlab.lab.load import load_solution
from encoderlab.lab.workspace import Workspace

used: dict[str, bool] = {}
"""What was handed out: an exercise's name to whether it was the learner's own."""

loading: set[str] = set()
"""What is being loaded, and so cannot be handed out yet."""

_parts: dict[str, Any] = {}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return part(name)


def part(name: str) -> Any:
    """Hand out a part.

    Parameters
    ----------
    name
        The exercise's short name, ``softmax`` or ``torch.softmax``.

    Returns
    -------
    object
        The learner's own where it has passed, else the book's.

    Raises
    ------
    AttributeError
        If there is no such exercise; the message suggests the nearest names.
    ImportError
        If the file that defines it asks for it.
    """
    try:
        exercise = find(name)
    except UnknownExercise as error:
        raise AttributeError(str(error)) from None
    if name in loading:
        raise ImportError(f"{name} asks for itself: write it here, or import another")
    if name not in _parts:
        workspace = Workspace()
        used[name] = workspace.passed(exercise)
        loading.add(name)
        try:
            _parts[name] = (
                load_solution(workspace.file(exercise), exercise.name)
                if used[name]
                else exercise.reference()
            )
        finally:
            loading.discard(name)
    return _parts[name]
