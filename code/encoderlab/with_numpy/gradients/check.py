"""Is a gradient right? Ask the function itself, one small step at a time."""

from collections.abc import Callable
from math import inf, sqrt

import numpy as np

from encoderlab.with_numpy.parameters import parameters, require_generator

STEP = 1e-6


def check_gradient(
    f: Callable,
    *arrays: np.ndarray,
    layer: object = None,
    places: int | None = None,
    rng: np.random.Generator | None = None,
) -> float:
    r"""Compare a backward pass with central differences.

    .. math:: n_i = \sum \bar y \, \frac{y(x + h_i e_i) - y(x - h_i e_i)}{2 h_i}, \quad
        h_i = 10^{-6} \max(1, |x_i|)

    The upstream gradient :math:`\bar y` is random: one of ones cannot see some errors.

    Parameters
    ----------
    f
        Takes the arrays and returns its output and the way back from there, as every
        ``name_vjp`` does.
    arrays
        Inputs in float64; each is changed in a copy, place by place.
    layer
        A layer that ``f`` runs: its parameters, float64 too, are checked as well, and
        ``f``'s way back gives, after the gradient of the first input, one by name for
        each. A place is changed for a moment and put back.
    places
        How many places of each array to check, drawn at random; None checks all. Each
        costs two runs of ``f``.
    rng
        Draws the upstream gradient and the places; None stands for ``default_rng(0)``.

    Returns
    -------
    float
        The largest relative error ‖a − n‖ / (‖a‖ + ‖n‖) of one gradient, after what
        rounding alone makes of a difference is taken off: without that, the gradient of
        the keys' bias, which is 0, would look wrong. Below 1e-7 all is right that
        differences can see: not a gradient that is tiny beside the output. Infinite if
        a gradient or an output is not finite.

    Raises
    ------
    TypeError
        If an array is not float64: in float32 rounding hides the gradient.
    ValueError
        If ``places`` is below 1, or a gradient is missing, is one of nothing, or has
        another shape than its array.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> def square_vjp(x):
    ...     return x * x, lambda d_y: 2 * x * d_y
    >>> check_gradient(square_vjp, np.array([1.0, -3.0])) < 1e-7
    True
    """
    copies = [np.array(array) for array in arrays]
    own = parameters(layer) if layer is not None else {}
    checked = dict(enumerate(copies)) | own
    for name, array in checked.items():
        if array.dtype != np.float64:
            raise TypeError(f"{_label(name)} must be float64, got {array.dtype}")
    if places is not None and places < 1:
        raise ValueError(f"places must be at least 1, got {places}")
    rng = np.random.default_rng(0) if rng is None else rng
    require_generator(rng)
    output, backward = f(*copies)
    upstream = rng.standard_normal(np.shape(output))
    analytic = _by_place(backward(upstream), layer is not None)
    if analytic.keys() != checked.keys():
        names = analytic.keys() ^ checked.keys()
        raise ValueError(
            "the way back must give one gradient for each array; missing or unknown: "
            + ", ".join(sorted(map(_label, names)))
        )
    # an output is the result of some ten roundings
    rounding = 10 * np.finfo(float).eps * np.linalg.norm(upstream * output) / STEP
    worst = 0.0
    for name, array in checked.items():
        if np.shape(analytic[name]) != array.shape:
            raise ValueError(
                f"the gradient of {_label(name)} must have its shape, {array.shape}, "
                f"got {np.shape(analytic[name])}"
            )
        chosen = np.arange(array.size)
        if places is not None and places < array.size:
            chosen = rng.choice(array.size, places, replace=False)
        slopes = _slopes(lambda: f(*copies)[0], array, chosen)
        numeric = np.array([np.sum(upstream * slope) for slope in slopes])
        found = np.ravel(analytic[name])[chosen]
        size = np.linalg.norm(found) + np.linalg.norm(numeric)
        error = np.linalg.norm(found - numeric) - rounding * sqrt(chosen.size)
        if not np.isfinite(error):
            worst = inf
        elif error > 0:
            worst = max(worst, float(error / size))
    return worst


def _by_place(gradients, has_parameters):
    """Number the inputs' gradients; those of parameters have their names."""
    named = {}
    if has_parameters:
        gradients, named = gradients
    if gradients is None:  # ids have no gradient
        return named
    several = isinstance(gradients, tuple)
    return dict(enumerate(gradients if several else [gradients])) | named


def _slopes(output, array, places):
    """How the output changes with each of some places of an array, put back after."""
    for place in places:
        kept = array.flat[place]
        h = STEP * max(1.0, abs(kept))
        try:
            array.flat[place] = kept + h
            above = np.array(output())  # it may be a view of the array itself
            array.flat[place] = kept - h
            below = np.array(output())
        finally:
            array.flat[place] = kept
        yield (above - below) / (2 * h)


def _label(name):
    return name if isinstance(name, str) else f"input {name}"
