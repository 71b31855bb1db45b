"""A layer's parameters: by name, counted, cast, loaded; and how new ones are drawn.

A parameter is a floating array kept as an attribute of a layer, of one of its
sublayers or of an item in a list of them. Its name is the path to it,
``layers.0.attention.W_q``.
"""

from collections.abc import Collection, Iterator, Mapping
from math import sqrt
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float
from numpy.typing import DTypeLike

Layer = TypeVar("Layer")


def parameters(layer: object) -> dict[str, np.ndarray]:
    """Collect a layer's parameters by name.

    Parameters
    ----------
    layer
        Any layer of this package, or one written the same way.

    Returns
    -------
    dict
        Name to array, in the order in which the layer created them. The arrays are the
        layer's own: changing one in place changes the layer.

    Notes
    -----
    Chapter 11.

    Examples
    --------
    >>> from encoderlab.with_numpy.normalization import LayerNorm
    >>> {name: array.shape for name, array in parameters(LayerNorm(4)).items()}
    {'gamma': (4,), 'beta': (4,)}
    """
    return {name: getattr(owner, attribute) for name, owner, attribute in _walk(layer)}


def count(layer: object) -> int:
    """Count the numbers a layer has learned or can learn.

    Parameters
    ----------
    layer
        A layer; an array that it uses in two places counts once.

    Returns
    -------
    int
        The number of values in all its parameters.

    Notes
    -----
    Chapter 11.

    Examples
    --------
    >>> from encoderlab.with_numpy.normalization import LayerNorm
    >>> count(LayerNorm(4))
    8
    """
    return sum(
        array.size for array in {id(a): a for a in parameters(layer).values()}.values()
    )


def cast(layer: Layer, dtype: DTypeLike) -> Layer:
    """Convert all parameters of a layer to a dtype.

    Cast first, then make an optimiser: one made before goes on to change the old
    arrays.

    Parameters
    ----------
    layer
        The layer, changed in place.
    dtype
        A floating dtype: ``np.float64`` for gradient checks, ``np.float32`` for speed.

    Returns
    -------
    object
        The same layer.

    Raises
    ------
    TypeError
        If ``dtype`` is not floating.

    Notes
    -----
    Chapter 02.

    Examples
    --------
    >>> from encoderlab.with_numpy.normalization import LayerNorm
    >>> cast(LayerNorm(4), np.float64).gamma.dtype
    dtype('float64')
    """
    if not np.issubdtype(np.dtype(dtype), np.floating):
        raise TypeError(f"dtype must be floating, got {np.dtype(dtype)}")
    new: dict[int, np.ndarray] = {}  # one array used in two places stays one
    for _, owner, attribute in _walk(layer):
        old = getattr(owner, attribute)
        setattr(
            owner, attribute, new.setdefault(id(old), old.astype(dtype, copy=False))
        )
    return layer


def load(
    layer: Layer, weights: Mapping[str, np.ndarray], ignore: Collection[str] = ()
) -> Layer:
    """Copy weights into a layer; every name and shape must fit, or nothing is changed.

    Parameters
    ----------
    layer
        The layer, changed in place. Its parameters keep their dtypes.
    weights
        Name to array, as :func:`parameters` names them.
    ignore
        Names in ``weights`` that the layer is known not to use.

    Returns
    -------
    object
        The same layer.

    Raises
    ------
    ValueError
        If a parameter is missing, extra or of another shape; the message names each.

    Notes
    -----
    Chapters 11 and 18.

    Examples
    --------
    >>> from encoderlab.with_numpy.normalization import LayerNorm
    >>> load(LayerNorm(2), {"gamma": np.ones(2), "beta": np.full(2, 3.0)}).beta
    array([3., 3.], dtype=float32)
    """
    own = parameters(layer)
    problems = [
        f"missing: {name} {own[name].shape}" for name in own if name not in weights
    ]
    problems += [
        f"extra: {name} {np.shape(weights[name])}"
        for name in weights
        if name not in own and name not in ignore
    ]
    problems += [
        f"wrong shape: {name}, expected {own[name].shape}, "
        f"got {np.shape(weights[name])}"
        for name in own
        if name in weights and np.shape(weights[name]) != own[name].shape
    ]
    if problems:
        raise ValueError(
            "the weights do not fit the layer, which is unchanged; check the "
            "configuration they were made with, or name what is not needed in "
            "`ignore`:\n  " + "\n  ".join(problems)
        )
    new = {name: np.array(weights[name], own[name].dtype) for name in own}
    for name, array in own.items():
        array[...] = new[name]
    return layer


