import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.bridge import (
    from_torch_nn,
    from_torch_nn_mask,
    to_torch,
    to_torch_nn,
    to_torch_nn_mask,
)
from encoderlab.with_torch.masks import causal_mask, padding_mask

B, T, H, D = 2, 5, 3, 12
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
PADDING = padding_mask([3, 5], T)


@pytest.fixture
def x():
    return torch.randn(B, T, D, dtype=torch.float64)


@pytest.fixture
def per_head():
    """A mask for each head of each sequence, in which every token sees itself."""
    return (torch.rand(B, H, T, T) < 0.5) | torch.eye(T, dtype=torch.bool)


@pytest.fixture
def theirs():
    """PyTorch's layer, away from its initial weights."""
    module = nn.MultiheadAttention(D, H, batch_first=True, dtype=torch.float64)
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.1, 0.5)
    return module


# ours to theirs


def test_to_torch_nn_mask_inverts_and_keeps_a_sequences_heads_together(per_head):
    found = to_torch_nn_mask(per_head, H, T)
    assert found.shape == (B * H, T, T)
    for b in range(B):
        for h in range(H):
            assert (found[b * H + h] == ~per_head[b, h]).all()


@pytest.mark.parametrize("kind", ["padded", "causal", "both", "per head"])
@pytest.mark.parametrize("averaged", [True, False])
def test_to_torch_nn_mask_serves_nn_multihead_attention(
    make, x, per_head, kind, averaged
):
    mask = {
        "padded": PADDING,
        "causal": causal_mask(T).expand(B, -1, -1, -1),
        "both": PADDING & causal_mask(T),
        "per head": per_head,
    }[kind]
    ours = to_torch(make("MultiHeadAttention"))
    output, weights = ours(x, mask, need_weights=True)
    expected, expected_weights = to_torch_nn(ours)(
        x,
        x,
        x,
        attn_mask=to_torch_nn_mask(mask, H, T),
        average_attn_weights=averaged,
    )
    assert_close(output, expected, **TOLERANCE)
    if averaged:  # what nn.MultiheadAttention gives unless told otherwise
        weights = weights.mean(1)
    assert_close(weights, expected_weights, **TOLERANCE)


def test_to_torch_nn_mask_serves_the_encoder_too(make, x, per_head):
    ours = to_torch(make("Encoder"))
    found = ours(x, per_head).last_hidden_state
    expected = to_torch_nn(ours)(x, to_torch_nn_mask(per_head, H, T))
    assert_close(found, expected, **TOLERANCE)


def test_query_with_nothing_to_see_is_nan_in_theirs_and_zero_in_ours(make, x):
    ours = to_torch(make("MultiHeadAttention"))
    mask = padding_mask([0, 5], T)
    theirs, _ = to_torch_nn(ours)(x, x, x, attn_mask=to_torch_nn_mask(mask, H, T))
    found, _ = ours(x, mask)
    assert theirs[0].isnan().all()
    assert_close(found[0], ours.out_proj.bias.expand(T, D), **TOLERANCE)
    assert_close(found[1], theirs[1], **TOLERANCE)


@pytest.mark.parametrize("shape", [(T, T), (B, T, T), (B,)])
def test_to_torch_nn_mask_refuses_other_axes(shape):
    message = r"mask must have the axes \(B, H, T, S\), got shape"
    with pytest.raises(ValueError, match=message):
        to_torch_nn_mask(torch.ones(shape) == 1, H, T)


@pytest.mark.parametrize(
    ("shape", "heads", "queries"),
    [((B, 2, T, T), H, T), ((B, 1, 3, T), H, T), ((B, 1, 1, T), 0, T)],
)
def test_to_torch_nn_mask_refuses_other_numbers_of_heads_and_queries(
    shape, heads, queries
):
    with pytest.raises(ValueError, match=r"mask must have shape \(B, 1 or .*, S\)"):
        to_torch_nn_mask(torch.ones(shape) == 1, heads, queries)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_to_torch_nn_mask_refuses_numbers(dtype):
    with pytest.raises(TypeError, match="mask must be boolean with True = may attend"):
        to_torch_nn_mask(PADDING.to(dtype), H, T)


# theirs to ours


@pytest.mark.parametrize("of_attention", [None, "shared", "per head"])
@pytest.mark.parametrize("of_keys", [True, False])
def test_from_torch_nn_mask_means_what_theirs_did(
    theirs, x, per_head, of_attention, of_keys
):
    attn_mask = {
        None: None,
        "shared": ~causal_mask(T)[0, 0],
        "per head": ~per_head.flatten(0, 1),
    }[of_attention]
    if attn_mask is not None and attn_mask.ndim == 3:
        attn_mask[..., 0] = False  # keys that padding leaves to every query
    padding = ~PADDING[:, 0, 0] if of_keys else None
    expected, expected_weights = theirs(
        x,
        x,
        x,
        attn_mask=attn_mask,
        key_padding_mask=padding,
        average_attn_weights=False,
    )
    mask = from_torch_nn_mask(attn_mask, padding, num_heads=H)
    assert (mask is None) == (of_attention is None and not of_keys)
    found, weights = from_torch_nn(theirs)(x, mask, need_weights=True)
    assert_close(found, expected, **TOLERANCE)
    assert_close(weights, expected_weights, **TOLERANCE)


def test_masks_come_back_from_a_round_trip(per_head):
    there = to_torch_nn_mask(per_head, H, T)
    assert (from_torch_nn_mask(there, num_heads=H) == per_head).all()


def test_from_torch_nn_mask_leaves_its_input_unchanged():
    padding = ~PADDING[:, 0, 0]
    before = padding.clone()
    from_torch_nn_mask(None, padding, num_heads=H)
    assert (padding == before).all()


@pytest.mark.parametrize("name", ["attn_mask", "key_padding_mask"])
def test_from_torch_nn_mask_refuses_numbers(name):
    message = rf"{name} must be boolean, got torch\.float32; .* {name} == -torch\.inf"
    with pytest.raises(TypeError, match=message):
        from_torch_nn_mask(**{name: torch.zeros(T, T)}, num_heads=H)


@pytest.mark.parametrize("shape", [(T,), (7, T, T), (B, H, T, T)])
def test_from_torch_nn_mask_refuses_other_axes_of_attention(shape):
    message = r"attn_mask must have shape \(T, S\) or .*, got .* with num_heads=3"
    with pytest.raises(ValueError, match=message):
        from_torch_nn_mask(torch.ones(shape) == 1, num_heads=H)


def test_from_torch_nn_mask_refuses_other_axes_of_keys():
    with pytest.raises(ValueError, match=r"must have shape \(B, S\), got \(5,\)"):
        from_torch_nn_mask(None, torch.ones(T) == 1, num_heads=H)


@pytest.mark.parametrize(
    ("attention", "keys"), [((T, T), (B, T + 1)), ((B * H, T, T), (B + 1, T))]
)
def test_from_torch_nn_mask_refuses_masks_that_do_not_fit(attention, keys):
    masks = torch.ones(attention) == 1, torch.ones(keys) == 1
    with pytest.raises(ValueError, match="must have the same sequences and keys"):
        from_torch_nn_mask(*masks, num_heads=H)


def test_from_torch_nn_mask_refuses_no_heads():
    with pytest.raises(ValueError, match="num_heads must be at least 1, got 0"):
        from_torch_nn_mask(torch.ones(T, T) == 1, num_heads=0)
