"""Questions to modules: weights given by name, gradients by autograd."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from encoderlab.lab.case import Case, WrongForm, memory_of

exact = partial(torch.tensor, dtype=torch.float64)
"""A tensor of these numbers, in which a right answer may be computed in any order."""


def give_weights(module: Any, reference: nn.Module, rng: np.random.Generator) -> Any:
    """Set a module's parameters by name, to values of order 0.5, none at its default.

    Parameters
    ----------
    module
        The solution's module.
    reference
        The same module of the book, for the names and shapes.
    rng
        Draws the values, in float64.

    Returns
    -------
    nn.Module
        ``module`` in float64 and in evaluation mode.

    Raises
    ------
    WrongForm
        If it is no module, or a parameter is missing, unknown or of another shape.
    """
    if not isinstance(module, nn.Module):
        raise WrongForm("it must be an nn.Module")
    asked = dict(reference.named_parameters())
    own = named(module.double(), asked)
    unasked = [name for name in own if name not in asked]
    for name, wanted in asked.items():
        value = torch.from_numpy(0.5 * rng.standard_normal(wanted.shape) + 0.1)
        if name not in own:
            has = f"; it has {_first(unasked) or 'none'}" if unasked or not own else ""
            raise WrongForm(
                f"it has no parameter {name}{has}. A module that two names share "
                "counts once; those in a plain list do not"
            )
        if own[name].shape != wanted.shape:
            raise WrongForm(
                f"{name} must have the shape {tuple(wanted.shape)}, it has "
                f"{tuple(own[name].shape)}"
            )
        with torch.no_grad():
            own[name].copy_(value)
    if unasked:
        raise WrongForm(f"it has parameters that are not asked for: {_first(unasked)}")
    return module.eval()


def _first(names, most=5):
    """The first few names."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def named(module: nn.Module, asked: Iterable[str] = ()) -> dict[str, nn.Parameter]:
    """Name a module's parameters, each once.

    Parameters
    ----------
    module
        The module.
    asked
        Names that count before others where one parameter has several, as tied ones do.

    Returns
    -------
    dict
        Name to parameter.
    """
    every = module.named_parameters(remove_duplicate=False)
    first: dict[int, tuple[str, nn.Parameter]] = {}
    for name, parameter in sorted(every, key=lambda pair: pair[0] not in asked):
        first.setdefault(id(parameter), (name, parameter))
    return dict(first.values())


def ask_gradients(
    solution: Callable, *args, says: str, rng, keywords=None, names=(), **options
) -> Case:
    """Make a case of a result and the gradients of all that it was made of.

    Parameters
    ----------
    solution
        A function or a module; of several results the first is differentiated.
    args
        Its positional arguments; gradients are asked for those that are floating.
    says
        What is asked, in words.
    rng
        Draws the upstream gradient: never ones, which hide mistakes, nor of mean 0.
    keywords
        Its keyword arguments.
    names
        As a module's parameters are to be named, where tied ones have several names.
    options
        The other attributes of the case.

    Returns
    -------
    Case
        The question; the result is a dictionary of output and gradients by name.
    """
    keywords = keywords or {}
    seed = rng.integers(2**31)

    def call():
        # a step before, as a layer has one: what changes its input is noticed
        leaves = [x.clone().requires_grad_() if _floating(x) else x for x in args]
        inputs = [leaf * 1.0 if _floating(leaf) else leaf for leaf in leaves]
        output = solution(*inputs, **keywords)
        first = output[0] if isinstance(output, tuple) else output
        if not isinstance(first, Tensor):
            kind = type(first).__name__
            raise WrongForm(f"it must return a tensor, it returns {kind}")
        asked = {f"x{i}" if i else "x": x for i, x in enumerate(leaves) if _floating(x)}
        if isinstance(solution, nn.Module):
            asked |= named(solution, names)
        draws = np.random.default_rng(seed)
        upstream = torch.as_tensor(0.3 + draws.standard_normal(first.shape))
        if not first.requires_grad:
            raise WrongForm(f"no gradient comes back {NOT_CUT}")
        found = torch.autograd.grad(
            first, list(asked.values()), upstream.to(first.dtype), allow_unused=True
        )
        gradients = dict(zip(asked, found, strict=True))
        for name, gradient in gradients.items():
            if gradient is None:
                raise WrongForm(f"no gradient comes back to {name} {NOT_CUT}")
        return {"output": first, "gradients": gradients}

    return Case(says, call, memory_of(*args, *keywords.values()), **options)


NOT_CUT = "(detach, no_grad, .data, item, numpy and torch.tensor cut the way back)"


def draw(
    rng: np.random.Generator, *shape: int, scale: float = 1.0, shift: float = 0.0
) -> Tensor:
    """Draw a tensor in float64.

    Parameters
    ----------
    rng
        Draws the values.
    shape
        The shape.
    scale, shift
        Standard deviation and mean.

    Returns
    -------
    Tensor
        Normal values.
    """
    return torch.from_numpy(shift + scale * rng.standard_normal(shape))


def close(one: Tensor, other: Tensor) -> bool:
    """Whether two results are the same up to rounding in float64.

    Parameters
    ----------
    one, other
        The results.

    Returns
    -------
    bool
        Whether they differ by 1e-9 at most, relatively or from 0.

    Raises
    ------
    WrongForm
        If one is no tensor.
    """
    for result in (one, other):
        if not isinstance(result, Tensor):
            kind = type(result).__name__
            raise WrongForm(f"it must return a tensor, it returns {kind}")
    return torch.allclose(one, other, rtol=1e-9, atol=1e-9)


def _floating(value):
    return isinstance(value, Tensor) and value.is_floating_point()


@contextmanager
def own_chance(seed: int = 0) -> Iterator[None]:
    """Draw from a seed inside, and leave PyTorch's generator as it was.

    Parameters
    ----------
    seed
        The seed.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # those of other devices are not kept
        yield


def in_training(module: nn.Module, *args, seed: int, **options) -> Any:
    """Call a module once in training mode, and leave it in evaluation mode.

    Parameters
    ----------
    module
        The module.
    args
        What it is called with.
    seed
        What it drops is drawn from this, and PyTorch's generator is left as it was.
    options
        Its keyword arguments.

    Returns
    -------
    Any
        What the call returns.
    """
    with own_chance(seed):
        output = module.train()(*args, **options)
    module.eval()
    return output


def shapes_of(module: nn.Module) -> dict[str, tuple[int, ...]]:
    """List what training would change.

    Parameters
    ----------
    module
        The module.

    Returns
    -------
    dict
        The shape of each parameter, by its name.
    """
    return {name: tuple(p.shape) for name, p in module.named_parameters()}
