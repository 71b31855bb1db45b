"""Checks of chapters 14 and 15: positions, the embeddings of texts and of images."""

from functools import partial

import torch
from torch import nn

from encoderlab.config import ImageConfig, TextConfig
from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    give_weights,
    in_training,
    shapes_of,
)
from encoderlab.with_torch import embeddings as ours

WIDTHS = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 1, "eps": 0.1}
TEXT = {**WIDTHS, "vocab_size": 9, "max_seq_len": 7, "num_segments": 3}
IMAGE = {**WIDTHS, "image_size": 6, "patch_size": 3, "num_channels": 2}
DROPPED = 0.3


def sinusoidal_positions(solution, rng):
    double = torch.float64
    yield ask(solution, 2, 4, double, says="2 positions of width 4")
    yield ask(solution, 1, 6, double, says="position 0 alone")
    yield ask(solution, 5, 12, double, says="5 positions of width 12", dtype=True)
    yield ask(solution, 4, 4, double, says="4 positions of width 4")
    yield ask(solution, 7, 9, double, says="an odd width, 9")
    yield ask(solution, 3, 1, double, says="width 1")
    how = {"rtol": 1e-6, "dtype": True}
    yield ask(solution, 5, 6, says="no dtype given: float32", **how)
    says = "float32 at positions up to 4999: the angles in float64"
    yield ask(solution, 5000, 6, torch.float32, says=says, **how)
    yield ask(solution, 0, 4, says="no position", raises=ValueError)
    yield ask(solution, 4, 0, says="width 0", raises=ValueError)
    yield ask(solution, 2, 4, torch.int64, says="dtype int64", raises=TypeError)


def TextEmbeddings(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        config = TextConfig(**TEXT | choices)
        return give_weights(solution(config), ours.TextEmbeddings(config), rng)

    new = partial(solution, TextConfig(**TEXT))
    yield Property("it is an nn.Module", lambda: isinstance(new(), nn.Module))
    says = "the parameters that training would change, sinusoidal positions"
    clock = TextConfig(**TEXT, positions="sinusoidal")
    yield Case(says, lambda: sorted(n for n, _ in solution(clock).named_parameters()))
    module = built()
    few = torch.tensor([[1, 7, 2]])
    yield ask(module, few, says="the ids [1, 7, 2], no segments")
    ids = torch.from_numpy(rng.integers(9, size=(2, 5)))
    segments = torch.from_numpy(rng.integers(3, size=(2, 5)))
    ids[0, :3] = torch.tensor([4, 4, 0])
    segments[0, :2] = torch.tensor([1, 2])
    says = "2 sequences of 5 ids with their segments"
    yield ask(module, ids, segments, says=says)
    square = torch.from_numpy(rng.integers(9, size=(5, 5)))
    yield ask(module, square, says="5 sequences of 5 ids")
    longest = torch.from_numpy(rng.integers(9, size=(3, 7)))
    yield ask(module, longest, says="the longest sequence, 7 ids")
    yield ask(built(eps=1e-12), ids, says="eps = 1e-12")
    clocks, blind = built(positions="sinusoidal"), built(positions="none")
    yield ask(clocks, ids, says="sinusoidal positions", rtol=1e-6)
    yield ask(blind, ids, segments, says="no positions")
    yield Property(
        "without positions, permuting the ids permutes the vectors",
        lambda: close(blind(ids.flip(1)), blind(ids).flip(1)),
    )
    says = "the gradients of every table, a token and a segment repeated"
    yield ask_gradients(module, ids, segments, says=says, rng=rng)
    low = solution(clock).bfloat16().eval()
    yield Case(
        "its dtype after .bfloat16(), sinusoidal positions",
        lambda: str(low(few).dtype),
    )
    refused = {"raises": ValueError}
    yield ask(module, few - 2, says="the id -1", **refused)
    yield ask(module, few + 2, says="the id 9 of 9 tokens", **refused)
    for wrong in (-1, 3):
        some = torch.tensor([[0, wrong]])
        yield ask(module, some * 0, some, says=f"the segment {wrong} of 3", **refused)
    long = torch.ones(2, 8, dtype=int)
    yield ask(module, long, says="8 ids, one more than the longest", **refused)
    says = "8 ids, one more than the longest, without positions"
    yield ask(blind, long, says=says, **refused)
    yield ask(module, ids[:, :0], says="no token", **refused)
    yield ask(module, ids.double(), says="ids that are floats", raises=TypeError)
    fresh = new()
    yield Property(
        "the tables of a new module are drawn at random",
        lambda: all(w.std() > 0 for w in fresh.parameters() if w.ndim == 2),
    )
    yield from _dropped(built(dropout=DROPPED), longest.repeat(2, 1), "sequence")


def cut_patches(solution, rng):
    count = torch.arange(16.0).reshape(1, 1, 4, 4)
    says = "the numbers 0 to 15, 4 x 4, in patches of 2"
    yield ask(solution, count, 2, says=says, dtype=True)
    pixel = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]]).double().reshape(1, 2, 2, 2)
    yield ask(solution, pixel, 2, says="one patch of 2 channels, 1 to 4 and 5 to 8")
    images = draw(rng, 2, 3, 6, 4)
    says = "2 images of 3 channels, 6 x 4 pixels"
    yield ask(solution, images, 2, says=says, dtype=True)
    yield ask(solution, images[:, :1], 1, says="patches of one pixel")
    wide = draw(rng, 4, 2, 3, 9)
    yield ask(solution, wide, 3, says="4 images, 3 x 9 pixels, in patches of 3")
    alike = draw(rng, 2, 2, 4, 4)
    yield ask(solution, alike, 2, says="2 images of 2 channels, 4 x 4, patches of 2")
    stored = draw(rng, 2, 6, 4, 3).permute(0, 3, 1, 2)
    yield ask(solution, stored, 2, says="images that are a view of (B, Y, X, C)")
    yield ask_gradients(solution, images, 2, says="the gradient", rng=rng)
    refused = {"raises": ValueError}
    yield ask(solution, images, 4, says="4 does not divide the height 6", **refused)
    yield ask(solution, images, 3, says="3 does not divide the width 4", **refused)
    yield ask(solution, images, 8, says="patches of 8, larger than 6 x 4", **refused)
    for height, width in ((2, 8), (8, 2)):
        says = f"patches of 4 of {height} x {width} pixels, which are 16"
        yield ask(solution, draw(rng, 1, 3, height, width), 4, says=says, **refused)
    for size in (0, -2):
        yield ask(solution, images, size, says=f"patches of size {size}", **refused)


