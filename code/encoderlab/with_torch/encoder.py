"""The encoder: a stack of layers, alone, under text and under images."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.pretrained import Checkpoint
from encoderlab.with_torch.embeddings import PatchEmbeddings, TextEmbeddings
from encoderlab.with_torch.encoder_layer import EncoderLayer
from encoderlab.with_torch.masks import causal_mask
from encoderlab.with_torch.normalization import LayerNorm
from encoderlab.with_torch.parameters import to_state_dict


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

    last_hidden_state: Float[Tensor, "*batch T D"]
    hidden_states: tuple[Float[Tensor, "*batch T D"], ...] | None
    attention_weights: tuple[Float[Tensor, "*batch H T T"], ...] | None


class Encoder(nn.Module):
    """A stack of encoder layers, each with its own weights, over given token vectors.

    Parameters
    ----------
    config
        Sizes and choices.

    Attributes
    ----------
    layers : nn.ModuleList of EncoderLayer
        From first to last.
    final_norm : LayerNorm or None
        Normalises the result of a pre-norm stack, whose sum has grown; None in
        post-norm.

    Notes
    -----
    Vaswani and others, 2017, section 3.1. Chapters 11 and 14.

    Examples
    --------
    >>> config = EncoderConfig(d_model=8, num_heads=2, d_ff=32, num_layers=3)
    >>> output = Encoder(config)(torch.ones(2, 5, 8), trace=True)
    >>> output.last_hidden_state.shape, len(output.hidden_states)
    (torch.Size([2, 5, 8]), 4)
    """

    def __init__(self, config: EncoderConfig):
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(
            EncoderLayer(
                config.d_model,
                config.num_heads,
                config.d_ff,
                norm_first=config.norm_first,
                activation=config.activation,
                eps=config.eps,
                dropout=config.dropout,
            )
            for _ in range(config.num_layers)
        )
        self.final_norm = (
            LayerNorm(config.d_model, config.eps) if config.norm_first else None
        )

    def forward(
        self,
        x: Float[Tensor, "*batch T D"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
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
        trace
            Keep what every layer computed.

        Returns
        -------
        EncoderOutput
            The last token vectors and, with ``trace``, all before them.

        Raises
        ------
        TypeError, ValueError
            As :class:`~encoderlab.with_torch.attention.MultiHeadAttention` does.
        """
        states, all_weights = [x], []
        for layer in self.layers:
            x, weights = layer(x, mask, need_weights=trace)
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

    Attributes
    ----------
    embeddings : TextEmbeddings
        Turns ids into vectors.
    layers, final_norm
        As in :class:`Encoder`.

    Notes
    -----
    Devlin and others, 2019, section 3, without the pooler. Chapters 11 and 14.

    Examples
    --------
    >>> config = TextConfig(d_model=8, num_heads=2, d_ff=32, num_layers=1,
    ...                     vocab_size=30, max_seq_len=16)
    >>> token_ids = torch.tensor([[5, 6, 7], [8, 0, 0]])
    >>> output = TextEncoder(config)(token_ids, torch.tensor([[1, 1, 1], [1, 0, 0]]))
    >>> output.last_hidden_state.shape
    torch.Size([2, 3, 8])
    """

    config: TextConfig

    def __init__(self, config: TextConfig):
        super().__init__(config)
        self.embeddings = TextEmbeddings(config)

    @classmethod
    def from_checkpoint(
        cls, checkpoint: Checkpoint, *, dtype: torch.dtype = torch.float32
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
            In evaluation mode; its parameters are copies of the checkpoint's.

        Raises
        ------
        TypeError
            If ``dtype`` is not floating.
        RuntimeError
            If a weight is missing, extra or of another shape.
        """
        if not dtype.is_floating_point:
            raise TypeError(f"dtype must be floating, got {dtype}")
        with torch.device("meta"):  # weights that are about to be replaced
            encoder = cls(checkpoint.config)
        encoder.load_state_dict(to_state_dict(checkpoint.weights), assign=True)
        return encoder.to(dtype).eval()

    def forward(
        self,
        token_ids: Int[Tensor, "B T"],
        attention_mask: Int[Tensor, "B T"] | Bool[Tensor, "B T"] | None = None,
        *,
        segment_ids: Int[Tensor, "B T"] | None = None,
        causal: bool = False,
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
            True hides from each token those after it as well, as a decoder does.
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
        x = self.embeddings(token_ids, segment_ids)
        mask = score_mask(attention_mask, token_ids, causal)
        return super().forward(x, mask, trace=trace)


class ImageEncoder(Encoder):
    """An encoder that reads images, patch by patch.

    Parameters
    ----------
    config
        Sizes and choices.

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
    >>> ImageEncoder(config)(torch.zeros(3, 1, 8, 8)).last_hidden_state.shape
    torch.Size([3, 5, 8])
    """

    config: ImageConfig

    def __init__(self, config: ImageConfig):
        super().__init__(config)
        self.embeddings = PatchEmbeddings(config)

    def forward(  # type: ignore[override]  # it reads pixels, a plain Encoder vectors
        self, images: Float[Tensor, "B C Y X"], *, trace: bool = False
    ) -> EncoderOutput:
        """Read images.

        Parameters
        ----------
        images
            Pixel values, channels before rows before columns.
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
        return super().forward(self.embeddings(images), trace=trace)


def score_mask(
    attention_mask: Tensor | None, token_ids: Tensor, causal: bool = False
) -> Bool[Tensor, "..."] | None:
    """Check a tokenizer's mask and give it the axes of the scores.

    Parameters
    ----------
    attention_mask
        1 or True for a token, 0 or False for padding; None for no padding.
    token_ids
        The ids (B, T) that it belongs to.
    causal
        True hides from each token those after it.

    Returns
    -------
    Tensor or None
        True where a query may attend to a key, with axes that broadcast to (B, H, T,
        S); None if every one may attend to every other.

    Raises
    ------
    ValueError
        If the mask has another shape or other values than 0 and 1.

    Examples
    --------
    >>> score_mask(torch.tensor([[1, 1, 0]]), torch.tensor([[5, 6, 0]])).shape
    torch.Size([1, 1, 1, 3])
    """
    mask = causal_mask(token_ids.shape[1]).to(token_ids.device) if causal else None
    if attention_mask is None:
        return mask
    if attention_mask.shape != token_ids.shape:
        raise ValueError(
            "attention_mask must have the shape of token_ids, expected "
            f"{tuple(token_ids.shape)}, got {tuple(attention_mask.shape)}"
        )
    keys = attention_mask.bool()
    looked_at = keys.is_cpu and not torch.compiler.is_compiling()
    if looked_at and not torch.equal(keys.to(attention_mask.dtype), attention_mask):
        raise ValueError(
            "attention_mask must be boolean or hold only 0 and 1, with 1 for a token "
            f"and 0 for padding, got values from {attention_mask.min()} to "
            f"{attention_mask.max()}"
        )
    keys = keys[:, None, None, :]  # (B, 1, 1, S)
    return keys if mask is None else keys & mask
