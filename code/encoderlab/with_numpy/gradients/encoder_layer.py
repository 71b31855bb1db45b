"""Backward passes of the residual connection and of the encoder layer."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Bool, Float

from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.gradients.attention import multi_head_attention_vjp
from encoderlab.with_numpy.gradients.chain import Step, chain, named
from encoderlab.with_numpy.gradients.dropout import dropout_vjp
from encoderlab.with_numpy.gradients.feed_forward import feed_forward_vjp
from encoderlab.with_numpy.gradients.normalization import norm_vjp


def residual_vjp(
    x: Float[np.ndarray, "*shape"], sublayer: Step
) -> tuple[Float[np.ndarray, "*shape"], Callable]:
    r"""Add what a sublayer makes of its input to that input; keep the way back.

    .. math:: y = x + F(x), \quad \bar x = \bar y + \bar y \, J_F

    Parameters
    ----------
    x
        Token vectors.
    sublayer
        A step F: it returns its output and the way back from there.

    Returns
    -------
    y : np.ndarray
        The sum.
    backward : Callable
        From the gradient of ``y`` to that of ``x`` and, by name, of the sublayer's
        parameters.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = residual_vjp(np.ones(2), lambda x: (3 * x, lambda d: (3 * d, {})))
    >>> backward(np.ones(2))
    (array([4., 4.]), {})
    """
    changed, through_sublayer = sublayer(x)

    def backward(d_y):
        d_x, gradients = through_sublayer(d_y)
        return d_y + d_x, gradients

    return x + changed, backward


def encoder_layer_vjp(
    layer: EncoderLayer,
    x: Float[np.ndarray, "*batch T D"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "*batch T D"], Callable]:
    """Run an encoder layer in its order of norms; keep the way back.

    Parameters
    ----------
    layer
        The layer, whose arrays the way back reads: change them only after it was used.
    x, mask, rng
        As in the layer's call.

    Returns
    -------
    y : np.ndarray
        New token vectors.
    backward : Callable
        From the gradient of ``y`` to that of ``x`` and, by name, of the parameters.

    Raises
    ------
    TypeError, ValueError
        As the layer does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> layer = EncoderLayer(8, 2, 32, rng=np.random.default_rng(0))
    >>> y, backward = encoder_layer_vjp(layer, np.ones((1, 5, 8)))
    >>> d_x, gradients = backward(np.ones((1, 5, 8)))
    >>> gradients["attention.W_q"].shape
    (8, 8)
    """

    def drop(x):
        y, way_back = dropout_vjp(x, layer.dropout, rng)
        return y, lambda d_y: (way_back(d_y), {})

    attention = partial(multi_head_attention_vjp, layer.attention, mask=mask, rng=rng)
    feed_forward = partial(feed_forward_vjp, layer.feed_forward, rng=rng)
    attend = chain(named("attention", attention), drop)
    transform = chain(named("feed_forward", feed_forward), drop)
    norm_1 = named("norm_1", partial(norm_vjp, layer.norm_1))
    norm_2 = named("norm_2", partial(norm_vjp, layer.norm_2))
    if layer.norm_first:
        first: Step = partial(residual_vjp, sublayer=chain(norm_1, attend))
        second: Step = partial(residual_vjp, sublayer=chain(norm_2, transform))
    else:
        first = chain(partial(residual_vjp, sublayer=attend), norm_1)
        second = chain(partial(residual_vjp, sublayer=transform), norm_2)
    return chain(first, second)(x)
