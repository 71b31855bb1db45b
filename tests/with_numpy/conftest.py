"""What the tests of the NumPy layers share.

Sizes are all distinct, so that axes cannot be confused: B=2, T=5, S=7, H=3, K=4, D=12,
F=11. Weights are drawn of order 0.5 and no parameter keeps its default, because at
default initialisation most wrong code gives nearly right numbers.
"""

import numpy as np
import pytest
import torch

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.with_numpy.parameters import cast, parameters


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def disturb():
    """Give a layer float64 parameters of order 0.5, none at its default."""

    def disturb(layer, seed=1):
        rng = np.random.default_rng(seed)
        for array in parameters(cast(layer, np.float64)).values():
            array[...] = 0.5 * rng.standard_normal(array.shape) + 0.1
        return layer

    return disturb


@pytest.fixture
def sizes():
    return {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}


@pytest.fixture
def encoder_config(sizes):
    return EncoderConfig(**sizes, eps=0.1)


@pytest.fixture
def text_config(sizes):
    return TextConfig(**sizes, eps=0.1, vocab_size=23, max_seq_len=9, num_segments=3)


@pytest.fixture
def image_config(sizes):
    return ImageConfig(**sizes, eps=0.1, image_size=8, patch_size=4, num_channels=3)


@pytest.fixture
def packed_for_torch():
    """Name an attention's weights as nn.MultiheadAttention does, q, k and v in one."""

    def packed_for_torch(attention):
        arrays = {
            "in_proj_weight": [attention.W_q.T, attention.W_k.T, attention.W_v.T],
            "in_proj_bias": [attention.b_q, attention.b_k, attention.b_v],
            "out_proj.weight": [attention.W_o.T],
            "out_proj.bias": [attention.b_o],
        }
        return {k: torch.from_numpy(np.concatenate(v)) for k, v in arrays.items()}

    return packed_for_torch
