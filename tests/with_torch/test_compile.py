"""Compiled and exported modules give what they give as they are.

jaxtyping's checks are switched off, as they are for everyone but these tests.
"""

import dataclasses
import sys

import pytest
import torch
from torch.testing import assert_close

from encoderlab.with_torch.encoder import ImageEncoder, TextEncoder
from encoderlab.with_torch.heads import MaskedLanguageModel
from encoderlab.with_torch.loss import cross_entropy

IDS = torch.tensor([[5, 0, 22, 5, 7], [1, 2, 3, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}

pytestmark = pytest.mark.usefixtures("without_shape_checks")


@pytest.fixture
def text_config(text_config):
    return dataclasses.replace(text_config, num_layers=1)


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Without the module that pytest makes of the folder `code`: it has no file."""
    monkeypatch.delitem(sys.modules, "code", raising=False)
    yield
    torch.compiler.reset()


def compiled(module):
    """In one graph, run by the ordinary kernels: it needs no C++ compiler."""
    return torch.compile(module, backend="aot_eager", fullgraph=True)


@pytest.mark.parametrize(
    ("norm_first", "options"),
    [(True, {}), (False, {"trace": True, "causal": True})],
)
def test_compiled_text_encoder_equals_itself(disturb, text_config, norm_first, options):
    config = dataclasses.replace(text_config, norm_first=norm_first)
    encoder = disturb(TextEncoder(config))
    parameters = list(encoder.parameters())
    upstream = torch.randn(2, 5, 12, dtype=torch.float64)
    outputs, gradients = [], []
    for run in (encoder, compiled(encoder)):
        output = run(IDS, MASK, **options)
        outputs.append([output[0], *(output[1] or ()), *(output[2] or ())])
        gradients.append(torch.autograd.grad(output[0], parameters, upstream))
    assert_close(*outputs, **TOLERANCE)
    assert_close(*gradients, rtol=1e-10, atol=1e-10)


def test_compiled_training_step_equals_itself(disturb, text_config):
    model = disturb(MaskedLanguageModel(TextEncoder(text_config)))

    def loss(targets):
        return cross_entropy(model(IDS, MASK), targets, ignore_index=-100)

    targets = IDS.masked_fill(IDS == 5, -100)
    expected, found = loss(targets), compiled(loss)(targets)
    assert_close(found, expected, **TOLERANCE)
    parameters = list(model.parameters())
    gradients = [torch.autograd.grad(x, parameters) for x in (found, expected)]
    assert_close(*gradients, rtol=1e-10, atol=1e-12)


def test_compiled_encoder_has_dropout_in_training_alone(text_config):
    encoder = TextEncoder(dataclasses.replace(text_config, dropout=0.5))
    run = compiled(encoder)
    first, second = (run(IDS, MASK)[0] for _ in range(2))
    assert (first - second).abs().max() > 1e-3
    encoder.eval()
    assert_close(run(IDS, MASK)[0], encoder(IDS, MASK)[0], rtol=0, atol=0)


def test_exported_text_encoder_takes_other_lengths(disturb, text_config):
    encoder = disturb(TextEncoder(text_config)).eval()
    axes = {0: torch.export.Dim("B"), 1: torch.export.Dim("T", min=2, max=9)}
    program = torch.export.export(encoder, (IDS, MASK), dynamic_shapes=(axes, axes))
    others = torch.randint(23, (3, 7))
    for inputs in ((IDS, MASK), (others, torch.ones_like(others))):
        found = program.module()(*inputs).last_hidden_state
        assert_close(found, encoder(*inputs).last_hidden_state, **TOLERANCE)


def test_exported_image_encoder_takes_other_batches(disturb, image_config):
    encoder = disturb(ImageEncoder(image_config)).eval()
    images = torch.randn(2, 3, 8, 8, dtype=torch.float64)
    batch = {0: torch.export.Dim("B")}
    program = torch.export.export(encoder, (images,), dynamic_shapes=(batch,))
    for some in (images, images[:1].expand(5, -1, -1, -1)):
        found = program.module()(some).last_hidden_state
        assert_close(found, encoder(some).last_hidden_state, **TOLERANCE)
