"""The feed-forward network that every token passes through by itself."""

from collections.abc import Callable
from typing import get_args

from jaxtyping import Float
from torch import Tensor, nn

from encoderlab.config import Activation
from encoderlab.with_torch.dropout import dropout, require_probability
from encoderlab.with_torch.functional import gelu, gelu_tanh, relu, silu
from encoderlab.with_torch.parameters import new_linear

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
}


class FeedForward(nn.Module):
    r"""Two linear maps around a non-linearity: :math:`f(x W_1 + b_1) W_2 + b_2`.

    Parameters
    ----------
    d_model
        Width of a token's vector, D.
    d_ff
        Width of the hidden layer, F; by convention four times D.
    activation
        ``relu``, ``gelu`` (exact), ``gelu_tanh`` or ``silu``.
    dropout
        Probability of dropping a hidden value in training, in [0, 1).

    Attributes
    ----------
    linear_1, linear_2 : nn.Linear
        The maps from D to F and from F to D.

    Raises
    ------
    ValueError
        If a width is below 1, ``activation`` is unknown or ``dropout`` is out of range.

    Notes
    -----
    Vaswani and others, 2017, section 3.3, there with ReLU. The dropout after the
    activation is that of ``torch.nn.TransformerEncoderLayer``. Chapters 08 and 14.

    Examples
    --------
    >>> import torch
    >>> FeedForward(4, 16)(torch.ones(2, 3, 4)).shape
    torch.Size([2, 3, 4])
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: Activation = "gelu",
        dropout: float = 0.0,
    ):
        super().__init__()
        if d_model < 1 or d_ff < 1:
            raise ValueError(
                f"d_model and d_ff must be at least 1, got {d_model} and {d_ff}"
            )
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation must be one of {', '.join(get_args(Activation))}; "
                f"got {activation!r}"
            )
        require_probability(dropout)
        self.d_model, self.d_ff = d_model, d_ff
        self.activation, self.dropout = activation, dropout
        self.linear_1 = new_linear(d_model, d_ff)
        self.linear_2 = new_linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        """Transform each token's vector by itself.

        Parameters
        ----------
        x
            Token vectors.

        Returns
        -------
        Tensor
            New token vectors.

        Raises
        ------
        ValueError
            If the width of ``x`` is not ``d_model``.
        """
        if x.ndim < 1 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x must have {self.d_model} = d_model values on its last axis, "
                f"got {tuple(x.shape)}"
            )
        hidden = ACTIVATIONS[self.activation](self.linear_1(x))  # (*batch, F)
        hidden = dropout(hidden, self.dropout if self.training else 0.0)
        return self.linear_2(hidden)  # (*batch, D)
