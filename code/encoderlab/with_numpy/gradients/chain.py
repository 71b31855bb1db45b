"""The chain rule as a function: run steps in turn, and their ways back in reverse.

A step takes an array and returns its output and the way back from there, which gives
the gradient of the step's input and, by name, those of its parameters.
"""

from collections.abc import Callable

import numpy as np

Step = Callable[..., tuple]


def chain(*steps: Step) -> Step:
    r"""Make one step of several: :math:`\bar x = \bar y \, J_n \cdots J_1`.

    Parameters
    ----------
    steps
        From first to last.

    Returns
    -------
    Callable
        A step itself; its way back raises a ValueError if two steps name their
        parameters alike, since one gradient would replace the other.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> def double(x):
    ...     return 2 * x, lambda d_y: (2 * d_y, {})
    >>> y, backward = chain(double, double, double)(5.0)
    >>> y, backward(1.0)
    (40.0, (8.0, {}))
    """

    def run(x):
        ways_back = []
        for step in steps:
            x, way_back = step(x)
            ways_back.append(way_back)

        def backward(d):
            gradients: dict[str, np.ndarray] = {}
            for way_back in reversed(ways_back):
                d, found = way_back(d)
                if twice := gradients.keys() & found.keys():
                    raise ValueError(
                        f"two steps have the same names, {', '.join(sorted(twice))}; "
                        "put a name before one of them with named"
                    )
                gradients |= found
            return d, gradients

        return x, backward

    return run


def require_upstream(d_y: object, y: object) -> None:
    """Refuse an upstream gradient that would be broadcast, or not fit, silently.

    Parameters
    ----------
    d_y
        The gradient that a way back is given.
    y
        The output that it is the gradient of.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> require_upstream(np.ones(3), np.zeros(3))
    """
    got, expected = np.shape(np.asarray(d_y)), np.shape(np.asarray(y))
    if got != expected:
        raise ValueError(
            "the gradient of the output must have the output's shape, expected "
            f"{expected}, got {got}"
        )


def named(name: str, step: Step) -> Step:
    """Put a sublayer's name before the names of its parameters.

    Parameters
    ----------
    name
        The attribute that holds the sublayer, such as ``norm_1``.
    step
        The sublayer's step.

    Returns
    -------
    Callable
        The same step with gradients named ``norm_1.gamma`` and so on, as
        :func:`~encoderlab.with_numpy.parameters.parameters` names them.

    Examples
    --------
    >>> step = named("norm", lambda x: (x, lambda d_y: (d_y, {"beta": d_y})))
    >>> y, backward = step(3.0)
    >>> backward(1.0)
    (1.0, {'norm.beta': 1.0})
    """

    def run(x):
        y, way_back = step(x)

        def backward(d_y):
            d_x, gradients = way_back(d_y)
            return d_x, {f"{name}.{key}": array for key, array in gradients.items()}

        return y, backward

    return run
