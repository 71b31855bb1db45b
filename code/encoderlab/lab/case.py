"""What a solution is asked: cases, each one call with what may be compared of it.

A check is a generator, ``name(solution, rng)``, that yields cases in the order in which
a learner should meet them: the smallest and most telling first. It is run on the
reference and on the solution with generators of the same seed, so that both are asked
the same, and on every known mistake, to find the one that answers alike.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from encoderlab.with_numpy.parameters import parameters

RTOL = 1e-7
SAME = 1e-9
"""Relative difference below which two wrong answers count as the same; where a question
grants more than ``RTOL``, as in float32, it is the question's."""


@dataclass
class Case:
    """One question.

    Attributes
    ----------
    says
        What is asked, in words that make sense to the learner.
    call
        Asks the solution; its result is compared with the reference's.
    inputs
        Arrays that must be the same afterwards; of tensors, their memory.
    rtol
        Largest allowed difference, relative to the largest value of the right answer.
    dtype
        Whether the dtype of the result is compared as well.
    raises
        The error that must be raised; the result is then its type alone.
    """

    says: str
    call: Callable[[], Any]
    inputs: tuple[np.ndarray, ...] = ()
    rtol: float = RTOL
    dtype: bool = False
    raises: type[Exception] | None = None


@dataclass
class Property:
    """Something that must hold whatever the values are.

    Attributes
    ----------
    says
        What must hold: "sample 1 does not change the result of sample 0".
    holds
        Tries it.
    """

    says: str
    holds: Callable[[], bool]


@dataclass
class FromChapter:
    """A mark between questions: the next ones ask what this chapter explains first.

    Attributes
    ----------
    chapter
        Number of the chapter.
    """

    chapter: int


Check = Callable[[Any, np.random.Generator], Iterator[Case | Property | FromChapter]]


def ask(solution: Callable, *args, says: str, keywords=None, **options) -> Case:
    """Make a case of one call; arrays and tensors given to it must stay unchanged.

    Parameters
    ----------
    solution
        What is called.
    args
        Its positional arguments.
    says
        What is asked, in words.
    keywords
        Its keyword arguments.
    options
        The other attributes of the case.

    Returns
    -------
    Case
        The question.

    Examples
    --------
    >>> ask(np.sum, np.ones(3), says="three ones").call()
    np.float64(3.0)
    """
    keywords = keywords or {}
    arrays = memory_of(*args, *keywords.values())
    return Case(says, partial(solution, *args, **keywords), arrays, **options)


def memory_of(*values: Any) -> tuple[np.ndarray, ...]:
    """Take the arrays, and the tensors as arrays that share their memory.

    Parameters
    ----------
    values
        Anything; what is neither is left out.

    Returns
    -------
    tuple of ndarray
        Arrays: what is written into them is written into the values.
    """
    plain = [values_of(v) if hasattr(v, "detach") else v for v in values]
    return tuple(array for array in plain if isinstance(array, np.ndarray))


def values_of(tensor: Any) -> np.ndarray:
    """Take a tensor's values, without importing PyTorch here.

    Parameters
    ----------
    tensor
        A tensor.

    Returns
    -------
    ndarray
        In the tensor's memory; a copy in float32 if it is bfloat16, which NumPy lacks.
    """
    plain = tensor.detach().cpu()
    return (plain.float() if "bfloat16" in str(plain.dtype) else plain).numpy()


def ask_vjp(
    solution: Callable, *args, says: str, rng, keywords=None, **options
) -> Case:
    """Make a case of a vjp: its output, and what its way back gives for a gradient.

    Parameters
    ----------
    solution
        Called with the arguments, it returns an output and the way back.
    args
        Its positional arguments.
    says
        What is asked, in words.
    rng
        Draws the upstream gradient: never ones, which hide mistakes.
    keywords
        Its keyword arguments.
    options
        The other attributes of the case.

    Returns
    -------
    Case
        The question; the result is a dictionary of output and gradients.
    """
    keywords = keywords or {}
    seed = rng.integers(2**31)

    def call():
        answer = solution(*args, **keywords)
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise WrongForm("it must return two things, the output and the way back")
        output, backward = answer
        draws = np.random.default_rng(seed)
        upstream = 0.3 + draws.standard_normal(np.shape(output))
        return {"output": output, "gradients": backward(upstream)}

    arrays = tuple(a for a in (*args, *keywords.values()) if isinstance(a, np.ndarray))
    return Case(says, call, arrays, **options)


class WrongForm(Exception):
    """The answer is not of the kind that is asked for; the message says why."""


def give_weights(layer: object, reference: object, rng: np.random.Generator) -> object:
    """Set a layer's parameters by name, to values of order 0.5, none at its default.

    Parameters
    ----------
    layer
        The solution's layer.
    reference
        The same layer of the book, for the names and shapes.
    rng
        Draws the values, in float64.

    Returns
    -------
    object
        ``layer``.

    Raises
    ------
    WrongForm
        If an attribute is missing or of another shape.
    """
    for name, array in parameters(reference).items():
        value = 0.5 * rng.standard_normal(array.shape) + 0.1
        *path, attribute = name.split(".")
        owner: Any = layer
        for part in path:
            try:
                owner = owner[int(part)] if part.isdigit() else getattr(owner, part)
            except (AttributeError, IndexError, TypeError):
                raise WrongForm(f"the layer has no {name}") from None
        if not hasattr(owner, attribute):
            raise WrongForm(f"the layer has no {name}")
        if np.shape(getattr(owner, attribute)) != array.shape:
            raise WrongForm(
                f"{name} must have the shape {array.shape}, it has "
                f"{np.shape(getattr(owner, attribute))}"
            )
        setattr(owner, attribute, value)
    return layer
