"""Scaled dot-product attention, and the layer that runs it in several heads.

Shapes: B batch, T query length, S key length, D model width, H heads, K width of a
head, E width of a value.
"""

from math import sqrt

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from encoderlab.with_torch.dropout import dropout, require_probability
from encoderlab.with_torch.functional import masked_softmax, softmax
from encoderlab.with_torch.masks import require_mask
from encoderlab.with_torch.parameters import new_linear


def attention(
    q: Float[Tensor, "*batch T K"],
    k: Float[Tensor, "*batch S K"],
    v: Float[Tensor, "*batch S E"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    dropout_p: float = 0.0,
    need_weights: bool = False,
) -> tuple[Float[Tensor, "*batch T E"], Float[Tensor, "*batch T S"] | None]:
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
        Probability of dropping a weight, in [0, 1); 0 switches dropout off.
    need_weights
        True returns the weights, at the price of holding all (T, S) of them in memory.

    Returns
    -------
    context : Tensor
        One average of values for each query. A query that may attend to nothing gets
        zeros.
    weights : Tensor or None
        The weights before dropout, if asked for; each row sums to 1, or to 0 if nothing
        is allowed.

    Raises
    ------
    TypeError
        If ``mask`` is not boolean.
    ValueError
        If the shapes do not fit together, there is no key, or ``dropout_p`` is out of
        range.

    Notes
    -----
    Vaswani and others, 2017, section 3.2.1. Without the weights it is PyTorch's
    ``scaled_dot_product_attention``, which never holds them all (Dao and others, 2022).
    Chapters 03 and 14.

    Examples
    --------
    >>> q = torch.tensor([[4.0, 0.0]])
    >>> k, v = torch.eye(2), torch.tensor([[1.0], [0.0]])
    >>> context, weights = attention(q, k, v, need_weights=True)
    >>> weights  # scores 4 and 0, divided by the root of 2
    tensor([[0.9442, 0.0558]])
    >>> attention(q, k, v)
    (tensor([[0.9442]]), None)
    """
    require_matching(q, k, v)
    require_probability(dropout_p)
    if mask is not None:
        require_mask(mask, q.shape[:-1] + k.shape[-2:-1])
        mask = torch.atleast_2d(mask)  # PyTorch's function wants both axes
    if not need_weights:
        context = F.scaled_dot_product_attention(q, k, v, mask, dropout_p)
        return context, None
    scores = (q / sqrt(q.shape[-1])) @ k.transpose(-1, -2)  # (*batch, T, S)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    context = dropout(weights, dropout_p) @ v  # (*batch, T, E)
    return context, weights


def split_heads(
    x: Float[Tensor, "*batch T D"], num_heads: int
) -> Float[Tensor, "*batch H T K"]:
    """Cut each token's vector into one piece for each head, heads before tokens.

    Parameters
    ----------
    x
        Token vectors.
    num_heads
        Heads H; divides D. Head h gets coordinates h K to (h + 1) K - 1.

    Returns
    -------
    Tensor
        The pieces, of width K = D / H.

    Raises
    ------
    ValueError
        If ``num_heads`` does not divide the width.

    Notes
    -----
    Chapters 05 and 14.

    Examples
    --------
    >>> split_heads(torch.arange(8.0).reshape(2, 4), 2)
    tensor([[[0., 1.],
             [4., 5.]],
    <BLANKLINE>
            [[2., 3.],
             [6., 7.]]])
    """
    if num_heads < 1 or x.shape[-1] % num_heads:
        raise ValueError(
            "num_heads must divide the width of x, got "
            f"num_heads={num_heads} and width {x.shape[-1]}"
        )
    return x.unflatten(-1, (num_heads, -1)).transpose(-2, -3)


def merge_heads(x: Float[Tensor, "*batch H T K"]) -> Float[Tensor, "*batch T D"]:
    """Join the heads' pieces into one vector a token: undoes :func:`split_heads`.

    Parameters
    ----------
    x
        Pieces, heads before tokens.

    Returns
    -------
    Tensor
        Token vectors of width D = H K.

    Notes
    -----
    Chapters 05 and 14.

    Examples
    --------
    >>> x = torch.arange(24.0).reshape(2, 3, 4)
    >>> bool((merge_heads(split_heads(x, 2)) == x).all())
    True
    """
    return x.transpose(-2, -3).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Self-attention in several heads, each on its own projection of the tokens.

    Parameters
    ----------
    d_model
        Width of a token's vector, D.
    num_heads
        Heads H; divides ``d_model``.
    dropout
        Probability of dropping an attention weight in training, in [0, 1).

    Attributes
    ----------
    q_proj, k_proj, v_proj, out_proj : nn.Linear
        Maps (D, D) that make queries, keys and values, and mix the heads' results; head
        h in rows h K to (h + 1) K - 1 of the first three's ``weight``.

    Raises
    ------
    ValueError
        If ``num_heads`` does not divide ``d_model``, or ``dropout`` is out of range.

    Notes
    -----
    Vaswani and others, 2017, section 3.2.2, with biases as in BERT. Chapters 05 and 14.

    Examples
    --------
    >>> layer = MultiHeadAttention(4, 2)
    >>> output, weights = layer(torch.ones(1, 3, 4), need_weights=True)
    >>> output.shape, weights.shape
    (torch.Size([1, 3, 4]), torch.Size([1, 2, 3, 3]))
    """

    def __init__(self, d_model: int, num_heads: int, *, dropout: float = 0.0):
        super().__init__()
        if num_heads < 1 or d_model < 1 or d_model % num_heads:
            raise ValueError(
                "d_model must be divisible by num_heads, got "
                f"d_model={d_model} and num_heads={num_heads}"
            )
        require_probability(dropout)
        self.d_model, self.num_heads, self.dropout = d_model, num_heads, dropout
        self.q_proj = new_linear(d_model, d_model)
        self.k_proj = new_linear(d_model, d_model)
        self.v_proj = new_linear(d_model, d_model)
        self.out_proj = new_linear(d_model, d_model)

    def forward(
        self,
        x: Float[Tensor, "*batch T D"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "*batch T D"], Float[Tensor, "*batch H T T"] | None]:
        """Let every token gather from the tokens it may attend to.

        Parameters
        ----------
        x
            Token vectors.
        mask
            True where a query may attend to a key, with the axes of the scores, (B, H,
            T, S): from ``padding_mask`` or ``causal_mask``, or a (B, T, T) tensor as
            ``mask[:, None]``.
        need_weights
            True returns the weights.

        Returns
        -------
        output : Tensor
            New token vectors.
        weights : Tensor or None
            Each head's attention weights, before dropout.

        Raises
        ------
        TypeError
            If ``mask`` is not boolean.
        ValueError
            If the width of ``x`` is not ``d_model``, or ``mask`` lacks an axis.
        """
        require_tokens(x, self.d_model)
        if mask is not None:
            require_score_axes(mask, x)
        q = split_heads(self.q_proj(x), self.num_heads)  # (B, H, T, K)
        k = split_heads(self.k_proj(x), self.num_heads)
        v = split_heads(self.v_proj(x), self.num_heads)
        p = self.dropout if self.training else 0.0
        context, weights = attention(
            q, k, v, mask, dropout_p=p, need_weights=need_weights
        )
        return self.out_proj(merge_heads(context)), weights  # (B, T, D)


def require_matching(q: Tensor, k: Tensor, v: Tensor) -> None:
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
    >>> require_matching(torch.ones(2, 3), torch.ones(5, 3), torch.ones(5, 4))
    """
    shapes = f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)}"
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise ValueError(f"q, k and v need a token and a width axis, got {shapes}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries and keys must have one width, got {shapes}")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"there must be one value for each key, got {shapes}")
    if not q.shape[:-2] == k.shape[:-2] == v.shape[:-2]:
        raise ValueError(f"q, k and v must have the same batch axes, got {shapes}")
    if k.shape[-2] == 0 or q.shape[-1] == 0:
        raise ValueError(
            f"attention needs at least one key of width 1 or more, got {shapes}"
        )


def require_tokens(x: Tensor, d_model: int) -> None:
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
    >>> require_tokens(torch.ones(5, 12), 12)
    """
    if x.ndim < 2 or x.shape[-1] != d_model:
        raise ValueError(
            f"x must have shape (..., T, {d_model}) for d_model={d_model}, got "
            f"{tuple(x.shape)}"
        )


def require_score_axes(mask: Tensor, x: Tensor) -> None:
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
    >>> require_score_axes(torch.ones(1, 1, 5, 5) == 1, torch.ones(2, 5, 12))
    """
    axes = x.ndim + 1
    if mask.ndim != axes:
        raise ValueError(
            f"mask must have the {axes} axes of the scores, (batch, heads, queries, "
            f"keys), got shape {tuple(mask.shape)}; for padding use "
            "padding_mask(lengths, max_len), for one mask a sequence mask[:, None]"
        )
