"""Optimisers: how large a step down the gradient is, for each parameter."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from encoderlab.with_numpy.parameters import parameters

Arrays = Mapping[str, np.ndarray]


class SGD:
    r"""Stochastic gradient descent, with momentum if wanted.

    .. math:: m \leftarrow \mu m + \bar\theta, \quad \theta \leftarrow \theta - \alpha m

    Parameters
    ----------
    parameters
        Name to array, as ``parameters(layer)`` gives them; changed in place.
    lr
        Learning rate :math:`\alpha`, above 0.
    momentum
        The share :math:`\mu` of the last step that is kept, in [0, 1).

    Raises
    ------
    TypeError
        If a parameter is not a floating array.
    ValueError
        If a number is out of range, or a parameter cannot be changed, or stands there
        twice.

    Notes
    -----
    Momentum in the form of Sutskever and others, 2013, as torch writes it. Chapter 13.

    Examples
    --------
    >>> theta = {"x": np.array([1.0])}
    >>> SGD(theta, lr=0.1).step({"x": np.array([2.0])})
    >>> theta["x"]
    array([0.8])
    """

    def __init__(self, parameters: Arrays, lr: float, momentum: float = 0.0):
        require_positive("lr", lr)
        _require_share("momentum", momentum)
        self.parameters, self.lr, self.momentum = _own(parameters), lr, momentum
        self.m = _zeros_like(self.parameters)

    def step(self, gradients: Arrays, factor: float = 1.0) -> None:
        """Change the parameters once.

        Parameters
        ----------
        gradients
            One for each parameter, by name.
        factor
            What a schedule multiplies the learning rate by.

        Raises
        ------
        ValueError
            If a gradient is missing, unknown or of another shape; nothing is changed.
        """
        _require_fit(gradients, self.parameters)
        for name, theta in self.parameters.items():
            self.m[name] = self.momentum * self.m[name] + gradients[name]
            theta -= self.lr * factor * self.m[name]


class Adam:
    r"""Steps of about the same size for every parameter, whatever its gradient's size.

    .. math:: m \leftarrow \beta_1 m + (1 - \beta_1) \bar\theta, \quad
        v \leftarrow \beta_2 v + (1 - \beta_2) \bar\theta^2, \quad
        \theta \leftarrow \theta
        - \alpha \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}

    Parameters
    ----------
    parameters
        Name to array, as ``parameters(layer)`` gives them; changed in place.
    lr
        Learning rate :math:`\alpha`, above 0.
    betas
        How much of the two running means a step keeps, each in [0, 1).
    eps
        Added to the root, above 0.

    Raises
    ------
    TypeError, ValueError
        As :class:`SGD` does.

    Notes
    -----
    Kingma and Ba, 2015, algorithm 1. Both means start at 0, hence the division by
    :math:`1 - \beta^t` at step t. Chapter 13.

    Examples
    --------
    >>> theta = {"x": np.array([1.0, 1.0])}
    >>> Adam(theta, lr=0.1).step({"x": np.array([5.0, -0.001])})
    >>> theta["x"].round(4)
    array([0.9, 1.1])
    """

    def __init__(
        self,
        parameters: Arrays,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ):
        require_positive("lr", lr)
        require_positive("eps", eps)
        beta_1, beta_2 = betas
        _require_share("each of betas", beta_1)
        _require_share("each of betas", beta_2)
        self.parameters, self.lr = _own(parameters), lr
        self.betas, self.eps = betas, eps
        self.m, self.v = _zeros_like(self.parameters), _zeros_like(self.parameters)
        self.t = 0

    def step(self, gradients: Arrays, factor: float = 1.0) -> None:
        """Change the parameters once.

        Parameters
        ----------
        gradients
            One for each parameter, by name.
        factor
            What a schedule multiplies the learning rate by.

        Raises
        ------
        ValueError
            If a gradient is missing, unknown or of another shape; nothing is changed.
        """
        _require_fit(gradients, self.parameters)
        self.t += 1
        beta_1, beta_2 = self.betas
        correction_1, correction_2 = 1 - beta_1**self.t, 1 - beta_2**self.t
        for name, theta in self.parameters.items():
            m, v, gradient = self.m[name], self.v[name], gradients[name]
            m += (1 - beta_1) * (gradient - m)
            v += (1 - beta_2) * (gradient * gradient - v)
            root = np.sqrt(v / correction_2) + self.eps
            theta -= (self.lr * factor / correction_1) * m / root


class Group(NamedTuple):
    """Parameters that decay alike.

    Attributes
    ----------
    parameters
        Name to array.
    weight_decay
        The share of each value, times the learning rate, that a step takes off; at
        least 0.
    """

    parameters: Arrays
    weight_decay: float = 0.0


class AdamW(Adam):
    r"""Adam, with a decay of the weights that does not go through the running means.

    .. math:: \theta \leftarrow (1 - \alpha \lambda) \, \theta, \quad
        \text{then a step of Adam}

    Parameters
    ----------
    groups
        Parameters, each group with its own :math:`\lambda`; from :func:`decay_groups`.
    lr, betas, eps
        As in :class:`Adam`.

    Raises
    ------
    TypeError
        If ``groups`` does not hold groups.
    ValueError
        As :class:`SGD` does, or if a name stands in two groups.

    Notes
    -----
    Loshchilov and Hutter, 2019, algorithm 2. Chapter 13.

    Examples
    --------
    >>> theta = {"W": np.array([[2.0]])}
    >>> optimizer = AdamW([Group(theta, weight_decay=0.5)], lr=0.1)
    >>> optimizer.step({"W": np.array([[0.0]])})
    >>> theta["W"]
    array([[1.9]])
    """

    def __init__(
        self,
        groups: Sequence[Group],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ):
        everything: dict[str, np.ndarray] = {}
        self.decay: dict[str, float] = {}
        for group in groups:
            if not isinstance(group, Group):
                raise TypeError(
                    f"groups must hold Group objects, got {type(group).__name__}; make "
                    "them with decay_groups(layer, weight_decay)"
                )
            if not 0 <= group.weight_decay < inf:
                raise ValueError(
                    f"weight_decay must be at least 0, got {group.weight_decay}"
                )
            twice = everything.keys() & group.parameters.keys()
            if twice:
                raise ValueError(f"these are in two groups: {', '.join(sorted(twice))}")
            everything |= group.parameters
            self.decay |= dict.fromkeys(group.parameters, group.weight_decay)
        super().__init__(everything, lr, betas, eps)

    def step(self, gradients: Arrays, factor: float = 1.0) -> None:
        """Let the weights decay and change them once; as :meth:`Adam.step`."""
        _require_fit(gradients, self.parameters)
        for name, theta in self.parameters.items():
            theta *= 1.0 - self.lr * factor * self.decay[name]
        super().step(gradients, factor)


def decay_groups(layer: object, weight_decay: float) -> list[Group]:
    """Sort a layer's parameters by what they are: matrices decay, vectors do not.

    Parameters
    ----------
    layer
        Any layer.
    weight_decay
        For the matrices: weights of linear maps and tables of embeddings. Biases and
        the norms' scales and shifts, which have one axis, get 0.

    Returns
    -------
    list of Group
        The matrices, then the vectors.

    Notes
    -----
    By kind and not by name: a rule that looks for ``bias`` and ``LayerNorm`` in the
    names misses those that are called otherwise. Chapter 13.

    Examples
    --------
    >>> from encoderlab.with_numpy.feed_forward import FeedForward
    >>> layer = FeedForward(4, 8, rng=np.random.default_rng(0))
    >>> [sorted(group.parameters) for group in decay_groups(layer, 0.01)]
    [['W_1', 'W_2'], ['b_1', 'b_2']]
    """
    own = parameters(layer)
    return [
        Group({n: a for n, a in own.items() if a.ndim > 1}, weight_decay),
        Group({n: a for n, a in own.items() if a.ndim <= 1}, 0.0),
    ]


def require_positive(name: str, value: float) -> None:
    """Refuse a number that is not above 0, or is infinite.

    Parameters
    ----------
    name
        What the message calls it.
    value
        The number.

    Raises
    ------
    ValueError
        If it is not above 0 and finite.

    Examples
    --------
    >>> require_positive("lr", 0.1)
    """
    if not 0 < value < inf:
        raise ValueError(f"{name} must be above 0 and finite, got {value}")


def _own(parameters):
    """The arrays to change, refused where they could not be, or would be twice."""
    names: dict[int, str] = {}
    for name, array in parameters.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            kind = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"{name} must be a floating array, got {kind}")
        if not array.flags.writeable:
            raise ValueError(f"{name} is read-only; give a copy of it to the layer")
        if id(array) in names:
            raise ValueError(
                f"{names[id(array)]} and {name} are one array, which would be changed "
                "twice; give it once, with the sum of both gradients"
            )
        names[id(array)] = name
    return dict(parameters)


def _zeros_like(arrays):
    return {name: np.zeros_like(array) for name, array in arrays.items()}


def _require_fit(gradients, own):
    problems = [f"missing: {name}" for name in own if name not in gradients]
    problems += [f"unknown: {name}" for name in gradients if name not in own]
    problems += [
        f"wrong shape: {name}, expected {array.shape}, got {np.shape(gradients[name])}"
        for name, array in own.items()
        if name in gradients and np.shape(gradients[name]) != array.shape
    ]
    if problems:
        raise ValueError(
            "the gradients do not fit the parameters, which are unchanged:\n  "
            + "\n  ".join(problems)
        )


def _require_share(name, value):
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be in [0, 1), got {value}")
