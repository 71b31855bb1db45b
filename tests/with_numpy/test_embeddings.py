import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.embeddings import (
    PatchEmbeddings,
    TextEmbeddings,
    cut_patches,
    sinusoidal_positions,
)

IDS = np.array([[5, 0, 22, 5, 7], [1, 2, 3, 4, 21]])
SEGMENTS = np.array([[0, 0, 1, 2, 2], [1, 1, 0, 0, 0]])


@pytest.fixture
def embeddings(rng, disturb, text_config):
    return disturb(TextEmbeddings(text_config, rng=rng))


# sinusoidal positions


def test_sinusoidal_positions_match_exact_values():
    expected = [0.84147098, 0.54030231, 0.04639922, 0.99892298, 0.00215443, 0.99999768]
    found = sinusoidal_positions(2, 6, np.float64)
    assert_allclose(found[1], expected, atol=1e-8)
    assert_array_equal(found[0], [0, 1, 0, 1, 0, 1])


def test_sinusoidal_positions_match_the_papers_formula():
    d_model, found = 12, sinusoidal_positions(50, 12, np.float64)
    for pos in (0, 1, 7, 49):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            pair = found[pos, [2 * i, 2 * i + 1]]
            assert_allclose(pair, [np.sin(angle), np.cos(angle)], rtol=0, atol=1e-12)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 20))
def test_sinusoidal_positions_shift_is_a_rotation(max_len, pairs, shift):
    table = sinusoidal_positions(max_len + shift, 2 * pairs, np.float64)
    omega = 10000.0 ** (-np.arange(pairs) / pairs)
    sine, cosine = table[:max_len, 0::2], table[:max_len, 1::2]
    turned = sine * np.cos(shift * omega) + cosine * np.sin(shift * omega)
    assert_allclose(table[shift:, 0::2], turned, rtol=0, atol=1e-11)


@pytest.mark.parametrize("d_model", [1, 7, 11])
def test_sinusoidal_positions_of_odd_width_end_with_a_sine(d_model):
    table = sinusoidal_positions(9, d_model, np.float64)
    last = np.arange(9) * 10000 ** (-(d_model - 1) / d_model)
    assert table.shape == (9, d_model)
    assert_allclose(table[:, -1], np.sin(last), rtol=1e-12)


def test_sinusoidal_positions_do_not_depend_on_the_length():
    assert_array_equal(sinusoidal_positions(9, 12)[:5], sinusoidal_positions(5, 12))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_sinusoidal_positions_are_rounded_only_at_the_end(dtype):
    found = sinusoidal_positions(5000, 8, dtype)
    assert found.dtype == dtype
    exact = sinusoidal_positions(5000, 8, np.float64)
    assert_array_equal(found, exact.astype(dtype))


def test_sinusoidal_positions_are_float32_by_default():
    assert sinusoidal_positions(2, 4).dtype == np.float32


@pytest.mark.parametrize(("max_len", "d_model"), [(0, 4), (4, 0), (-1, 4)])
def test_sinusoidal_positions_refuse_a_size(max_len, d_model):
    with pytest.raises(ValueError, match="max_len and d_model must be at least 1, got"):
        sinusoidal_positions(max_len, d_model)


# text


def test_text_embeddings_match_torch(embeddings):
    tables = embeddings.W_token, embeddings.W_position, embeddings.W_segment
    rows = IDS, np.arange(5), SEGMENTS
    total = sum(
        torch.nn.functional.embedding(torch.from_numpy(i), torch.from_numpy(table))
        for i, table in zip(rows, tables, strict=True)
    )
    norm = embeddings.norm
    expected = torch.nn.functional.layer_norm(
        total, (12,), torch.from_numpy(norm.gamma), torch.from_numpy(norm.beta), 0.1
    )
    assert_allclose(embeddings(IDS, SEGMENTS), expected, rtol=1e-10, atol=1e-12)


