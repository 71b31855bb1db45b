"""One encoder layer: attention and feed-forward, each with residual sum and norm."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from encoderlab.config import Activation
from encoderlab.with_torch.attention import MultiHeadAttention
from encoderlab.with_torch.dropout import dropout
from encoderlab.with_torch.feed_forward import FeedForward
from encoderlab.with_torch.normalization import LayerNorm


class EncoderLayer(nn.Module):
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
        Probability, in [0, 1), of dropping in training an attention weight, a hidden
        value of the feed-forward network, and a value of either sublayer's output.

    Raises
    ------
    ValueError
        As the parts do.

    Notes
    -----
    Post-norm: Vaswani and others, 2017, section 3.1. Pre-norm: Xiong and others, 2020,
    section 3. Chapters 10 and 14.

    Examples
    --------
    >>> import torch
    >>> layer = EncoderLayer(8, 2, 32)
    >>> y, weights = layer(torch.ones(1, 5, 8), need_weights=True)
    >>> y.shape, weights.shape
    (torch.Size([1, 5, 8]), torch.Size([1, 2, 5, 5]))
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
    ):
        super().__init__()
        self.norm_first, self.dropout = norm_first, dropout
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.norm_1 = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(
            d_model, d_ff, activation=activation, dropout=dropout
        )
        self.norm_2 = LayerNorm(d_model, eps)

    def forward(
        self,
        x: Float[Tensor, "*batch T D"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "*batch T D"], Float[Tensor, "*batch H T T"] | None]:
        """Run the layer.

        Parameters
        ----------
        x
            Token vectors.
        mask
            True where a query may attend to a key, with the axes of the scores.
        need_weights
            True returns the weights.

        Returns
        -------
        y : Tensor
            New token vectors.
        weights : Tensor or None
            Each head's attention weights, before dropout.

        Raises
        ------
        TypeError, ValueError
            As :class:`~encoderlab.with_torch.attention.MultiHeadAttention` does.
        """
        p = self.dropout if self.training else 0.0
        if self.norm_first:
            attended, weights = self.attention(
                self.norm_1(x), mask, need_weights=need_weights
            )
            h = x + dropout(attended, p)
            changed = self.feed_forward(self.norm_2(h))
            return h + dropout(changed, p), weights
        attended, weights = self.attention(x, mask, need_weights=need_weights)
        h = self.norm_1(x + dropout(attended, p))
        changed = self.feed_forward(h)
        return self.norm_2(h + dropout(changed, p)), weights
