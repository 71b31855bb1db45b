"""What decays is told by what it is, for our modules and for torch's own."""

import pytest
import torch
from torch import nn

from encoderlab.with_torch.encoder import ImageEncoder, TextEncoder
from encoderlab.with_torch.heads import MaskedLanguageModel, SequenceClassifier
from encoderlab.with_torch.training import decay_groups


def names(module, group):
    known = {id(p): name for name, p in module.named_parameters()}
    return sorted(known[id(p)] for p in group["params"])


def test_decay_groups_of_a_text_model_are_linear_weights_and_the_rest(text_config):
    model = MaskedLanguageModel(TextEncoder(text_config))
    decay, keep = decay_groups(model, 0.3)
    assert (decay["weight_decay"], keep["weight_decay"]) == (0.3, 0.0)
    in_layers = [
        f"encoder.layers.{i}.{part}.weight"
        for i in range(2)
        for part in (
            *(f"attention.{p}_proj" for p in ("k", "out", "q", "v")),
            "feed_forward.linear_1",
            "feed_forward.linear_2",
        )
    ]
    assert names(model, decay) == [*in_layers, "transform.weight"]
    everything = sorted(name for name, _ in model.named_parameters())
    assert sorted(names(model, decay) + names(model, keep)) == everything


def test_decay_groups_of_an_image_model_spare_class_token_and_positions(image_config):
    model = SequenceClassifier(ImageEncoder(image_config), 7)
    decay, keep = decay_groups(model, 0.1)
    assert "encoder.embeddings.patch_proj.weight" in names(model, decay)
    assert "classifier.weight" in names(model, decay)
    for name in ("class_token", "position.weight", "patch_proj.bias"):
        assert f"encoder.embeddings.{name}" in names(model, keep)


@pytest.mark.parametrize("widths", [{}, {"kdim": 5, "vdim": 7}])
def test_decay_groups_know_the_packed_weights_of_torch(widths):
    attention = nn.MultiheadAttention(12, 3, **widths, add_bias_kv=True)
    decay, keep = decay_groups(attention, 0.1)
    assert len(decay["params"]) == (4 if widths else 2)
    assert all(name.endswith("weight") for name in names(attention, decay))
    assert names(attention, keep) == [
        "bias_k",
        "bias_v",
        "in_proj_bias",
        "out_proj.bias",
    ]


def test_decay_groups_take_convolutions_as_linear_maps():
    model = nn.Sequential(nn.Conv2d(3, 5, 2), nn.BatchNorm2d(5))
    decay, keep = decay_groups(model, 0.1)
    assert names(model, decay) == ["0.weight"]
    assert names(model, keep) == ["0.bias", "1.bias", "1.weight"]


def test_decay_groups_name_a_tied_table_once_and_let_it_be():
    table, output = nn.Embedding(7, 5), nn.Linear(5, 7)
    output.weight = table.weight
    decay, keep = decay_groups(nn.Sequential(table, output), 0.1)
    assert decay["params"] == []
    assert [id(p) for p in keep["params"]] == [id(table.weight), id(output.bias)]


def test_decay_groups_name_a_linear_map_used_twice_once():
    layer = nn.Linear(5, 7)
    decay, keep = decay_groups(nn.ModuleList([layer, nn.ReLU(), layer]), 0.1)
    assert [len(group["params"]) for group in (decay, keep)] == [1, 1]


def test_decay_groups_leave_out_what_is_frozen():
    model = nn.Sequential(nn.Linear(5, 7), nn.Linear(7, 3))
    model[0].requires_grad_(False)
    decay, keep = decay_groups(model, 0.1)
    assert names(model, decay) + names(model, keep) == ["1.weight", "1.bias"]


def test_adamw_shrinks_only_what_decays():
    model = nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7))
    before = {name: p.clone() for name, p in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    torch.optim.AdamW(decay_groups(model, 0.5), lr=0.1).step()
    for name, parameter in model.named_parameters():
        factor = 0.95 if name == "0.weight" else 1.0
        torch.testing.assert_close(
            parameter.detach(), factor * before[name], rtol=1e-6, atol=0
        )


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
def test_decay_groups_refuse_an_impossible_decay(value):
    with pytest.raises(ValueError, match="weight_decay must be at least 0 and finite"):
        decay_groups(nn.Linear(2, 3), value)


def test_decay_groups_refuse_a_frozen_model():
    with pytest.raises(ValueError, match="no parameter to train: unfreeze one"):
        decay_groups(nn.Linear(2, 3).requires_grad_(False), 0.1)
