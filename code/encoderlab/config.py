"""What an encoder is made of: its sizes and choices, and the presets the book uses.

Letters used in shapes throughout the package: B batch, T query length, S key length,
D model width, H heads, K width of one head, F feed-forward width, V vocabulary.
"""

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Literal, get_args

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Positions = Literal["learned", "sinusoidal", "none"]


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Sizes and choices of a stack of encoder layers.

    Parameters
    ----------
    d_model
        Width of a token's vector, D.
    num_heads
        Attention heads H; divides ``d_model``.
    d_ff
        Width of the feed-forward network's hidden layer, F.
    num_layers
        Encoder layers, at least 1.
    norm_first
        True normalises before each sublayer (pre-norm, with a final LayerNorm after the
        stack); False normalises after each residual sum (post-norm, as in BERT).
    activation
        The feed-forward network's non-linearity: ``relu``, ``gelu`` (exact),
        ``gelu_tanh`` or ``silu``.
    eps
        Added to the variance in every LayerNorm; at least 0.
    dropout
        Probability of zeroing a value, in [0, 1).

    Raises
    ------
    ValueError
        If a size is below 1, ``num_heads`` does not divide ``d_model``, or a choice is
        unknown.

    Examples
    --------
    >>> EncoderConfig(d_model=12, num_heads=3, d_ff=48, num_layers=2).d_head
    4
    """

    d_model: int
    num_heads: int
    d_ff: int
    num_layers: int
    norm_first: bool = True
    activation: Activation = "gelu"
    eps: float = 1e-5
    dropout: float = 0.0

    def __post_init__(self):
        for name in ("d_model", "num_heads", "d_ff", "num_layers"):
            _require_size(name, getattr(self, name))
        if self.d_model % self.num_heads:
            raise ValueError(
                f"d_model must be divisible by num_heads, got d_model={self.d_model} "
                f"and num_heads={self.num_heads}; choose heads that divide the width"
            )
        _require_choice("activation", self.activation, get_args(Activation))
        if not isinstance(self.norm_first, bool):
            raise ValueError(
                f"norm_first must be True or False, got {self.norm_first!r}"
            )
        if not (_is_number(self.eps) and 0 <= self.eps < inf):
            raise ValueError(f"eps must be a number of at least 0, got {self.eps!r}")
        if not (_is_number(self.dropout) and 0 <= self.dropout < 1):
            raise ValueError(f"dropout must be in [0, 1), got {self.dropout!r}")

    @property
    def d_head(self) -> int:
        """Width of one head, K."""
        return self.d_model // self.num_heads


@dataclass(frozen=True, kw_only=True)
class TextConfig(EncoderConfig):
    """An encoder of token ids.

    Parameters
    ----------
    vocab_size
        Number of token ids V; ids run from 0 to V - 1.
    max_seq_len
        Longest sequence the positions can number, special tokens included.
    num_segments
        Number of segment ids (BERT's token types), at least 1.
    positions
        ``learned`` (a table), ``sinusoidal`` (fixed) or ``none`` (the encoder is blind
        to order).

    Raises
    ------
    ValueError
        As :class:`EncoderConfig` does, or if a size here is below 1 or ``positions``
        unknown.

    Examples
    --------
    >>> sizes = dict(d_model=12, num_heads=3, d_ff=48, num_layers=2)
    >>> TextConfig(**sizes, vocab_size=100, max_seq_len=16).positions
    'learned'
    """

    vocab_size: int
    max_seq_len: int
    num_segments: int = 2
    positions: Positions = "learned"

    def __post_init__(self):
        super().__post_init__()
        for name in ("vocab_size", "max_seq_len", "num_segments"):
            _require_size(name, getattr(self, name))
        _require_choice("positions", self.positions, get_args(Positions))


@dataclass(frozen=True, kw_only=True)
class ImageConfig(EncoderConfig):
    """An encoder of square images cut into square patches.

    Parameters
    ----------
    image_size
        Height and width of an image in pixels; a multiple of ``patch_size``.
    patch_size
        Height and width of a patch in pixels.
    num_channels
        Channels of a pixel: 1 for grey, 3 for colour.
    positions
        As in :class:`TextConfig`.

    Raises
    ------
    ValueError
        As :class:`EncoderConfig` does, or if a size here is below 1, ``patch_size``
        does not divide ``image_size`` or ``positions`` is unknown.

    Examples
    --------
    >>> sizes = dict(d_model=12, num_heads=3, d_ff=48, num_layers=2)
    >>> ImageConfig(**sizes, image_size=8, patch_size=2).num_patches
    16
    """

    image_size: int
    patch_size: int
    num_channels: int = 1
    positions: Positions = "learned"

    def __post_init__(self):
        super().__post_init__()
        for name in ("image_size", "patch_size", "num_channels"):
            _require_size(name, getattr(self, name))
        if self.image_size % self.patch_size:
            raise ValueError(
                "image_size must be a multiple of patch_size, got "
                f"image_size={self.image_size} and patch_size={self.patch_size}; "
                "crop or resize the images, or change the patch"
            )
        _require_choice("positions", self.positions, get_args(Positions))

    @property
    def num_patches(self) -> int:
        """Patches of one image, in rows from the top left."""
        return (self.image_size // self.patch_size) ** 2


def _is_number(value):
    return isinstance(value, Real) and not isinstance(value, bool)


def _require_size(name, value):
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def _require_choice(name, value, choices):
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")


MINILM_L6 = TextConfig(
    d_model=384,
    num_heads=12,
    d_ff=1536,
    num_layers=6,
    norm_first=False,
    eps=1e-12,
    dropout=0.1,
    vocab_size=30522,
    max_seq_len=512,
)
"""all-MiniLM-L6-v2, the sentence encoder that the book runs."""

BERT_BASE = TextConfig(
    d_model=768,
    num_heads=12,
    d_ff=3072,
    num_layers=12,
    norm_first=False,
    eps=1e-12,
    dropout=0.1,
    vocab_size=30522,
    max_seq_len=512,
)
"""BERT base, uncased (Devlin and others, 2019)."""

VIT_B16 = ImageConfig(
    d_model=768,
    num_heads=12,
    d_ff=3072,
    num_layers=12,
    eps=1e-6,
    dropout=0.1,
    image_size=224,
    patch_size=16,
    num_channels=3,
)
"""Vision transformer, base, 16-pixel patches (Dosovitskiy and others, 2021)."""
