"""The feed-forward network that every token passes through by itself."""

from typing import get_args

import numpy as np
from jaxtyping import Float

from encoderlab.config import Activation
from encoderlab.with_numpy.dropout import dropout, require_probability
from encoderlab.with_numpy.functional import (
    as_float,
    gelu,
    gelu_tanh,
    linear,
    relu,
    silu,
)
from encoderlab.with_numpy.parameters import xavier_uniform, zeros

ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu}


class FeedForward:
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
        Probability of dropping a hidden value, in [0, 1).
    rng
        Source of the initial weights.

    Attributes
    ----------
    W_1, b_1, W_2, b_2 : np.ndarray
        Weights (D, F) and (F, D) and their biases.

    Raises
    ------
    ValueError
        If a width is below 1, ``activation`` is unknown or ``dropout`` is out of range.

    Notes
    -----
    Vaswani and others, 2017, section 3.3, there with ReLU. The dropout after the
    activation is that of ``torch.nn.TransformerEncoderLayer``; BERT has none there.
    Chapter 08.

    Examples
    --------
    >>> layer = FeedForward(4, 16, rng=np.random.default_rng(0))
    >>> layer(np.ones((2, 3, 4), np.float32)).shape
    (2, 3, 4)
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: Activation = "gelu",
        dropout: float = 0.0,
        rng: np.random.Generator,
    ):
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
        self.W_1, self.b_1 = xavier_uniform(d_model, d_ff, rng), zeros(d_ff)
        self.W_2, self.b_2 = xavier_uniform(d_ff, d_model, rng), zeros(d_model)

    def __call__(
        self,
        x: Float[np.ndarray, "*batch D"],
        *,
        rng: np.random.Generator | None = None,
    ) -> Float[np.ndarray, "*batch D"]:
        """Transform each token's vector by itself.

        Parameters
        ----------
        x
            Token vectors.
        rng
            Source of dropout's randomness; None switches dropout off.

        Returns
        -------
        np.ndarray
            New token vectors.

        Raises
        ------
        ValueError
            If the width of ``x`` is not ``d_model``.
        """
        x = as_float(x)
        if x.ndim < 1 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x must have {self.d_model} = d_model values on its last axis, "
                f"got {x.shape}"
            )
        hidden = linear(x, self.W_1, self.b_1)  # (*batch, F)
        hidden = ACTIVATIONS[self.activation](hidden)
        hidden = dropout(hidden, self.dropout, rng)
        return linear(hidden, self.W_2, self.b_2)  # (*batch, D)
