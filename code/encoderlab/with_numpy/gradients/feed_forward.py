"""Backward pass of the feed-forward network."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.gradients.dropout import dropout_vjp
from encoderlab.with_numpy.gradients.functional import (
    gelu_tanh_vjp,
    gelu_vjp,
    linear_vjp,
    relu_vjp,
    silu_vjp,
)

ACTIVATION_VJPS = {
    "relu": relu_vjp,
    "gelu": gelu_vjp,
    "gelu_tanh": gelu_tanh_vjp,
    "silu": silu_vjp,
}


def feed_forward_vjp(
    layer: FeedForward,
    x: Float[np.ndarray, "*batch D"],
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "*batch D"], Callable]:
    """Run a feed-forward network; keep the way back.

    Parameters
    ----------
    layer
        The layer, whose arrays the way back reads: change them only after it was used.
    x, rng
        As in the layer's call.

    Returns
    -------
    y : np.ndarray
        New token vectors.
    backward : Callable
        From the gradient of ``y`` to that of ``x`` and, by name, of the parameters.

    Raises
    ------
    ValueError
        If the width of ``x`` does not fit.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> layer = FeedForward(4, 16, rng=np.random.default_rng(0))
    >>> y, backward = feed_forward_vjp(layer, np.ones((3, 4)))
    >>> d_x, gradients = backward(np.ones((3, 4)))
    >>> gradients["W_1"].shape
    (4, 16)
    """
    hidden, through_W_1 = linear_vjp(x, layer.W_1, layer.b_1)  # (*batch, F)
    hidden, through_activation = ACTIVATION_VJPS[layer.activation](hidden)
    hidden, through_dropout = dropout_vjp(hidden, layer.dropout, rng)
    y, through_W_2 = linear_vjp(hidden, layer.W_2, layer.b_2)  # (*batch, D)

    def backward(d_y):
        d_hidden, d_W_2, d_b_2 = through_W_2(d_y)  # (*batch, F)
        d_hidden = through_activation(through_dropout(d_hidden))
        d_x, d_W_1, d_b_1 = through_W_1(d_hidden)  # (*batch, D)
        return d_x, {"W_1": d_W_1, "b_1": d_b_1, "W_2": d_W_2, "b_2": d_b_2}

    return y, backward
