"""Backward passes of the whole encoder: its layers in reverse, then the embeddings."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from encoderlab.with_numpy.encoder import (
    Encoder,
    ImageEncoder,
    TextEncoder,
    score_mask,
)
from encoderlab.with_numpy.gradients.chain import chain, named
from encoderlab.with_numpy.gradients.embeddings import (
    patch_embeddings_vjp,
    text_embeddings_vjp,
)
from encoderlab.with_numpy.gradients.encoder_layer import encoder_layer_vjp
from encoderlab.with_numpy.gradients.normalization import norm_vjp


def encoder_vjp(
    encoder: Encoder,
    x: Float[np.ndarray, "*batch T D"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "*batch T D"], Callable]:
    """Run a stack of layers on token vectors; keep the way back.

    Parameters
    ----------
    encoder
        The stack, whose arrays the way back reads: change them only after it was used.
    x, mask, rng
        As in the encoder's call.

    Returns
    -------
    last_hidden_state : np.ndarray
        Token vectors after the last layer and, in pre-norm, the final LayerNorm.
    backward : Callable
        From the gradient of the last hidden state to that of ``x`` and, by name, of the
        parameters.

    Raises
    ------
    TypeError, ValueError
        As the encoder does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> from encoderlab.config import EncoderConfig
    >>> config = EncoderConfig(d_model=8, num_heads=2, d_ff=32, num_layers=3)
    >>> encoder = Encoder(config, rng=np.random.default_rng(0))
    >>> y, backward = encoder_vjp(encoder, np.ones((2, 5, 8)))
    >>> d_x, gradients = backward(np.ones((2, 5, 8)))
    >>> gradients["layers.2.feed_forward.W_1"].shape
    (8, 32)
    """
    steps = [
        named(f"layers.{i}", partial(encoder_layer_vjp, layer, mask=mask, rng=rng))
        for i, layer in enumerate(encoder.layers)
    ]
    if encoder.final_norm is not None:
        steps.append(named("final_norm", partial(norm_vjp, encoder.final_norm)))
    return chain(*steps)(x)


def text_encoder_vjp(
    encoder: TextEncoder,
    token_ids: Int[np.ndarray, "B T"],
    attention_mask: Real[np.ndarray, "B T"] | Bool[np.ndarray, "B T"] | None = None,
    *,
    segment_ids: Int[np.ndarray, "B T"] | None = None,
    causal: bool = False,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "B T D"], Callable]:
    """Read sequences of ids; keep the way back.

    Parameters
    ----------
    encoder
        The encoder, whose arrays the way back reads: change them only after it was
        used.
    token_ids, attention_mask, segment_ids, causal, rng
        As in the encoder's call.

    Returns
    -------
    last_hidden_state : np.ndarray
        Token vectors.
    backward : Callable
        From the gradient of the last hidden state to None, since ids have no gradient,
        and, by name, those of the parameters. Give 0 at padded positions.

    Raises
    ------
    TypeError, ValueError
        As the encoder does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> from encoderlab.config import TextConfig
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> encoder = TextEncoder(config, rng=np.random.default_rng(0))
    >>> y, backward = text_encoder_vjp(encoder, np.array([[5, 6, 7]]))
    >>> nothing, gradients = backward(np.ones((1, 3, 8), np.float32))
    >>> gradients["embeddings.W_token"].shape
    (30, 8)
    """
    embed = partial(
        text_embeddings_vjp, encoder.embeddings, segment_ids=segment_ids, rng=rng
    )

    def run(x):
        mask = score_mask(attention_mask, x.shape[:2], causal)
        return encoder_vjp(encoder, x, mask, rng=rng)

    return chain(named("embeddings", embed), run)(token_ids)


def image_encoder_vjp(
    encoder: ImageEncoder,
    images: Float[np.ndarray, "B C Y X"],
    *,
    rng: np.random.Generator | None = None,
) -> tuple[Float[np.ndarray, "B T D"], Callable]:
    """Read images; keep the way back.

    Parameters
    ----------
    encoder
        The encoder, whose arrays the way back reads: change them only after it was
        used.
    images, rng
        As in the encoder's call.

    Returns
    -------
    last_hidden_state : np.ndarray
        The class token's vector first, then the patches'.
    backward : Callable
        From the gradient of the last hidden state to that of the images and, by name,
        of the parameters.

    Raises
    ------
    ValueError
        As the encoder does.

    Notes
    -----
    Chapter 12.

    Examples
    --------
    >>> from encoderlab.config import ImageConfig
    >>> config = ImageConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                      image_size=8, patch_size=4)
    >>> encoder = ImageEncoder(config, rng=np.random.default_rng(0))
    >>> y, backward = image_encoder_vjp(encoder, np.zeros((3, 1, 8, 8), np.float32))
    >>> d_images, gradients = backward(y)
    >>> d_images.shape
    (3, 1, 8, 8)
    """
    embed = named(
        "embeddings", partial(patch_embeddings_vjp, encoder.embeddings, rng=rng)
    )
    return chain(embed, partial(encoder_vjp, encoder, rng=rng))(images)
