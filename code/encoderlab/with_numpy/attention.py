"""Scaled dot-product attention, and the layer that runs it in several heads.

Shapes: B batch, T query length, S key length, D model width, H heads, K width of a
head, E width of a value.
"""

from math import sqrt

import numpy as np
from jaxtyping import Bool, Float

from encoderlab.with_numpy.dropout import dropout, require_probability
from encoderlab.with_numpy.functional import as_float, linear, masked_softmax, softmax
from encoderlab.with_numpy.parameters import xavier_uniform, zeros


def attention(
    q: Float[np.ndarray, "*batch T K"],
    k: Float[np.ndarray, "*batch S K"],
    v: Float[np.ndarray, "*batch S E"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    dropout_p: float = 0.0,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "*batch T E"], Float[np.ndarray, "*batch T S"]]:
    r"""Answer each query with a weighted average of the values.

    .. math::
        \mathrm{attention}(Q, K, V)
        = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V

    with d the width of a query and a key (K in the shapes).

    Parameters
    ----------
    q, k, v
        Queries, keys and values; a value belongs to the key at the same position.
    mask
        True where a query may attend to a key; broadcasts to the scores. None allows
        all.
    dropout_p
        Probability of dropping a weight, in [0, 1).
    rng
        Source of randomness; None switches dropout off.

    Returns
    -------
    context : np.ndarray
        One average of values for each query. A query that may attend to nothing gets
        zeros.
    weights : np.ndarray
        The weights before dropout; each row sums to 1, or to 0 if nothing is allowed.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean.
    ValueError
        If the shapes do not fit together, there is no key, or ``dropout_p`` is out of
        range.

    Notes
    -----
    Vaswani and others, 2017, section 3.2.1. A NaN among the values reaches every query
    of its sequence, at masked positions too, since 0 times NaN is NaN. Chapter 03.

    Examples
    --------
    >>> q = np.array([[4.0, 0.0]])
    >>> k, v = np.eye(2), np.array([[1.0], [0.0]])
    >>> context, weights = attention(q, k, v)
    >>> weights.round(4)  # scores 4 and 0, divided by the root of 2
    array([[0.9442, 0.0558]])
    """
    q, k, v = as_float(q), as_float(k), as_float(v)
    require_matching(q, k, v)
    scores = (q / sqrt(q.shape[-1])) @ k.swapaxes(-1, -2)  # (*batch, T, S)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    context = dropout(weights, dropout_p, rng) @ v  # (*batch, T, E)
    return context, weights


