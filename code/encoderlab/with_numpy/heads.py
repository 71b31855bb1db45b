"""What is put on top of an encoder to answer a question."""

import numpy as np
from jaxtyping import Float

from encoderlab.with_numpy.encoder import Encoder
from encoderlab.with_numpy.functional import linear
from encoderlab.with_numpy.parameters import xavier_uniform, zeros


class TokenClassifier:
    """An encoder, and a linear map from each of its vectors to scores of classes.

    Parameters
    ----------
    encoder
        Any encoder; it becomes a part of the model and is trained with it.
    num_classes
        Number of classes, at least 1.
    rng
        Source of the map's initial weights.

    Attributes
    ----------
    encoder : Encoder
        The encoder.
    W, b : np.ndarray
        Weights (D, num_classes) and bias of the map.

    Raises
    ------
    ValueError
        If ``num_classes`` is below 1.

    Notes
    -----
    Devlin and others, 2019, section 4: one vector may answer for the whole sequence,
    the class token's, or each for its own token. Chapter 13.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> from encoderlab.with_numpy.encoder import TextEncoder
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> rng = np.random.default_rng(0)
    >>> model = TokenClassifier(TextEncoder(config, rng=rng), 5, rng=rng)
    >>> model(np.array([[3, 4, 9]])).shape
    (1, 3, 5)
    """

    def __init__(self, encoder: Encoder, num_classes: int, *, rng: np.random.Generator):
        if num_classes < 1:
            raise ValueError(f"num_classes must be at least 1, got {num_classes}")
        self.encoder = encoder
        self.W = xavier_uniform(encoder.config.d_model, num_classes, rng)
        self.b = zeros(num_classes)

    def __call__(self, *inputs, **options) -> Float[np.ndarray, "*batch T C"]:
        """Score the classes at every position.

        Parameters
        ----------
        inputs, options
            What the encoder takes.

        Returns
        -------
        np.ndarray
            Logits; softmax over the last axis makes probabilities of them.
        """
        return linear(
            self.encoder(*inputs, **options).last_hidden_state, self.W, self.b
        )