def PatchEmbeddings(solution, rng):  # noqa: N802  # named as what it checks
    def built(**choices):
        config = ImageConfig(**IMAGE | choices)
        return give_weights(solution(config), ours.PatchEmbeddings(config), rng)

    new = partial(solution, ImageConfig(**IMAGE))
    yield Property("it is an nn.Module", lambda: isinstance(new(), nn.Module))
    says = "the parameters that training would change, {} positions"
    for kind in ("learned", "sinusoidal"):
        config = ImageConfig(**IMAGE, positions=kind)
        yield Case(says.format(kind), lambda config=config: shapes_of(solution(config)))
    says = "what class_token is"
    yield Case(says, lambda: type(getattr(new(), "class_token", None)).__name__)
    module = built()
    images = draw(rng, 2, 2, 6, 6)
    yield ask(module, images[:1], says="one image of 2 channels, 4 patches")
    yield ask(module, images, says="2 images")
    five = draw(rng, 5, 2, 6, 6)
    yield ask(module, five, says="as many images as vectors of each, 5")
    small = built(num_channels=1, patch_size=2)
    yield ask(small, images[:, :1], says="2 grey images, 9 patches")
    clocks, blind = built(positions="sinusoidal"), built(positions="none")
    yield ask(clocks, images, says="sinusoidal positions", rtol=1e-6)
    yield ask(blind, images, says="no positions")
    other = images.clone()
    other[1] += 1
    yield Property(
        "image 1 does not change the vectors of image 0",
        lambda: close(module(images)[0], module(other)[0]),
    )
    says = "the gradients of the images and of every parameter"
    yield ask_gradients(module, images, says=says, rng=rng)
    yield Property(
        "patch_proj of a new module is drawn at random",
        lambda: bool(new().patch_proj.weight.std() > 0),
    )
    low = solution(ImageConfig(**IMAGE, positions="sinusoidal")).bfloat16().eval()
    yield Case(
        "its dtype after .bfloat16(), sinusoidal positions",
        lambda: str(low(images.bfloat16()).dtype),
    )
    refused = {"raises": ValueError}
    yield ask(module, images[:, :1], says="1 channel of 2", **refused)
    yield ask(module, images[0], says="an image without the batch axis", **refused)
    for height, width in ((6, 9), (9, 6), (3, 12), (3, 3)):
        says = f"{height} x {width} pixels for 6 x 6"
        yield ask(module, draw(rng, 1, 2, height, width), says=says, **refused)
    large = draw(rng, 1, 2, 12, 12)
    says = "12 x 12 pixels for 6 x 6, without positions"
    yield ask(blind, large, says=says, **refused)
    yield from _dropped(built(dropout=DROPPED), draw(rng, 9, 2, 6, 6), "image")


def _dropped(module, inputs, one):
    """Ask for dropout of the result, in whatever order its mask is drawn.

    ``inputs`` are several of ``one``: "sequence" or "image".
    """
    yield ask(module, inputs, says="dropout = 0.3, in evaluation: nothing is dropped")

    def trained(seed=5):
        return in_training(module, inputs, seed=seed)

    yield Property(
        "each call in training drops other places",
        lambda: not close(trained(5), trained(6)),
    )
    yield Property(
        "in training, about 0.3 of the values are 0",
        lambda: abs((trained() == 0).double().mean() - DROPPED) < 0.1,
    )
    for places, name in ((slice(1), "first vector"), (slice(1, None), "others")):
        yield Property(
            f"in training, what is not 0 of the {name} is divided by 1 - 0.3",
            lambda places=places: _scaled(
                trained()[:, places], module(inputs)[:, places]
            ),
        )
    for axis, name in enumerate((one, "position", "feature")):
        yield Property(
            f"in training, what is dropped differs from {name} to {name}",
            lambda axis=axis: _mixed(trained() == 0, axis),
        )


def _scaled(dropped, whole):
    return close(dropped, (whole / (1 - DROPPED)).masked_fill(dropped == 0, 0))


def _mixed(dropped, axis):
    """Whether along an axis some are dropped and others kept, at some place."""
    return bool((dropped.any(axis) & ~dropped.all(axis)).any())
