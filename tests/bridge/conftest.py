"""What the tests of the bridge share: NumPy layers, one disturbance for all.

Sizes are all distinct, so that axes cannot be confused: B=2, T=5, H=3, D=12, F=11.
"""

import numpy as np
import pytest
import torch

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.with_numpy.attention import MultiHeadAttention
from encoderlab.with_numpy.embeddings import PatchEmbeddings, TextEmbeddings
from encoderlab.with_numpy.encoder import Encoder, ImageEncoder, TextEncoder
from encoderlab.with_numpy.encoder_layer import EncoderLayer
from encoderlab.with_numpy.feed_forward import FeedForward
from encoderlab.with_numpy.heads import TokenClassifier
from encoderlab.with_numpy.normalization import LayerNorm, RMSNorm
from encoderlab.with_numpy.parameters import cast, parameters

D, H, F = 12, 3, 11
SIZES = {"d_model": D, "num_heads": H, "d_ff": F, "num_layers": 2, "eps": 0.1}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def disturb():
    """Give a NumPy layer float64 parameters of order 0.5, none at its default."""

    def disturb(layer, seed=1):
        rng = np.random.default_rng(seed)
        for array in parameters(cast(layer, np.float64)).values():
            array[...] = 0.5 * rng.standard_normal(array.shape) + 0.1
        return layer

    return disturb


@pytest.fixture
def make(rng, disturb):
    """Make a NumPy layer by its name, with options for its configuration."""
    ids = {"vocab_size": 23, "max_seq_len": 9, "num_segments": 3}
    pixels = {"image_size": 8, "patch_size": 4, "num_channels": 3}

    def make(kind, **options):
        sizes = {**SIZES, **options}
        match kind:
            case "LayerNorm":
                layer = LayerNorm(D, 0.1)
            case "RMSNorm":
                layer = RMSNorm(D, 0.2)
            case "MultiHeadAttention":
                layer = MultiHeadAttention(D, H, rng=rng, **options)
            case "FeedForward":
                layer = FeedForward(D, F, rng=rng, **options)
            case "EncoderLayer":
                layer = EncoderLayer(D, H, F, eps=0.1, rng=rng, **options)
            case "Encoder":
                layer = Encoder(EncoderConfig(**sizes), rng=rng)
            case "TextEmbeddings":
                layer = TextEmbeddings(TextConfig(**sizes, **ids), rng=rng)
            case "TextEncoder":
                layer = TextEncoder(TextConfig(**sizes, **ids), rng=rng)
            case "PatchEmbeddings":
                layer = PatchEmbeddings(ImageConfig(**sizes, **pixels), rng=rng)
            case "ImageEncoder":
                layer = ImageEncoder(ImageConfig(**sizes, **pixels), rng=rng)
            case "TokenClassifier":
                encoder = TextEncoder(TextConfig(**sizes, **ids), rng=rng)
                layer = TokenClassifier(encoder, 4, rng=rng)
        return disturb(layer)

    return make