def xavier_uniform(
    fan_in: int, fan_out: int, rng: np.random.Generator
) -> Float[np.ndarray, "fan_in fan_out"]:
    r"""Draw a weight matrix of moderate size, by its input's and output's widths.

    Parameters
    ----------
    fan_in, fan_out
        Widths of the input and the output, at least 1.
    rng
        Source of randomness.

    Returns
    -------
    np.ndarray
        float32, uniform in :math:`\pm\sqrt{6 / (\mathrm{fan\_in} +
        \mathrm{fan\_out})}`.

    Notes
    -----
    Glorot and Bengio, 2010, equation 16: a compromise between keeping the variance of
    the values on the way forward and of the gradients on the way back, which is exact
    for both if the widths are equal. Chapter 11.

    Examples
    --------
    >>> bool(np.abs(xavier_uniform(2, 4, np.random.default_rng(0))).max() <= 1)
    True
    """
    require_generator(rng)
    bound = sqrt(6 / (fan_in + fan_out))
    return rng.uniform(-bound, bound, (fan_in, fan_out)).astype(np.float32)


def zeros(*shape: int) -> Float[np.ndarray, "..."]:
    """Make a new bias.

    Parameters
    ----------
    shape
        Its shape.

    Returns
    -------
    np.ndarray
        float32 zeros.

    Examples
    --------
    >>> zeros(2)
    array([0., 0.], dtype=float32)
    """
    return np.zeros(shape, np.float32)


def embedding_table(*shape: int, rng: np.random.Generator) -> Float[np.ndarray, "..."]:
    """Draw a table of embeddings.

    Parameters
    ----------
    shape
        Its shape; the last axis is the model's width.
    rng
        Source of randomness.

    Returns
    -------
    np.ndarray
        float32, normal with mean 0 and standard deviation 0.02.

    Notes
    -----
    The standard deviation is BERT's (Devlin and others, 2019, in the published code).

    Examples
    --------
    >>> embedding_table(5, 4, rng=np.random.default_rng(0)).shape
    (5, 4)
    """
    require_generator(rng)
    return (0.02 * rng.standard_normal(shape)).astype(np.float32)


def require_generator(rng: object) -> None:
    """Refuse anything but a generator as a source of randomness.

    Parameters
    ----------
    rng
        What was passed as ``rng``.

    Raises
    ------
    TypeError
        If it is not a ``np.random.Generator``; the message says how to make one.

    Examples
    --------
    >>> require_generator(np.random.default_rng(0))
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng must be a np.random.Generator, got {type(rng).__name__}; make one "
            "with np.random.default_rng(seed)"
        )


def _walk(layer: Any, prefix: str = "") -> Iterator[tuple[str, Any, str]]:
    """Yield each parameter's name, the layer that owns it and the attribute it is."""
    for attribute, value in vars(layer).items():
        name = prefix + attribute
        if isinstance(value, np.ndarray):
            yield name, layer, attribute
        elif isinstance(value, list | tuple):
            for i, item in enumerate(value):
                if hasattr(item, "__dict__"):
                    yield from _walk(item, f"{name}.{i}.")
        elif hasattr(value, "__dict__"):
            yield from _walk(value, f"{name}.")