def test_text_embeddings_take_segment_zero_by_default(embeddings):
    assert_array_equal(embeddings(IDS), embeddings(IDS, np.zeros_like(IDS)))
    assert (embeddings(IDS) != embeddings(IDS, SEGMENTS)).any()


def test_text_embeddings_without_positions_give_one_id_one_vector(
    rng, disturb, text_config
):
    config = dataclasses.replace(text_config, positions="none")
    embeddings = disturb(TextEmbeddings(config, rng=rng))
    x = embeddings(IDS)
    assert embeddings.W_position is None
    assert_array_equal(x[0, 0], x[0, 3])


def test_text_embeddings_add_sinusoidal_positions(rng, disturb, text_config):
    config = dataclasses.replace(text_config, positions="sinusoidal")
    embeddings = disturb(TextEmbeddings(config, rng=rng))
    total = embeddings.W_token[IDS] + embeddings.W_segment[0]
    total = total + sinusoidal_positions(5, 12, np.float64)
    assert_allclose(embeddings(IDS), embeddings.norm(total), rtol=1e-12)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_text_embeddings_are_float32(rng, text_config, positions):
    config = dataclasses.replace(text_config, positions=positions)
    assert TextEmbeddings(config, rng=rng)(IDS).dtype == np.float32


def test_text_embeddings_drop_only_with_a_generator(rng, text_config):
    config = dataclasses.replace(text_config, dropout=0.5)
    embeddings = TextEmbeddings(config, rng=rng)
    assert (embeddings(IDS) != 0).all()
    assert 0.2 < (embeddings(IDS, rng=rng) == 0).mean() < 0.8


def test_text_embeddings_start_with_the_documented_spread(rng, text_config):
    config = dataclasses.replace(text_config, vocab_size=3000)
    embeddings = TextEmbeddings(config, rng=rng)
    assert_allclose(embeddings.W_token.std(), 0.02, rtol=0.05)
    shapes = (3000, 12), (9, 12), (3, 12)
    tables = embeddings.W_token, embeddings.W_position, embeddings.W_segment
    assert tuple(table.shape for table in tables) == shapes


@pytest.mark.parametrize("bad", [-1, 23])
def test_text_embeddings_refuse_token_ids_out_of_range(embeddings, bad):
    with pytest.raises(ValueError, match="token_ids must be from 0 to 22, got"):
        embeddings(np.array([[1, bad]]))


@pytest.mark.parametrize("bad", [-1, 3])
def test_text_embeddings_refuse_segment_ids_out_of_range(embeddings, bad):
    with pytest.raises(ValueError, match="segment_ids must be from 0 to 2, got"):
        embeddings(np.array([[1, 2]]), np.array([[0, bad]]))


def test_text_embeddings_refuse_ids_that_are_not_whole(
    without_shape_checks, embeddings
):
    with pytest.raises(TypeError, match="token_ids must be whole numbers, got float64"):
        embeddings(IDS.astype(float))
    with pytest.raises(TypeError, match="segment_ids must be whole numbers, got bool"):
        embeddings(IDS, IDS > 3)


@pytest.mark.parametrize("shape", [(5,), (2, 0), (1, 2, 5)])
def test_text_embeddings_refuse_ids_of_another_shape(
    without_shape_checks, embeddings, shape
):
    with pytest.raises(
        ValueError, match=r"token_ids must have shape \(B, T\) with T at"
    ):
        embeddings(np.ones(shape, int))


def test_text_embeddings_refuse_segments_of_another_shape(
    without_shape_checks, embeddings
):
    with pytest.raises(
        ValueError, match=r"segment_ids must have the shape of token_ids"
    ):
        embeddings(IDS, SEGMENTS[:, :4])


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_text_embeddings_refuse_long_sequences(rng, text_config, positions):
    config = dataclasses.replace(text_config, positions=positions)
    embeddings = TextEmbeddings(config, rng=rng)
    assert embeddings(np.ones((1, 9), int)).shape == (1, 9, 12)
    with pytest.raises(
        ValueError, match=r"have 10 tokens, .* max_seq_len = 9; truncate"
    ):
        embeddings(np.ones((1, 10), int))


