"""Compare a solution's answers with the right ones, and say in words what differs."""

import sys
import traceback
from pathlib import Path

from encoderlab.lab.asking import Answer
from encoderlab.lab.case import Case, Property, WrongForm
from encoderlab.lab.outcome import Failure, difference

SIGNATURE = "\ncompare the signature with the stub's"
ADVICE = {
    "could not be broadcast": "\nprint the shapes of both: a sum, mean or max over an "
    "axis loses it unless keepdims=True",
    "matmul: Input": "\nthe last axis of the first must be as long as the last but one "
    "of the second: print both shapes. `.T` turns all axes round, .swapaxes(-1, -2) "
    "the last two",
    "missing 1 required": SIGNATURE,
    "unexpected keyword": SIGNATURE,
    "positional arguments but": SIGNATURE,
    "before Module.__init__": "\nbegin __init__ with super().__init__()",
    "mat1 and mat2": "\nthe last axis of the first must be as long as the last but one "
    "of the second: print both shapes",
    "Boolean value of Tensor": "\n`in` and == compare a tensor's numbers; which "
    "tensor it is, `is` says, or id(…) in a set of ids",
    "Expected target size": "\nPyTorch's own wants the classes on axis 1: flatten the "
    "positions into one axis, (N, V) and (N,)",
    "must match the size of tensor": "\nprint the shapes of both: a sum, mean or amax "
    "over an axis loses it unless keepdim=True",
    "inplace operation": "\nan operation changed a value that the way back needs: "
    "write x = x + y for x += y",
    "requires grad. Use": "\nnumpy() ends the chain of gradients: stay with tensors",
    "has no setter": "\na property is computed when it is read: keep what it needs "
    "under another name, as in self._best",
    "'float' object has no attribute 'exp'": "\na loss may be a float or a tensor: "
    "torch.as_tensor takes both",
    "must be Tensor, not float": "\nwhat is given may be a float or a tensor: "
    "torch.as_tensor takes both",
    "missing the required": "\na module computes in `forward`: is that its name?",
}
"""What to do about what Python, NumPy and PyTorch say, by a part of their message."""
PACKAGE = str(Path(__file__).parents[1])


def failures(right: list[Answer], given: list[Answer]) -> list[Failure]:
    """Say of each wrong answer what is wrong with it.

    Parameters
    ----------
    right, given
        The reference's answers and the solution's to the same questions.

    Returns
    -------
    list of Failure
        In the order of the questions; empty if all is right.
    """
    found = []
    for expected, answer in zip(right, given, strict=False):
        wrong = compare(expected, answer)
        if wrong:
            found.append(Failure(expected.case.says, *wrong))
    if len(given) < len(right) and not found:
        found.append(Failure(right[len(given)].case.says, "it was never reached"))
    return found


def compare(expected: Answer, answer: Answer) -> tuple[str, str, str] | None:
    """Say what is wrong with one answer.

    Parameters
    ----------
    expected, answer
        The reference's and the solution's.

    Returns
    -------
    tuple or None
        What is wrong in words, what was expected, what came; None if nothing is wrong.
    """
    case, error = expected.case, answer.error
    wanted = case.raises if isinstance(case, Case) else None
    if wanted is not None:
        if isinstance(error, wanted):
            return None
        refused = error is not None and not isinstance(error, WrongForm)
        came = f"{type(error).__name__} came" if refused else "none came"
        return f"it must raise {wanted.__name__}, {came}", "", ""
    if isinstance(error, WrongForm):
        return str(error), "", ""
    if error is not None:
        return in_words(error), "", ""
    if isinstance(case, Property):
        return None if answer.value else ("this must hold, and does not", "", "")
    if answer.changed_input:
        return "it changes its input: work on a copy", "", ""
    return difference(expected.value, answer.value, case)


def in_words(error: BaseException) -> str:
    """Give an error's name, message and line in the learner's code, and advice."""
    if isinstance(error, EOFError) and "reading a line" in str(error):
        return "EOFError: it waits for input; take input() out"
    frames = traceback.extract_tb(error.__traceback__)
    libraries = (PACKAGE, sys.prefix, sys.base_prefix, "<frozen", "<__array")
    own = [frame for frame in frames if not frame.filename.startswith(libraries)]
    place = f", line {own[-1].lineno}: {own[-1].line}" if own and own[-1].line else ""
    try:
        said = str(error)
    except Exception:
        said = "(its message cannot be shown)"
    advice = next((text for part, text in ADVICE.items() if part in said), "")
    called = said.partition("()")[0].split(".<locals>.")[-1]
    if advice == SIGNATURE and own:  # it was the learner's code that called it
        advice = f"\nlook at the signature of {called}"
    return f"{type(error).__name__}: {said}{place}{advice}"


def together(failures: list[Failure]) -> list[Failure]:
    """Give each question once, and those that fail alike, or get one advice, as one."""
    by_question: dict[str, Failure] = {}
    for failure in failures:  # the second probe asks the same again
        by_question.setdefault(failure.says, failure)
    by_words: dict[tuple, Failure] = {}
    for failure in by_question.values():
        words = failure.what.split("\n")[-1], failure.expected, failure.got
        first = by_words.setdefault(words, failure)
        if first is not failure:
            first.also.append(failure.says)
    return list(by_words.values())
