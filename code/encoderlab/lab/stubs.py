"""Stubs: what a learner starts from, made from the reference when it is asked for."""

import ast

from encoderlab.lab.exercises import Exercise, exercises

TODO = "raise NotImplementedError"
NUMPY = "import numpy as np\n"
TORCH = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


def stub(exercise: Exercise) -> str:
    """Write the file in which an exercise is solved.

    Parameters
    ----------
    exercise
        The exercise.

    Returns
    -------
    str
        Python source: what the exercise is, the imports, and the reference's signature
        and docstring over ``raise NotImplementedError``.
    """
    node = exercise.node()
    _empty(node, exercise.not_asked)
    return (
        f'"""Exercise {exercise.short}: chapter {exercise.chapter:02}, difficulty '
        f"{exercise.difficulty} of 3,\nabout {exercise.minutes} minutes.\n\n"
        f"To check it:   encoderlab check {exercise.short}\n"
        f"For a hint:    encoderlab hint {exercise.short}\n"
        f'"""\n\n{imports(exercise)}\n\n{ast.unparse(ast.fix_missing_locations(node))}\n'
    )


def imports(exercise: Exercise) -> str:
    """Write what a learner's file imports: NumPy or PyTorch, the parts it builds on."""
    lines = [TORCH if exercise.in_torch else NUMPY]
    needs = sorted(exercises()[need].short for need in exercise.needs)
    for module, mark in (("mine", ""), ("mine.torch", "torch.")):
        names = [
            n.removeprefix("torch.")
            for n in needs
            if n.startswith("torch.") == bool(mark)
        ]
        if names:
            lines.append(f"from encoderlab.lab.{module} import {', '.join(names)}\n")
    return "\n".join(lines)


def _empty(node, not_asked=()):
    """Leave signature and docstring; take types and code away."""
    if isinstance(node, ast.ClassDef):
        kept = [part for part in node.body if _is_asked_for(part, not_asked)]
        for method in kept:
            _empty(method)
        node.body = [*_docstring(node), *kept]
        node.decorator_list = []
        return
    node.returns = None
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for argument in [*every, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    node.body = [*_docstring(node), ast.parse(TODO).body[0]]


def _is_asked_for(part, not_asked):
    if not isinstance(part, ast.FunctionDef) or part.name in not_asked:
        return False
    if any(ast.unparse(decorator) != "property" for decorator in part.decorator_list):
        return False
    return not part.name.startswith("_") or part.name in ("__init__", "__call__")


def _docstring(node):
    text = ast.get_docstring(node, clean=False)
    return [] if text is None else [ast.Expr(ast.Constant(text))]
