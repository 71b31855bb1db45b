"""The formulas of model_cards against models that other people wrote, and our own."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertConfig,
    BertModel,
    DebertaConfig,
    DebertaModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    ModernBertConfig,
    ModernBertModel,
    RobertaConfig,
    RobertaModel,
    ViTConfig,
    ViTModel,
)

from encoderlab.config import ImageConfig, TextConfig
from encoderlab.model_cards import CARDS, ModelCard, count_layer, count_parameters
from encoderlab.with_numpy.encoder import ImageEncoder, TextEncoder
from encoderlab.with_numpy.parameters import count

ROOT = Path(__file__).parents[1]
BASE = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "hidden_act": "gelu",
}
TEXT = BASE | {
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
}
LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
MINILM = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
ROBERTA = {
    "vocab_size": 50265,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-5,
}
ALBERT = {
    "vocab_size": 30000,
    "embedding_size": 128,
    "num_hidden_groups": 1,
    "inner_group_num": 1,
    "hidden_act": "gelu_new",
}
DEBERTA = {
    "vocab_size": 50265,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
    "relative_attention": True,
    "max_relative_positions": -1,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
}
DISTILBERT = {
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "dim": 768,
    "n_layers": 6,
    "n_heads": 12,
    "hidden_dim": 3072,
    "activation": "gelu",
    "sinusoidal_pos_embds": False,
}
VIT = {"image_size": 224, "patch_size": 16, "num_channels": 3, "qkv_bias": True}
MODERNBERT = {
    "vocab_size": 50368,
    "hidden_size": 768,
    "intermediate_size": 1152,
    "num_hidden_layers": 22,
    "num_attention_heads": 12,
    "hidden_activation": "gelu",
    "max_position_embeddings": 8192,
    "norm_eps": 1e-5,
    "norm_bias": False,
    "attention_bias": False,
    "mlp_bias": False,
}
# no pooler where the card has none, by the class or by its option
PEERS = {
    "BERT base": lambda: BertModel(BertConfig(**TEXT)),
    "BERT large": lambda: BertModel(BertConfig(**TEXT | LARGE)),
    "RoBERTa base": lambda: RobertaModel(RobertaConfig(**TEXT | ROBERTA)),
    "ALBERT base v2": lambda: AlbertModel(AlbertConfig(**TEXT | ALBERT)),
    "ELECTRA base": lambda: ElectraModel(ElectraConfig(**TEXT, embedding_size=768)),
    "DeBERTa base": lambda: DebertaModel(DebertaConfig(**TEXT | DEBERTA)),
    "DistilBERT base": lambda: DistilBertModel(DistilBertConfig(**DISTILBERT)),
    "MiniLM-L6": lambda: BertModel(BertConfig(**TEXT | MINILM)),
    "ViT-B/16": lambda: ViTModel(ViTConfig(**BASE | VIT), add_pooling_layer=False),
    "ModernBERT base": lambda: ModernBertModel(ModernBertConfig(**MODERNBERT)),
}
SPECIAL = {  # fields without influence on the number of parameters: theirs, ours
    "layer_norm_eps": "eps",
    "norm_eps": "eps",
    "num_attention_heads": "num_heads",
    "n_heads": "num_heads",
}


@pytest.fixture(scope="module")
def peers():
    """Each model without memory for its weights."""
    with torch.device("meta"):
        return {name: build() for name, build in PEERS.items()}


def by_name(cards):
    return pytest.mark.parametrize("card", cards, ids=lambda card: card.name)


def test_every_card_has_a_peer():
    assert [card.name for card in CARDS] == list(PEERS)


@by_name(CARDS)
def test_count_equals_transformers(card, peers):
    assert count_parameters(card) == peers[card.name].num_parameters()


@by_name(CARDS)
def test_count_layer_equals_transformers(card, peers):
    weights = dict(peers[card.name].named_parameters())
    # the second layer where there is one: ModernBERT's first lacks a norm
    layer = "0" if card.shared_layers else "1"
    pattern = rf".*(layers?|albert_layer_groups)\.{layer}\."
    own = [w.numel() for name, w in weights.items() if re.match(pattern, name)]
    assert sum(own) == count_layer(card) > 0


@by_name(CARDS)
def test_choices_that_change_no_count_are_those_of_the_peer(card, peers):
    config = peers[card.name].config.to_dict()
    found = {SPECIAL[name]: config[name] for name in SPECIAL if name in config}
    if isinstance(card.config, ImageConfig):  # the authors' library has 1e-6
        assert (found.pop("eps"), card.config.eps) == (1e-12, 1e-6)
    assert found == {name: getattr(card.config, name) for name in found}
    assert found["num_heads"]


@by_name(CARDS)
def test_count_is_near_the_published_number(card):
    counted = count_parameters(card)
    if card.published_without_tokens:
        counted -= card.config.vocab_size * card.config.d_model
    assert counted / 1e6 == pytest.approx(card.published, rel=0.04)


SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2}
WORDS = {"paper": "", "published": 1, "source": "", "special": ""}
PLAIN = ModelCard(
    name="post-norm text",
    config=TextConfig(
        **SIZES, norm_first=False, vocab_size=23, max_seq_len=9, num_segments=3
    ),
    **WORDS,
)
PICTURE = ModelCard(
    name="image",
    config=ImageConfig(**SIZES, image_size=8, patch_size=4, num_channels=3),
    **WORDS,
)


@by_name(
    [
        PLAIN,
        replace(
            PLAIN, name="pre-norm text", config=replace(PLAIN.config, norm_first=True)
        ),
        PICTURE,
    ]
)
def test_count_equals_our_encoders(card, rng):
    image = isinstance(card.config, ImageConfig)
    encoder = (ImageEncoder if image else TextEncoder)(card.config, rng=rng)
    assert count_parameters(card) == count(encoder)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_layer_like_berts_has_12_d2_and_13_d():
    for card in CARDS[:2]:
        D = card.config.d_model
        assert count_layer(card) == 12 * D * D + 13 * D


def test_page_is_what_the_cards_make():
    script = ROOT / "book" / "_tools" / "make_models_page.py"
    made = subprocess.run(
        [sys.executable, "-X", "utf8", script],
        capture_output=True,
        check=True,
        encoding="utf-8",
    ).stdout
    page = ROOT / "book" / "reference" / "models.md"
    assert page.read_text(encoding="utf-8") == made


def test_papers_of_the_cards_are_in_the_bibliography():
    entries = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for card in CARDS:
        assert f"{{{card.paper}," in entries
