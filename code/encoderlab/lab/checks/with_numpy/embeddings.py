"""Checks of chapters 06 and 13: positions, the embeddings of texts and of images."""

import numpy as np

from encoderlab.config import ImageConfig, TextConfig
from encoderlab.lab.case import Case, Property, ask, give_weights
from encoderlab.with_numpy import embeddings as ours

WIDTHS = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 1, "eps": 0.1}
TEXT = {**WIDTHS, "vocab_size": 9, "max_seq_len": 7, "num_segments": 3}
IMAGE = {**WIDTHS, "image_size": 6, "patch_size": 3, "num_channels": 2}
DROPPED = 0.3


def sinusoidal_positions(solution, rng):
    double, single = np.float64, np.float32
    yield ask(solution, 2, 4, double, says="2 positions of width 4")
    yield ask(solution, 1, 6, double, says="position 0 alone")
    yield ask(solution, 5, 12, double, says="5 positions of width 12", dtype=True)
    yield ask(solution, 4, 4, double, says="4 positions of width 4")
    yield ask(solution, 7, 9, double, says="an odd width, 9")
    yield ask(solution, 3, 1, double, says="width 1")
    how = {"rtol": 1e-6, "dtype": True}
    yield ask(solution, 5, 6, says="no dtype given: float32", **how)
    says = "float32 at positions up to 4999: the angles in float64"
    yield ask(solution, 5000, 6, single, says=says, **how)
    yield ask(solution, 0, 4, says="no position", raises=ValueError)
    yield ask(solution, 4, 0, says="width 0", raises=ValueError)
    yield ask(solution, 2, 4, int, says="a dtype of integers", raises=TypeError)


def TextEmbeddings(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        return _built(solution, ours.TextEmbeddings, TextConfig(**TEXT | choices), rng)

    layer = built()
    yield ask(layer, np.array([[1, 7, 2]]), says="the ids [1, 7, 2], no segments")
    ids, segments = rng.integers(9, size=(2, 5)), rng.integers(3, size=(2, 5))
    ids[0, :3], segments[0, :2] = (4, 4, 0), (1, 2)
    yield ask(layer, ids, segments, says="2 sequences of 5 ids with their segments")
    square = rng.integers(9, size=(5, 5))
    yield ask(layer, square, says="5 sequences of 5 ids")
    yield ask(layer, rng.integers(9, size=(3, 7)), says="the longest sequence, 7 ids")
    tiny = built(eps=1e-12)
    yield ask(tiny, ids, says="eps = 1e-12")
    clocks = built(positions="sinusoidal")
    yield ask(clocks, ids, says="sinusoidal positions", rtol=1e-6)
    blind = built(positions="none")
    yield ask(blind, ids, segments, says="no positions")
    yield Property(
        "without positions, permuting the ids permutes the vectors",
        lambda: np.allclose(blind(ids[:, ::-1]), blind(ids)[:, ::-1]),
    )
    long = np.ones((2, 8), int)
    refused = {"raises": ValueError}
    yield ask(layer, np.array([[1, -1]]), says="the id -1", **refused)
    yield ask(layer, np.array([[9, 1]]), says="the id 9 of 9 tokens", **refused)
    for wrong in (-1, 3):
        some = np.array([[0, wrong]])
        yield ask(layer, some * 0, some, says=f"the segment {wrong} of 3", **refused)
    yield ask(layer, long, says="8 ids, one more than the longest", **refused)
    says = "8 ids, one more than the longest, without positions"
    yield ask(blind, long, says=says, **refused)
    yield ask(layer, ids[:, :0], says="no token", **refused)
    yield ask(layer, ids.astype(float), says="ids that are floats", raises=TypeError)
    yield Property(
        "segments of another shape than the ids are refused",
        lambda: _refuses(layer, ids, segments[:1]),
    )
    fresh = solution(TextConfig(**TEXT), rng=np.random.default_rng(3))
    yield Property(
        "the tables of a new layer are drawn at random",
        lambda: (
            fresh.W_token.std() > 0 < fresh.W_position.std() * fresh.W_segment.std()
        ),
    )
    yield from _dropped(built(dropout=DROPPED), rng.integers(9, size=(6, 7)))


def cut_patches(solution, rng):
    count = np.arange(16.0).reshape(1, 1, 4, 4)
    yield ask(solution, count, 2, says="the numbers 0 to 15, 4 x 4, in patches of 2")
    images = rng.standard_normal((2, 3, 6, 4))
    yield ask(solution, images, 2, says="2 images of 3 channels, 6 x 4 pixels")
    yield ask(solution, images[:, :1], 1, says="patches of one pixel")
    wide = rng.standard_normal((4, 2, 3, 9))
    yield ask(solution, wide, 3, says="4 images, 3 x 9 pixels, in patches of 3")
    refused = {"raises": ValueError}
    yield ask(solution, images, 4, says="4 does not divide the height 6", **refused)
    yield ask(solution, images, 3, says="3 does not divide the width 4", **refused)
    yield ask(solution, images, 0, says="patches of size 0", **refused)


def PatchEmbeddings(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        config = ImageConfig(**IMAGE | choices)
        return _built(solution, ours.PatchEmbeddings, config, rng)

    layer = built()
    images = rng.standard_normal((2, 2, 6, 6))
    yield ask(layer, images[:1], says="one image of 2 channels, 4 patches")
    yield ask(layer, images, says="2 images")
    five = rng.standard_normal((5, 2, 6, 6))
    yield ask(layer, five, says="as many images as tokens, 5")
    clocks = built(positions="sinusoidal")
    yield ask(clocks, images, says="sinusoidal positions", rtol=1e-6)
    yield ask(built(positions="none"), images, says="no positions")
    other = images.copy()
    other[1] += 1
    yield Property(
        "image 1 does not change the vectors of image 0",
        lambda: np.allclose(layer(images)[0], layer(other)[0]),
    )
    refused = {"raises": ValueError}
    yield ask(layer, images[:, :1], says="1 channel of 2", **refused)
    large = rng.standard_normal((1, 2, 6, 9))
    yield ask(layer, large, says="6 x 9 pixels for 6 x 6", **refused)
    small = rng.standard_normal((1, 2, 3, 3))
    yield ask(layer, small, says="3 x 3 pixels for 6 x 6", **refused)
    yield from _dropped(built(dropout=DROPPED), rng.standard_normal((9, 2, 6, 6)))


def _built(solution, reference, config, rng):
    parts = (
        kind(config, rng=np.random.default_rng(3)) for kind in (solution, reference)
    )
    return give_weights(*parts, rng)


def _refuses(layer, *inputs):
    try:
        layer(*inputs)
    except (TypeError, ValueError):
        return True
    return False


def _dropped(layer, x):
    """Ask for dropout of the result, in whatever order its mask is drawn."""
    yield Case("dropout = 0.3, but no rng: nothing is dropped", lambda: layer(x), (x,))

    def with_rng():
        return layer(x, rng=np.random.default_rng(5))

    yield Property(
        "with an rng, about 0.3 of the values are 0",
        lambda: abs((with_rng() == 0).mean() - DROPPED) < 0.1,
    )
    yield Property(
        "with an rng, what is not 0 is divided by 1 - 0.3",
        lambda: np.allclose(
            with_rng(), np.where(with_rng() == 0, 0, layer(x) / (1 - DROPPED))
        ),
    )
