"""Backward passes of attention, in the letters of the forward file."""

from collections.abc import Callable
from math import sqrt

import numpy as np
from jaxtyping import Bool, Float

from encoderlab.with_numpy.attention import (
    MultiHeadAttention,
    merge_heads,
    require_matching,
    require_score_axes,
    require_tokens,
    split_heads,
)
from encoderlab.with_numpy.functional import as_float
from encoderlab.with_numpy.gradients.chain import require_upstream
from encoderlab.with_numpy.gradients.dropout import dropout_vjp
from encoderlab.with_numpy.gradients.functional import (
    linear_vjp,
    masked_softmax_vjp,
    softmax_vjp,
)


def attention_vjp(
    q: Float[np.ndarray, "*batch T K"],
    k: Float[np.ndarray, "*batch S K"],
    v: Float[np.ndarray, "*batch S E"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    dropout_p: float = 0.0,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "*batch T E"], Callable]:
    r"""Compute the context of attention; keep the way back.

    .. math:: \bar V = A^\top \bar C, \quad \bar A = \bar C V^\top, \quad
        \bar Q = \bar S K / \sqrt d, \quad \bar K = \bar S^\top Q / \sqrt d

    for weights A = softmax(S), scores :math:`S = Q K^\top / \sqrt d` and context C = A
    V; softmax leads from the gradient of A to that of S.

    Parameters
    ----------
    q, k, v, mask, dropout_p, rng
        As in the forward function.

    Returns
    -------
    context : np.ndarray
        One average of values for each query.
    backward : Callable
        From the gradient of the context to those of ``q``, ``k`` and ``v``. A query
        that may attend to nothing gets and gives zeros.

    Raises
    ------
    TypeError, ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> q, k, v = np.zeros((1, 2)), np.eye(2), np.array([[1.0], [3.0]])
    >>> context, backward = attention_vjp(q, k, v)
    >>> d_q, d_k, d_v = backward(np.ones((1, 1)))
    >>> d_v
    array([[0.5],
           [0.5]])
    """
    q, k, v = as_float(q), as_float(k), as_float(v)
    require_matching(q, k, v)
    scale = 1 / sqrt(q.shape[-1])
    scores = (q * scale) @ k.swapaxes(-1, -2)  # (*batch, T, S)
    weights, through_softmax = (
        softmax_vjp(scores) if mask is None else masked_softmax_vjp(scores, mask)
    )
    kept, through_dropout = dropout_vjp(weights, dropout_p, rng)
    context = kept @ v  # (*batch, T, E)

    def backward(d_context):
        require_upstream(d_context, context)
        d_v = kept.swapaxes(-1, -2) @ d_context
        d_kept = d_context @ v.swapaxes(-1, -2)  # (*batch, T, S)
        d_scores = scale * through_softmax(through_dropout(d_kept))
        return d_scores @ k, d_scores.swapaxes(-1, -2) @ q, d_v

    return context, backward


def split_heads_vjp(
    x: Float[np.ndarray, "*batch T D"], num_heads: int
) -> tuple[Float[np.ndarray, "*batch H T K"], Callable]:
    """Split into heads; the way back merges them.

    Parameters
    ----------
    x, num_heads
        As in the forward function.

    Returns
    -------
    pieces : np.ndarray
        One piece for each head.
    backward : Callable
        From the gradient of the pieces to that of ``x``.

    Raises
    ------
    ValueError
        As the forward function does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> pieces, backward = split_heads_vjp(np.ones((5, 12)), 3)
    >>> backward(pieces).shape
    (5, 12)
    """
    return split_heads(x, num_heads), merge_heads


def merge_heads_vjp(
    x: Float[np.ndarray, "*batch H T K"],
) -> tuple[Float[np.ndarray, "*batch T D"], Callable]:
    """Merge heads; the way back splits them.

    Parameters
    ----------
    x
        Pieces, heads before tokens.

    Returns
    -------
    y : np.ndarray
        Token vectors.
    backward : Callable
        From the gradient of ``y`` to that of the pieces.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> y, backward = merge_heads_vjp(np.ones((3, 5, 4)))
    >>> backward(y).shape
    (3, 5, 4)
    """
    num_heads = x.shape[-3]
    return merge_heads(x), lambda d_y: split_heads(d_y, num_heads)


def multi_head_attention_vjp(
    layer: MultiHeadAttention,
    x: Float[np.ndarray, "*batch T D"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "*batch T D"], Callable]:
    """Run multi-head attention; keep the way back.

    Parameters
    ----------
    layer
        The layer, whose arrays the way back reads: change them only after it was used.
    x, mask, rng
        As in the layer's call.

    Returns
    -------
    output : np.ndarray
        New token vectors.
    backward : Callable
        From the gradient of the output to that of ``x``, which adds up those of the
        queries, the keys and the values, and, by name, of the parameters.

    Raises
    ------
    TypeError, ValueError
        As the layer does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> layer = MultiHeadAttention(4, 2, rng=np.random.default_rng(0))
    >>> output, backward = multi_head_attention_vjp(layer, np.ones((1, 3, 4)))
    >>> d_x, gradients = backward(np.ones((1, 3, 4)))
    >>> gradients["W_q"].shape
    (4, 4)
    """
    x = as_float(x)
    require_tokens(x, layer.d_model)
    if mask is not None:
        require_score_axes(mask, x)
    q, through_W_q = linear_vjp(x, layer.W_q, layer.b_q)
    k, through_W_k = linear_vjp(x, layer.W_k, layer.b_k)
    v, through_W_v = linear_vjp(x, layer.W_v, layer.b_v)
    q, merge_q = split_heads_vjp(q, layer.num_heads)  # (B, H, T, K)
    k, merge_k = split_heads_vjp(k, layer.num_heads)
    v, merge_v = split_heads_vjp(v, layer.num_heads)
    context, through_attention = attention_vjp(
        q, k, v, mask, dropout_p=layer.dropout, rng=rng
    )
    merged, split = merge_heads_vjp(context)  # (B, T, D)
    output, through_W_o = linear_vjp(merged, layer.W_o, layer.b_o)

    def backward(d_output):
        d_merged, d_W_o, d_b_o = through_W_o(d_output)
        d_q, d_k, d_v = through_attention(split(d_merged))  # (B, H, T, K)
        d_x_q, d_W_q, d_b_q = through_W_q(merge_q(d_q))
        d_x_k, d_W_k, d_b_k = through_W_k(merge_k(d_k))
        d_x_v, d_W_v, d_b_v = through_W_v(merge_v(d_v))
        gradients = {"W_q": d_W_q, "W_k": d_W_k, "W_v": d_W_v, "W_o": d_W_o}
        gradients |= {"b_q": d_b_q, "b_k": d_b_k, "b_v": d_b_v, "b_o": d_b_o}
        return d_x_q + d_x_k + d_x_v, gradients

    return output, backward
