"""One encoder layer: attention and feed-forward, each with residual sum and norm."""

import numpy as np
from jaxtyping import Bool, Float

from encoderlab.config import Activation
from encoderlab.with_numpy.attention import MultiHeadAttention
from encoderlab.with_numpy.dropout import dropout
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.normalization import LayerNorm


class EncoderLayer:
    r"""Attention, then a feed-forward network, each added to what it was given.

    .. math::
        \text{pre-norm:}\quad h &= x + \mathrm{MHA}(\mathrm{LN}_1(x)), &
        y &= h + \mathrm{FFN}(\mathrm{LN}_2(h)) \\
        \text{post-norm:}\quad h &= \mathrm{LN}_1(x + \mathrm{MHA}(x)), &
        y &= \mathrm{LN}_2(h + \mathrm{FFN}(h))

    with multi-head attention, the feed-forward network and the two layer norms.

    Parameters
    ----------
    d_model, num_heads, d_ff
        Widths and heads, as in :class:`~encoderlab.config.EncoderConfig`.
    norm_first
        True for pre-norm, False for post-norm. Weights trained for one do not work in
        the other.
    activation
        The feed-forward network's non-linearity.
    eps
        Added to the variance in both layer norms.
    dropout
        Probability, in [0, 1), of dropping an attention weight, a hidden value of the
        feed-forward network, and a value of either sublayer's output.
    rng
        Source of the initial weights.

    Raises
    ------
    ValueError
        As the parts do.

    Notes
    -----
    Post-norm: Vaswani and others, 2017, section 3.1. Pre-norm: Xiong and others, 2020,
    section 3. Chapter 10.

    Examples
    --------
    >>> layer = EncoderLayer(8, 2, 32, rng=np.random.default_rng(0))
    >>> y, weights = layer(np.ones((1, 5, 8), np.float32))
    >>> y.shape, weights.shape
    ((1, 5, 8), (1, 2, 5, 5))
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        norm_first: bool = True,
        activation: Activation = "gelu",
        eps: float = 1e-5,
        dropout: float = 0.0,
        rng: np.random.Generator,
    ):
        self.norm_first, self.dropout = norm_first, dropout
        self.attention = MultiHeadAttention(
            d_model, num_heads, dropout=dropout, rng=rng
        )
        self.norm_1 = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(
            d_model, d_ff, activation=activation, dropout=dropout, rng=rng
        )
        self.norm_2 = LayerNorm(d_model, eps)

    def __call__(
        self,
        x: Float[np.ndarray, "*batch T D"],
        mask: Bool[np.ndarray, "..."] | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> tuple[Float[np.ndarray, "*batch T D"], Float[np.ndarray, "*batch H T T"]]:
        """Run the layer.

        Parameters
        ----------
        x
            Token vectors.
        mask
            True where a query may attend to a key, with the axes of the scores.
        rng
            Source of dropout's randomness; None switches dropout off.

        Returns
        -------
        y : np.ndarray
            New token vectors.
        weights : np.ndarray
            Each head's attention weights, before dropout.

        Raises
        ------
        TypeError, ValueError
            As :class:`~encoderlab.with_numpy.attention.MultiHeadAttention` does.
        """
        if self.norm_first:
            attended, weights = self.attention(self.norm_1(x), mask, rng=rng)
            h = x + dropout(attended, self.dropout, rng)
            changed = self.feed_forward(self.norm_2(h), rng=rng)
            return h + dropout(changed, self.dropout, rng), weights
        attended, weights = self.attention(x, mask, rng=rng)
        h = self.norm_1(x + dropout(attended, self.dropout, rng))
        changed = self.feed_forward(h, rng=rng)
        return self.norm_2(h + dropout(changed, self.dropout, rng)), weights
