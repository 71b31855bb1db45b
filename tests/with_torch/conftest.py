"""What the tests of the PyTorch modules share.

Sizes are all distinct, so that axes cannot be confused: B=2, T=5, S=7, H=3, K=4, D=12,
F=11. No parameter keeps its default.
"""

import pytest
import torch

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2, "eps": 0.1}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def disturb():
    """Give a module float64 parameters of order 0.5, none at its default."""

    def disturb(module, seed=1):
        draws = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for parameter in module.double().parameters():
                parameter.normal_(0.1, 0.5, generator=draws)
        return module

    return disturb


@pytest.fixture
def encoder_config():
    return EncoderConfig(**SIZES)


@pytest.fixture
def text_config():
    return TextConfig(**SIZES, vocab_size=23, max_seq_len=9, num_segments=3)


@pytest.fixture
def image_config():
    return ImageConfig(**SIZES, image_size=8, patch_size=4, num_channels=3)
