"""The encoder: a stack of layers, alone, under text and under images."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Real
from numpy.typing import DTypeLike

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.pretrained import Checkpoint
from encoderlab.with_numpy.embeddings import PatchEmbeddings, TextEmbeddings
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.masks import causal_mask
from encoderlab.with_numpy.normalization import LayerNorm
from encoderlab.with_numpy.parameters import cast, load


class EncoderOutput(NamedTuple):
    """What an encoder returns.

    Attributes
    ----------
    last_hidden_state
        Token vectors after the last layer and, in pre-norm, the final LayerNorm.
    hidden_states
        The vectors that enter the first layer, then those that leave each layer (before
        the final LayerNorm); None unless the call said ``trace=True``.
    attention_weights
        Each layer's attention weights, before dropout; None unless the call said
        ``trace=True``.
    """

    last_hidden_state: Float[np.ndarray, "*batch T D"]
    hidden_states: tuple[Float[np.ndarray, "*batch T D"], ...] | None
    attention_weights: tuple[Float[np.ndarray, "*batch H T T"], ...] | None


class Encoder:
    """A stack of encoder layers, each with its own weights, over given token vectors.

    Parameters
    ----------
    config
        Sizes and choices.
    rng
        Source of the initial weights.

    Attributes
    ----------
    layers : list of EncoderLayer
        From first to last.
    final_norm : LayerNorm or None
        Normalises the result of a pre-norm stack, whose sum has grown; None in
        post-norm.

    Notes
    -----
    Vaswani and others, 2017, section 3.1. Chapter 11.

    Examples
    --------
    >>> config = EncoderConfig(d_model=8, num_heads=2, d_ff=32, num_layers=3)
    >>> encoder = Encoder(config, rng=np.random.default_rng(0))
    >>> output = encoder(np.ones((2, 5, 8), np.float32), trace=True)
    >>> output.last_hidden_state.shape, len(output.hidden_states)
    ((2, 5, 8), 4)
    """

    def __init__(self, config: EncoderConfig, *, rng: np.random.Generator):
        self.config = config
        self.layers = [
            EncoderLayer(
                config.d_model,
                config.num_heads,
                config.d_ff,
                norm_first=config.norm_first,
                activation=config.activation,
                eps=config.eps,
                dropout=config.dropout,
                rng=rng,
            )
            for _ in range(config.num_layers)
        ]
        self.final_norm = (
            LayerNorm(config.d_model, config.eps) if config.norm_first else None
        )

    def __call__(
        self,
        x: Float[np.ndarray, "*batch T D"],
        mask: Bool[np.ndarray, "..."] | None = None,
        *,
        rng: np.random.Generator | None = None,
        trace: bool = False,
    ) -> EncoderOutput:
        """Run all layers.

        Parameters
        ----------
        x
            Token vectors.
        mask
            True where a query may attend to a key, with the axes of the scores; used by
            every layer.
        rng
            Source of dropout's randomness; None switches dropout off.
        trace
            Keep what every layer computed.

        Returns
        -------
        EncoderOutput
            The last token vectors and, with ``trace``, all before them.

        Raises
        ------
        TypeError, ValueError
            As :class:`~encoderlab.with_numpy.attention.MultiHeadAttention` does.
        """
        states, all_weights = [x], []
        for layer in self.layers:
            x, weights = layer(x, mask, rng=rng)
            if trace:
                states.append(x)
                all_weights.append(weights)
        if self.final_norm is not None:
            x = self.final_norm(x)
        if trace:
            return EncoderOutput(x, tuple(states), tuple(all_weights))
        return EncoderOutput(x, None, None)


class TextEncoder(Encoder):
    """An encoder that reads token ids.

    Parameters
    ----------
    config
        Sizes and choices.
    rng
        Source of the initial weights.

    Attributes
    ----------
    embeddings : TextEmbeddings
        Turns ids into vectors.
    layers, final_norm
        As in :class:`Encoder`.

    Notes
    -----
    Devlin and others, 2019, section 3, without the pooler. Chapter 11.

    Examples
    --------
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> encoder = TextEncoder(config, rng=np.random.default_rng(0))
    >>> token_ids = np.array([[5, 6, 7], [8, 0, 0]])
    >>> output = encoder(token_ids, np.array([[1, 1, 1], [1, 0, 0]]))
    >>> output.last_hidden_state.shape
    (2, 3, 8)
    """

    config: TextConfig

    def __init__(self, config: TextConfig, *, rng: np.random.Generator):
        super().__init__(config, rng=rng)
        self.embeddings = TextEmbeddings(config, rng=rng)

    @classmethod
    def from_checkpoint(
        cls, checkpoint: Checkpoint, *, dtype: DTypeLike = np.float32
    ) -> "TextEncoder":
        """Build an encoder with a checkpoint's configuration and weights.

        Parameters
        ----------
        checkpoint
            From :func:`encoderlab.pretrained.load`.
        dtype
            Floating dtype of the parameters and of all that is computed.

        Returns
        -------
        TextEncoder
            Its parameters are copies of the checkpoint's.

        Raises
        ------
        TypeError
            If ``dtype`` is not floating.
        ValueError
            If a weight is missing, extra or of another shape.
        """
        encoder = cls(checkpoint.config, rng=np.random.default_rng(0))
        return load(cast(encoder, dtype), checkpoint.weights)

    def __call__(
        self,
        token_ids: Int[np.ndarray, "B T"],
        attention_mask: Real[np.ndarray, "B T"] | Bool[np.ndarray, "B T"] | None = None,
        *,
        segment_ids: Int[np.ndarray, "B T"] | None = None,
        causal: bool = False,
        rng: np.random.Generator | None = None,
        trace: bool = False,
    ) -> EncoderOutput:
        """Read sequences of ids.

        Parameters
        ----------
        token_ids
            Ids from 0 to ``vocab_size - 1``, at most ``max_seq_len`` a sequence.
        attention_mask
            1 or True for a token, 0 or False for padding, as tokenizers give it; None
            for no padding.
        segment_ids
            Ids from 0 to ``num_segments - 1``; None stands for zeros.
        causal
            True hides from each token those after it as well, as a decoder does;
            chapter 01 compares the two.
        rng
            Source of dropout's randomness; None switches dropout off.
        trace
            Keep what every layer computed.

        Returns
        -------
        EncoderOutput
            Token vectors; those at padded positions mean nothing.

        Raises
        ------
        TypeError
            If ids are not whole numbers.
        ValueError
            If an id or a length is out of range, or the mask has another shape than the
            ids or other values than 0 and 1.
        """
        x = self.embeddings(token_ids, segment_ids, rng=rng)
        mask = score_mask(attention_mask, x.shape[:2], causal)
        return super().__call__(x, mask, rng=rng, trace=trace)


class ImageEncoder(Encoder):
    """An encoder that reads images, patch by patch.

    Parameters
    ----------
    config
        Sizes and choices.
    rng
        Source of the initial weights.

    Attributes
    ----------
    embeddings : PatchEmbeddings
        Turns patches into vectors.
    layers, final_norm
        As in :class:`Encoder`.

    Notes
    -----
    Dosovitskiy and others, 2021, section 3.1. Chapters 13 and 15.

    Examples
    --------
    >>> config = ImageConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                      image_size=8, patch_size=4)
    >>> encoder = ImageEncoder(config, rng=np.random.default_rng(0))
    >>> encoder(np.zeros((3, 1, 8, 8), np.float32)).last_hidden_state.shape
    (3, 5, 8)
    """

    config: ImageConfig

    def __init__(self, config: ImageConfig, *, rng: np.random.Generator):
        super().__init__(config, rng=rng)
        self.embeddings = PatchEmbeddings(config, rng=rng)

    def __call__(  # type: ignore[override]  # it reads pixels, a plain Encoder vectors
        self,
        images: Float[np.ndarray, "B C Y X"],
        *,
        rng: np.random.Generator | None = None,
        trace: bool = False,
    ) -> EncoderOutput:
        """Read images.

        Parameters
        ----------
        images
            Pixel values, channels before rows before columns.
        rng
            Source of dropout's randomness; None switches dropout off.
        trace
            Keep what every layer computed.

        Returns
        -------
        EncoderOutput
            The class token's vector first, then the patches'.

        Raises
        ------
        ValueError
            If the images do not have the configured channels and size.
        """
        return super().__call__(self.embeddings(images, rng=rng), rng=rng, trace=trace)


def score_mask(
    attention_mask: np.ndarray | None, shape: tuple[int, ...], causal: bool = False
) -> Bool[np.ndarray, "..."] | None:
    """Check a tokenizer's mask and give it the axes of the scores.

    Parameters
    ----------
    attention_mask
        1 or True for a token, 0 or False for padding; None for no padding.
    shape
        Shape (B, T) of the token ids.
    causal
        True hides from each token those after it.

    Returns
    -------
    np.ndarray or None
        True where a query may attend to a key, with axes that broadcast to (B, H, T,
        S); None if every one may attend to every other.

    Raises
    ------
    ValueError
        If the mask has another shape or other values than 0 and 1.

    Examples
    --------
    >>> score_mask(np.array([[1, 1, 0]]), (1, 3)).shape
    (1, 1, 1, 3)
    """
    mask = causal_mask(shape[1]) if causal else None
    if attention_mask is None:
        return mask
    keys = np.asarray(attention_mask)
    if keys.shape != shape:
        raise ValueError(
            f"attention_mask must have the shape of token_ids, expected {shape}, "
            f"got {keys.shape}"
        )
    if keys.dtype != bool and not np.isin(keys, (0, 1)).all():
        raise ValueError(
            "attention_mask must be boolean or hold only 0 and 1, with 1 for a token "
            f"and 0 for padding, got values from {keys.min()} to {keys.max()}"
        )
    keys = keys.astype(bool)[:, None, None, :]  # (B, 1, 1, S)
    return keys if mask is None else keys & mask
