import dataclasses

import numpy as np
import pytest

from encoderlab.config import (
    BERT_BASE,
    MINILM_L6,
    VIT_B16,
    EncoderConfig,
    ImageConfig,
    TextConfig,
)

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}
TEXT = {**SIZES, "vocab_size": 23, "max_seq_len": 9}
IMAGE = {**SIZES, "image_size": 8, "patch_size": 4}


def test_encoder_config_defaults_are_documented_ones():
    config = EncoderConfig(**SIZES)
    assert (config.norm_first, config.activation) == (True, "gelu")
    assert (config.eps, config.dropout, config.d_head) == (1e-5, 0.0, 4)


def test_encoder_config_takes_whole_numbers_of_numpy():
    assert EncoderConfig(**{**SIZES, "d_model": np.int64(12)}) == EncoderConfig(**SIZES)


def test_configs_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        EncoderConfig(**SIZES).d_model = 5


@pytest.mark.parametrize("name", ["d_model", "num_heads", "d_ff", "num_layers"])
@pytest.mark.parametrize("value", [0, -1, 2.0, "3", True, None])
def test_encoder_config_refuses_a_size(name, value):
    with pytest.raises(
        ValueError, match=f"{name} must be a whole number of at least 1"
    ):
        EncoderConfig(**{**SIZES, name: value})


@pytest.mark.parametrize("name", ["vocab_size", "max_seq_len", "num_segments"])
def test_text_config_refuses_a_size(name):
    with pytest.raises(
        ValueError, match=f"{name} must be a whole number of at least 1"
    ):
        TextConfig(**{**TEXT, name: 0})


@pytest.mark.parametrize("name", ["image_size", "patch_size", "num_channels"])
def test_image_config_refuses_a_size(name):
    with pytest.raises(
        ValueError, match=f"{name} must be a whole number of at least 1"
    ):
        ImageConfig(**{**IMAGE, name: 0})


def test_encoder_config_refuses_heads_that_do_not_divide_the_width():
    with pytest.raises(ValueError, match=r"by num_heads, got d_model=12 .*=5"):
        EncoderConfig(**{**SIZES, "num_heads": 5})


@pytest.mark.parametrize("norm_first", ["no", 1, None])
def test_encoder_config_refuses_an_order_that_is_not_boolean(norm_first):
    with pytest.raises(ValueError, match="norm_first must be True or False, got"):
        EncoderConfig(**SIZES, norm_first=norm_first)


def test_encoder_config_refuses_an_unknown_activation():
    with pytest.raises(
        ValueError, match="activation must be one of relu, gelu, gelu_ta"
    ):
        EncoderConfig(**SIZES, activation="swish")


@pytest.mark.parametrize("eps", [-1e-5, float("nan"), float("inf"), "a", True, None])
def test_encoder_config_refuses_eps(eps):
    with pytest.raises(ValueError, match="eps must be a number of at least 0, got"):
        EncoderConfig(**SIZES, eps=eps)


@pytest.mark.parametrize("dropout", [-0.1, 1, 1.5, float("nan"), "a", False])
def test_encoder_config_refuses_dropout(dropout):
    with pytest.raises(ValueError, match=r"dropout must be in \[0, 1\), got"):
        EncoderConfig(**SIZES, dropout=dropout)


@pytest.mark.parametrize(
    ("config", "sizes"), [(TextConfig, TEXT), (ImageConfig, IMAGE)]
)
def test_configs_refuse_unknown_positions(config, sizes):
    with pytest.raises(
        ValueError, match="positions must be one of learned, sinusoidal"
    ):
        config(**sizes, positions="rotary")


def test_image_config_refuses_patches_that_do_not_tile():
    with pytest.raises(ValueError, match="image_size must be a multiple of patch_size"):
        ImageConfig(**{**IMAGE, "patch_size": 3})


def test_image_config_counts_patches():
    assert ImageConfig(**IMAGE).num_patches == 4


BERT = {"norm_first": False, "activation": "gelu", "eps": 1e-12, "dropout": 0.1}
VOCABULARY = {"vocab_size": 30522, "max_seq_len": 512, "num_segments": 2}
BASE = {"num_layers": 12, "d_model": 768, "num_heads": 12, "d_ff": 3072}


def test_presets_are_the_published_configurations():
    small = {"num_layers": 6, "d_model": 384, "num_heads": 12, "d_ff": 1536}
    assert dataclasses.asdict(MINILM_L6) == {
        **small,
        **BERT,
        **VOCABULARY,
        "positions": "learned",
    }
    assert dataclasses.asdict(BERT_BASE) == {
        **BASE,
        **BERT,
        **VOCABULARY,
        "positions": "learned",
    }
    assert dataclasses.asdict(VIT_B16) == {
        **BASE,
        "norm_first": True,
        "activation": "gelu",
        "eps": 1e-6,
        "dropout": 0.1,
        "image_size": 224,
        "patch_size": 16,
        "num_channels": 3,
        "positions": "learned",
    }
    assert VIT_B16.num_patches == 196