def split_heads(
    x: Float[np.ndarray, "*batch T D"], num_heads: int
) -> Float[np.ndarray, "*batch H T K"]:
    """Cut each token's vector into one piece for each head, heads before tokens.

    Parameters
    ----------
    x
        Token vectors.
    num_heads
        Heads H; divides D. Head h gets coordinates h K to (h + 1) K - 1.

    Returns
    -------
    np.ndarray
        The pieces, of width K = D / H.

    Raises
    ------
    ValueError
        If ``num_heads`` does not divide the width.

    Notes
    -----
    The axes are swapped after the reshape: a reshape alone would cut between tokens.
    Chapter 05.

    Examples
    --------
    >>> split_heads(np.array([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]), 2)
    array([[[0., 1.],
            [4., 5.]],
    <BLANKLINE>
           [[2., 3.],
            [6., 7.]]])
    """
    *batch, T, D = x.shape
    if num_heads < 1 or D % num_heads:
        raise ValueError(
            "num_heads must divide the width of x, got "
            f"num_heads={num_heads} and width {D}"
        )
    return x.reshape(*batch, T, num_heads, D // num_heads).swapaxes(-2, -3)


def merge_heads(
    x: Float[np.ndarray, "*batch H T K"],
) -> Float[np.ndarray, "*batch T D"]:
    """Join the heads' pieces into one vector a token: undoes :func:`split_heads`.

    Parameters
    ----------
    x
        Pieces, heads before tokens.

    Returns
    -------
    np.ndarray
        Token vectors of width D = H K.

    Notes
    -----
    Chapter 05.

    Examples
    --------
    >>> x = np.arange(24.0).reshape(2, 3, 4)
    >>> bool((merge_heads(split_heads(x, 2)) == x).all())
    True
    """
    *batch, H, T, K = x.shape
    return x.swapaxes(-2, -3).reshape(*batch, T, H * K)


class MultiHeadAttention:
    """Self-attention in several heads, each on its own projection of the tokens.

    Parameters
    ----------
    d_model
        Width of a token's vector, D.
    num_heads
        Heads H; divides ``d_model``.
    dropout
        Probability of dropping an attention weight, in [0, 1).
    rng
        Source of the initial weights.

    Attributes
    ----------
    W_q, W_k, W_v, W_o : np.ndarray
        Matrices (D, D) that make queries, keys and values, and mix the heads' results;
        used as ``x @ W + b``, with head h in columns h K to (h + 1) K - 1 of the first
        three.
    b_q, b_k, b_v, b_o : np.ndarray
        Their biases (D,).

    Raises
    ------
    ValueError
        If ``num_heads`` does not divide ``d_model``, or ``dropout`` is out of range.

    Notes
    -----
    Vaswani and others, 2017, section 3.2.2, with biases as in BERT. Chapter 05.

    Examples
    --------
    >>> layer = MultiHeadAttention(4, 2, rng=np.random.default_rng(0))
    >>> output, weights = layer(np.ones((1, 3, 4), np.float32))
    >>> output.shape, weights.shape
    ((1, 3, 4), (1, 2, 3, 3))
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        rng: np.random.Generator,
    ):
        if num_heads < 1 or d_model < 1 or d_model % num_heads:
            raise ValueError(
                "d_model must be divisible by num_heads, got "
                f"d_model={d_model} and num_heads={num_heads}"
            )
        require_probability(dropout)
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        self.W_q, self.b_q = xavier_uniform(d_model, d_model, rng), zeros(d_model)
        self.W_k, self.b_k = xavier_uniform(d_model, d_model, rng), zeros(d_model)
        self.W_v, self.b_v = xavier_uniform(d_model, d_model, rng), zeros(d_model)
        self.W_o, self.b_o = xavier_uniform(d_model, d_model, rng), zeros(d_model)

    def __call__(
        self,
        x: Float[np.ndarray, "*batch T D"],
        mask: Bool[np.ndarray, "..."] | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "*batch T D"], Float[np.ndarray, "*batch H T T"]]:
        """Let every token gather from the tokens it may attend to.

        Parameters
        ----------
        x
            Token vectors.
        mask
            True where a query may attend to a key, with the axes of the scores, (B, H,
            T, S): from ``padding_mask`` or ``causal_mask``, or a (B, T, T) array as
            ``mask[:, None]``.
        rng
            Source of dropout's randomness; None switches dropout off.

        Returns
        -------
        output : np.ndarray
            New token vectors.
        weights : np.ndarray
            Each head's attention weights, before dropout.

        Raises
        ------
        TypeError
            If ``mask`` is not boolean.
        ValueError
            If the width of ``x`` is not ``d_model``, or ``mask`` lacks an axis.
        """
        x = as_float(x)
        require_tokens(x, self.d_model)
        if mask is not None:
            require_score_axes(mask, x)
        q = split_heads(linear(x, self.W_q, self.b_q), self.num_heads)  # (B, H, T, K)
        k = split_heads(linear(x, self.W_k, self.b_k), self.num_heads)
        v = split_heads(linear(x, self.W_v, self.b_v), self.num_heads)
        context, weights = attention(q, k, v, mask, dropout_p=self.dropout, rng=rng)
        return linear(merge_heads(context), self.W_o, self.b_o), weights  # (B, T, D)


def require_matching(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    """Refuse queries, keys and values that do not belong together.

    Parameters
    ----------
    q, k, v
        As :func:`attention` takes them.

    Raises
    ------
    ValueError
        If their axes do not fit together, or there is no key.

    Examples
    --------
    >>> require_matching(np.ones((2, 3)), np.ones((5, 3)), np.ones((5, 4)))
    """
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise ValueError(
            "q, k and v need a token and a width axis, got "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"queries and keys must have one width, got q {q.shape} and k {k.shape}"
        )
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"there must be one value for each key, got k {k.shape} and v {v.shape}"
        )
    if not (q.shape[:-2] == k.shape[:-2] == v.shape[:-2]):
        raise ValueError(
            "q, k and v must have the same batch axes, got "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    if k.shape[-2] == 0 or q.shape[-1] == 0:
        raise ValueError(
            f"attention needs at least one key of width 1 or more, got k {k.shape}"
        )


def require_tokens(x: np.ndarray, d_model: int) -> None:
    """Refuse what are no token vectors of a width.

    Parameters
    ----------
    x
        Token vectors.
    d_model
        Their width.

    Raises
    ------
    ValueError
        If there is no token axis, or another width.

    Examples
    --------
    >>> require_tokens(np.ones((5, 12)), 12)
    """
    if x.ndim < 2 or x.shape[-1] != d_model:
        raise ValueError(
            f"x must have shape (..., T, {d_model}) for d_model={d_model}, got "
            f"{x.shape}"
        )


def require_score_axes(mask: np.ndarray, x: np.ndarray) -> None:
    """Refuse a mask that lacks an axis of the scores: it would be taken amiss.

    Parameters
    ----------
    mask
        The mask given to a layer.
    x
        The token vectors given with it.

    Raises
    ------
    ValueError
        If ``mask`` does not have one axis more than ``x``; the message says how to make
        one that fits.

    Examples
    --------
    >>> require_score_axes(np.ones((1, 1, 5, 5), bool), np.ones((2, 5, 12)))
    """
    axes = x.ndim + 1
    if np.ndim(mask) != axes:
        raise ValueError(
            f"mask must have the {axes} axes of the scores, (batch, heads, queries, "
            f"keys), got shape {np.shape(mask)}; for padding use padding_mask(lengths, "
            "max_len), for one mask a sequence mask[:, None]"
        )
