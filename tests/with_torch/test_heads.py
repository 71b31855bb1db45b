import dataclasses

import numpy as np
import pytest
import torch
import transformers
from torch.testing import assert_close

from encoderlab.with_numpy import encoder as numpy_encoder
from encoderlab.with_torch.encoder import Encoder, ImageEncoder, TextEncoder
from encoderlab.with_torch.heads import (
    MaskedLanguageModel,
    SequenceClassifier,
    TokenClassifier,
)

IDS = torch.tensor([[5, 0, 22, 5, 7], [1, 2, 3, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def reader(text_config):
    return TextEncoder(text_config)


def test_token_classifier_maps_every_vector(disturb, reader):
    model = disturb(TokenClassifier(reader, 4))
    state = reader(IDS, MASK, causal=True).last_hidden_state
    expected = state @ model.classifier.weight.T + model.classifier.bias
    assert_close(model(IDS, MASK, causal=True), expected, **TOLERANCE)


def test_sequence_classifier_maps_the_first_vector(disturb, reader, image_config):
    model = disturb(SequenceClassifier(reader, 4))
    every = TokenClassifier.forward(model, IDS, MASK)
    assert_close(model(IDS, MASK), every[:, 0], **TOLERANCE)
    viewer = disturb(SequenceClassifier(ImageEncoder(image_config), 10))
    images = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    first = viewer.encoder(images).last_hidden_state[:, 0]
    assert_close(viewer(images), viewer.classifier(first), **TOLERANCE)


@pytest.mark.parametrize("head", [TokenClassifier, SequenceClassifier])
def test_classifier_takes_one_sequence_without_batch_axis(
    disturb, encoder_config, head
):
    model = disturb(head(Encoder(encoder_config), 4))
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    assert_close(model(x[1]), model(x)[1], **TOLERANCE)


@pytest.mark.parametrize("head", [TokenClassifier, SequenceClassifier])
def test_classifier_refuses_no_classes(encoder_config, head):
    with pytest.raises(ValueError, match="num_classes must be at least 1, got 0"):
        head(Encoder(encoder_config), 0)


def test_head_refuses_what_is_no_encoder_in_pytorch(
    encoder_config, text_config, without_shape_checks
):
    for_numpy = numpy_encoder.TextEncoder(text_config, rng=np.random.default_rng(0))
    for wrong in (None, text_config, for_numpy):
        with pytest.raises(TypeError, match="must be a module with config, got"):
            TokenClassifier(wrong, 4)
    for wrong in (for_numpy, Encoder(encoder_config)):
        with pytest.raises(TypeError, match=r"with config and embeddings\.token, got"):
            MaskedLanguageModel(wrong)


@pytest.mark.parametrize(
    ("head", "options"),
    [(TokenClassifier, [4]), (SequenceClassifier, [4]), (MaskedLanguageModel, [])],
)
def test_head_trains_its_encoder_too(disturb, reader, head, options):
    model = disturb(head(reader, *options))
    logits = model(IDS, MASK)
    logits.backward(torch.randn_like(logits))
    for name, parameter in model.named_parameters():
        gradient = parameter.grad.abs().max()
        if name.endswith("k_proj.bias"):  # shifts all scores of a row alike
            assert gradient < 1e-9
        else:
            assert gradient > 1e-5, name


BERT_NAMES = {
    "encoder.embeddings.token.": "bert.embeddings.word_embeddings.",
    "encoder.embeddings.position.": "bert.embeddings.position_embeddings.",
    "encoder.embeddings.segment.": "bert.embeddings.token_type_embeddings.",
    "encoder.embeddings.norm.": "bert.embeddings.LayerNorm.",
    "encoder.layers.": "bert.encoder.layer.",
    "attention.q_proj": "attention.self.query",
    "attention.k_proj": "attention.self.key",
    "attention.v_proj": "attention.self.value",
    "attention.out_proj": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "feed_forward.linear_1": "intermediate.dense",
    "feed_forward.linear_2": "output.dense",
    "norm_2": "output.LayerNorm",
    "transform.": "cls.predictions.transform.dense.",
}


@pytest.mark.parametrize(
    ("activation", "theirs"), [("gelu", "gelu"), ("gelu_tanh", "gelu_new")]
)
def test_masked_language_model_matches_transformers(
    disturb, text_config, activation, theirs
):
    config = dataclasses.replace(text_config, norm_first=False, activation=activation)
    model = disturb(MaskedLanguageModel(TextEncoder(config)))
    peer = transformers.BertForMaskedLM(
        transformers.BertConfig(
            hidden_size=12,
            num_attention_heads=3,
            intermediate_size=11,
            num_hidden_layers=2,
            layer_norm_eps=0.1,
            hidden_act=theirs,
            vocab_size=23,
            max_position_embeddings=9,
            type_vocab_size=3,
        )
    )
    peer = peer.double().eval()
    weights = {}
    for name, tensor in model.state_dict().items():
        for ours, other in BERT_NAMES.items():
            name = name.replace(ours, other)
        if name.startswith("norm."):
            name = "cls.predictions.transform.LayerNorm." + name[5:]
        weights["cls.predictions.bias" if name == "bias" else name] = tensor
    missing, extra = peer.load_state_dict(weights, strict=False)
    assert not extra
    # both are tied to what was loaded
    assert set(missing) <= {"cls.predictions.decoder." + k for k in ("weight", "bias")}
    segments = torch.tensor([[0, 0, 1, 1, 2], [0, 1, 1, 0, 0]])
    expected = peer(IDS, MASK, token_type_ids=segments).logits
    found = model(IDS, MASK, segment_ids=segments)
    assert_close(found, expected, **TOLERANCE)


def test_masked_language_model_scores_the_positions_asked_for(disturb, reader):
    model = disturb(MaskedLanguageModel(reader))
    states = reader(IDS, MASK).last_hidden_state
    chosen = torch.tensor([[True, False, False, True, False], [False, True] + 3 * [0]])
    chosen = chosen.bool()
    found = model.decode(states[chosen])
    assert found.shape == (3, 23)
    assert_close(found, model(IDS, MASK)[chosen], **TOLERANCE)


def test_masked_language_model_has_one_table_for_both_ends(reader):
    model = MaskedLanguageModel(reader)
    shapes = [p.shape for p in model.parameters()]
    assert shapes.count((23, 12)) == 1
    model.decode(torch.randn(5, 12)).sum().backward()
    assert (reader.embeddings.token.weight.grad.abs().amax(-1) > 0).all()