# images


def test_patch_embeddings_match_a_convolution(rng, disturb, image_config):
    embeddings = disturb(PatchEmbeddings(image_config, rng=rng))
    images = rng.standard_normal((2, 3, 8, 8))
    kernel = torch.from_numpy(embeddings.W_patch.T.reshape(12, 3, 4, 4))
    patches = torch.nn.functional.conv2d(
        torch.from_numpy(images), kernel, torch.from_numpy(embeddings.b_patch), stride=4
    )
    x = embeddings(images)
    assert x.shape == (2, 5, 12)
    expected = patches.flatten(2).mT.numpy() + embeddings.W_position[1:]
    assert_allclose(x[:, 1:], expected, rtol=1e-10, atol=1e-12)
    first = embeddings.class_token + embeddings.W_position[0]
    assert_allclose(x[:, 0], [first, first], rtol=1e-12)


def test_patch_embeddings_without_positions_give_one_patch_one_vector(
    rng, disturb, image_config
):
    config = dataclasses.replace(image_config, positions="none")
    embeddings = disturb(PatchEmbeddings(config, rng=rng))
    patch = rng.standard_normal((1, 3, 4, 4))
    x = embeddings(np.tile(patch, (1, 1, 2, 2)))
    assert embeddings.W_position is None
    assert_allclose(x[0, 1:], np.tile(x[0, 1], (4, 1)), rtol=1e-12)


def test_patch_embeddings_add_sinusoidal_positions(rng, disturb, image_config):
    plain, clocked = (
        disturb(
            PatchEmbeddings(dataclasses.replace(image_config, positions=p), rng=rng)
        )
        for p in ("none", "sinusoidal")
    )
    images = rng.standard_normal((2, 3, 8, 8))
    expected = plain(images) + sinusoidal_positions(5, 12, np.float64)
    assert_allclose(clocked(images), expected, rtol=1e-12)


def test_patch_embeddings_drop_only_with_a_generator(rng, image_config):
    config = dataclasses.replace(image_config, dropout=0.5)
    embeddings, images = PatchEmbeddings(config, rng=rng), np.ones((2, 3, 8, 8))
    assert (embeddings(images) != 0).all()
    assert 0.2 < (embeddings(images, rng=rng) == 0).mean() < 0.8


@pytest.mark.parametrize("shape", [(2, 1, 8, 8), (2, 3, 8, 4), (3, 8, 8), (2, 3, 4, 4)])
def test_patch_embeddings_refuse_images_of_another_shape(
    without_shape_checks, rng, image_config, shape
):
    message = r"images must have shape \(B, 3, 8, 8\), got .*images\[:, None\]"
    with pytest.raises(ValueError, match=message):
        PatchEmbeddings(image_config, rng=rng)(np.ones(shape))


def test_sinusoidal_positions_refuse_integers_as_dtype():
    with pytest.raises(TypeError, match="dtype must be floating, got int64"):
        sinusoidal_positions(2, 4, np.int64)


def test_patch_embeddings_take_no_image(rng, image_config):
    embeddings = PatchEmbeddings(image_config, rng=rng)
    assert embeddings(np.ones((0, 3, 8, 8))).shape == (0, 5, 12)


def test_cut_patches_lays_channels_before_rows():
    images = np.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6)
    patches = cut_patches(images.astype(float), 2)
    assert patches.shape == (2, 6, 12)
    assert_array_equal(patches[1, 4], images[1, :, 2:4, 2:4].ravel())


@pytest.mark.parametrize("patch_size", [0, 3, 5])
def test_cut_patches_refuses_a_size_that_does_not_divide(patch_size):
    message = f"divide the images' height and width, got {patch_size} for 4 x 6"
    with pytest.raises(ValueError, match=message):
        cut_patches(np.zeros((1, 1, 4, 6)), patch_size)
