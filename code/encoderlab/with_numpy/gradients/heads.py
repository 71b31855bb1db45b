"""Backward pass of a classifier on top of an encoder."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from encoderlab.with_numpy.encoder import Encoder, ImageEncoder, TextEncoder
from encoderlab.with_numpy.gradients.encoder import (
    encoder_vjp,
    image_encoder_vjp,
    text_encoder_vjp,
)
from encoderlab.with_numpy.gradients.functional import linear_vjp
from encoderlab.with_numpy.heads import TokenClassifier

ENCODER_VJPS: dict[type[Encoder], Callable] = {
    Encoder: encoder_vjp,
    TextEncoder: text_encoder_vjp,
    ImageEncoder: image_encoder_vjp,
}


def token_classifier_vjp(
    model: TokenClassifier, *inputs, **options
) -> tuple[Float[np.ndarray, "*batch T C"], Callable]:
    """Score the classes at every position; keep the way back.

    Parameters
    ----------
    model
        The model, whose arrays the way back reads: change them only after it was used.
    inputs, options
        As in the model's call.

    Returns
    -------
    logits : np.ndarray
        The scores.
    backward : Callable
        From the gradient of the logits to what the encoder's way back gives for the
        input and, by name, the gradients of the parameters.

    Raises
    ------
    TypeError
        If the encoder is of a kind whose backward pass is not known.

    Notes
    -----
    Chapter 13.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> rng = np.random.default_rng(0)
    >>> model = TokenClassifier(TextEncoder(config, rng=rng), 5, rng=rng)
    >>> logits, backward = token_classifier_vjp(model, np.array([[3, 4, 9]]))
    >>> nothing, gradients = backward(np.ones_like(logits))
    >>> gradients["encoder.layers.0.norm_1.beta"].shape
    (8,)
    """
    if type(model.encoder) not in ENCODER_VJPS:
        known = ", ".join(kind.__name__ for kind in ENCODER_VJPS)
        raise TypeError(
            f"the encoder must be one of {known}, got {type(model.encoder).__name__}; "
            "add its backward pass to ENCODER_VJPS"
        )
    encode_vjp = ENCODER_VJPS[type(model.encoder)]
    hidden, through_encoder = encode_vjp(model.encoder, *inputs, **options)
    logits, through_W = linear_vjp(hidden, model.W, model.b)

    def backward(d_logits):
        d_hidden, d_W, d_b = through_W(d_logits)
        d_input, found = through_encoder(d_hidden)
        gradients = {f"encoder.{name}": array for name, array in found.items()}
        return d_input, gradients | {"W": d_W, "b": d_b}

    return logits, backward
