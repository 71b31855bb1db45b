import dataclasses

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from encoderlab.with_numpy import embeddings as in_numpy
from encoderlab.with_torch.embeddings import (
    PatchEmbeddings,
    TextEmbeddings,
    cut_patches,
    sinusoidal_positions,
)

IDS = torch.tensor([[5, 0, 22, 5, 7], [1, 2, 3, 4, 21]])
SEGMENTS = torch.tensor([[0, 0, 1, 2, 2], [1, 1, 0, 0, 0]])
TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
KINDS = pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])


@pytest.fixture
def embeddings(disturb, text_config):
    return disturb(TextEmbeddings(text_config))


@pytest.fixture
def images():
    return torch.randn(2, 3, 8, 8, dtype=torch.float64)


# sinusoidal positions


def test_sinusoidal_positions_match_the_papers_formula():
    found = sinusoidal_positions(50, 12, torch.float64)
    for pos in (0, 1, 7, 49):
        for i in range(6):
            angle = pos / 10000 ** (2 * i / 12)
            pair = found[pos, 2 * i : 2 * i + 2].tolist()
            assert pair == pytest.approx([np.sin(angle), np.cos(angle)], abs=1e-12)


@pytest.mark.parametrize("d_model", [1, 7, 11, 12])
def test_sinusoidal_positions_match_numpy(d_model):
    found = sinusoidal_positions(9, d_model, torch.float64)
    expected = in_numpy.sinusoidal_positions(9, d_model, np.float64)
    assert_close(found, torch.from_numpy(expected), rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_sinusoidal_positions_are_rounded_only_at_the_end(dtype):
    found = sinusoidal_positions(5000, 8, dtype)
    exact = sinusoidal_positions(5000, 8, torch.float64)
    assert_close(found, exact.to(dtype), rtol=0, atol=0)


def test_sinusoidal_positions_are_float32_by_default():
    assert sinusoidal_positions(2, 4).dtype == torch.float32


@pytest.mark.parametrize(("max_len", "d_model"), [(0, 4), (4, 0), (-1, 4)])
def test_sinusoidal_positions_refuse_a_size(max_len, d_model):
    with pytest.raises(ValueError, match="max_len and d_model must be at least 1, got"):
        sinusoidal_positions(max_len, d_model)


def test_sinusoidal_positions_refuse_integers_as_dtype():
    with pytest.raises(TypeError, match=r"dtype must be floating, got torch\.int64"):
        sinusoidal_positions(2, 4, torch.int64)


# text


def test_text_embeddings_match_torch(embeddings):
    tables = embeddings.token, embeddings.position, embeddings.segment
    rows = IDS, torch.arange(5), SEGMENTS
    total = sum(
        nn.functional.embedding(i, table.weight)
        for i, table in zip(rows, tables, strict=True)
    )
    norm = embeddings.norm
    expected = nn.functional.layer_norm(total, (12,), norm.weight, norm.bias, 0.1)
    assert_close(embeddings(IDS, SEGMENTS), expected, **TOLERANCE)


def test_text_embeddings_take_segment_zero_by_default(embeddings):
    expected = embeddings(IDS, torch.zeros_like(IDS))
    assert_close(embeddings(IDS), expected, rtol=0, atol=0)
    assert (embeddings(IDS) != embeddings(IDS, SEGMENTS)).any()


def test_text_embeddings_without_positions_give_one_id_one_vector(disturb, text_config):
    config = dataclasses.replace(text_config, positions="none")
    embeddings = disturb(TextEmbeddings(config))
    x = embeddings(IDS)
    assert embeddings.position is None
    assert_close(x[0, 0], x[0, 3], rtol=0, atol=0)


def test_text_embeddings_add_sinusoidal_positions(disturb, text_config):
    config = dataclasses.replace(text_config, positions="sinusoidal")
    embeddings = disturb(TextEmbeddings(config))
    total = embeddings.token(IDS) + embeddings.segment.weight[0]
    total = total + sinusoidal_positions(5, 12, torch.float64)
    assert_close(embeddings(IDS), embeddings.norm(total), **TOLERANCE)


@KINDS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_text_embeddings_have_the_dtype_of_their_tables(text_config, positions, dtype):
    config = dataclasses.replace(text_config, positions=positions)
    assert TextEmbeddings(config).to(dtype)(IDS).dtype == dtype


def test_text_embeddings_drop_in_training_alone(text_config):
    embeddings = TextEmbeddings(dataclasses.replace(text_config, dropout=0.5))
    assert 0.2 < (embeddings.train()(IDS) == 0).double().mean() < 0.8
    assert (embeddings.eval()(IDS) != 0).all()


def test_text_embeddings_start_with_the_documented_spread(text_config):
    config = dataclasses.replace(text_config, vocab_size=3000)
    tables = TextEmbeddings(config)
    assert tables.token.weight.shape == (3000, 12)
    assert tables.position.weight.shape == (9, 12)
    assert tables.segment.weight.shape == (3, 12)
    assert tables.token.weight.std().item() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("bad", [-1, 23])
def test_text_embeddings_refuse_token_ids_out_of_range(embeddings, bad):
    with pytest.raises(ValueError, match="token_ids must be from 0 to 22, got"):
        embeddings(torch.tensor([[1, bad]]))


@pytest.mark.parametrize("bad", [-1, 3])
def test_text_embeddings_refuse_segment_ids_out_of_range(embeddings, bad):
    with pytest.raises(ValueError, match="segment_ids must be from 0 to 2, got"):
        embeddings(torch.tensor([[1, 2]]), torch.tensor([[0, bad]]))


def test_text_embeddings_refuse_ids_that_are_not_whole(
    without_shape_checks, embeddings
):
    with pytest.raises(TypeError, match=r"token_ids must be whole .* torch\.float64"):
        embeddings(IDS.double())
    with pytest.raises(TypeError, match=r"segment_ids must be whole .* torch\.bool"):
        embeddings(IDS, IDS > 3)


@pytest.mark.parametrize("shape", [(5,), (2, 0), (1, 2, 5)])
def test_text_embeddings_refuse_ids_of_another_shape(
    without_shape_checks, embeddings, shape
):
    message = r"token_ids must have shape \(B, T\) with T at .*token_ids\[None\]"
    with pytest.raises(ValueError, match=message):
        embeddings(torch.ones(shape).long())


def test_text_embeddings_refuse_segments_of_another_shape(
    without_shape_checks, embeddings
):
    message = r"segment_ids must have the shape of token_ids, expected \(2, 5\), got"
    with pytest.raises(ValueError, match=message):
        embeddings(IDS, SEGMENTS[:, :4])


@KINDS
def test_text_embeddings_refuse_long_sequences(text_config, positions):
    embeddings = TextEmbeddings(dataclasses.replace(text_config, positions=positions))
    assert embeddings(torch.ones(1, 9).long()).shape == (1, 9, 12)
    with pytest.raises(
        ValueError, match=r"have 10 tokens, .* max_seq_len = 9; truncate"
    ):
        embeddings(torch.ones(1, 10).long())


def test_ids_elsewhere_than_on_the_cpu_are_not_looked_at(embeddings):
    # the meta device stands for any whose values it costs time to read
    found = embeddings.to("meta")(torch.full((2, 5), 99, device="meta"))
    assert found.shape == (2, 5, 12)


# images


def test_patch_embeddings_match_a_convolution(disturb, image_config, images):
    embeddings = disturb(PatchEmbeddings(image_config))
    kernel = embeddings.patch_proj.weight.reshape(12, 3, 4, 4)
    bias = embeddings.patch_proj.bias
    patches = nn.functional.conv2d(images, kernel, bias, stride=4).flatten(2).mT
    x, position = embeddings(images), embeddings.position.weight
    assert x.shape == (2, 5, 12)
    assert_close(x[:, 1:], patches + position[1:], **TOLERANCE)
    first = embeddings.class_token + position[0]
    assert_close(x[:, 0], first.expand(2, 12), **TOLERANCE)


def test_cut_patches_matches_unfold():
    images = torch.randn(2, 3, 4, 6)
    found = cut_patches(images, 2)
    expected = nn.functional.unfold(images, 2, stride=2).mT
    assert_close(found, expected, rtol=0, atol=0)


def test_patch_embeddings_add_sinusoidal_positions(disturb, image_config, images):
    plain, clocked = (
        disturb(PatchEmbeddings(dataclasses.replace(image_config, positions=kind)))
        for kind in ("none", "sinusoidal")
    )
    assert plain.position is clocked.position is None
    expected = plain(images) + sinusoidal_positions(5, 12, torch.float64)
    assert_close(clocked(images), expected, **TOLERANCE)


def test_patch_embeddings_drop_in_training_alone(image_config):
    embeddings = PatchEmbeddings(dataclasses.replace(image_config, dropout=0.5))
    images = torch.ones(2, 3, 8, 8)
    assert 0.2 < (embeddings.train()(images) == 0).double().mean() < 0.8
    assert (embeddings.eval()(images) != 0).all()


def test_patch_embeddings_start_with_the_documented_spread(image_config):
    config = dataclasses.replace(image_config, image_size=64)
    embeddings = PatchEmbeddings(config)
    assert embeddings.position.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert 0 < embeddings.class_token.abs().max() < 0.1


@pytest.mark.parametrize("shape", [(2, 1, 8, 8), (2, 3, 8, 4), (3, 8, 8), (2, 3, 4, 4)])
def test_patch_embeddings_refuse_images_of_another_shape(
    without_shape_checks, image_config, shape
):
    message = r"images must have shape \(B, 3, 8, 8\), got .*images\[:, None\]"
    with pytest.raises(ValueError, match=message):
        PatchEmbeddings(image_config)(torch.ones(shape))


@pytest.mark.parametrize("patch_size", [0, 3, 5])
def test_cut_patches_refuses_a_size_that_does_not_divide(patch_size):
    message = f"divide the images' height and width, got {patch_size} for 4 x 6"
    with pytest.raises(ValueError, match=message):
        cut_patches(torch.zeros(1, 1, 4, 6), patch_size)
