"""Checks of chapter 13: a classifier on top of an encoder."""

import numpy as np

from encoderlab.config import EncoderConfig, TextConfig
from encoderlab.lab.case import Case, Property, ask, give_weights
from encoderlab.with_numpy import heads as ours
from encoderlab.with_numpy.encoder import Encoder, TextEncoder

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11}


def text_encoder(num_layers=2):
    """A small encoder of 19 token ids; its weights are set later."""
    config = TextConfig(**SIZES, num_layers=num_layers, vocab_size=19, max_seq_len=16)
    return TextEncoder(config, rng=np.random.default_rng(0))


def TokenClassifier(solution, rng):  # noqa: N802  # named as what it checks
    def build(encoder, num_classes=7, seed=3):
        return solution(encoder, num_classes, rng=np.random.default_rng(seed))

    fresh = text_encoder()
    sizes = Case(
        "the shapes of W and b of a new model",
        lambda: (np.shape(build(fresh).W), np.shape(build(fresh).b)),
    )
    yield sizes
    yield Property("the encoder is a part of it", lambda: build(fresh).encoder is fresh)
    yield Property("W of a new model is random", lambda: np.ptp(build(fresh).W) > 0)
    yield Property(
        "a generator of the same seed gives the same W, another one another",
        lambda: (
            np.array_equal(build(fresh).W, build(fresh).W)
            and not np.array_equal(build(fresh).W, build(fresh, seed=4).W)
        ),
    )

    def ready(make):
        reference = ours.TokenClassifier(make(), 7, rng=np.random.default_rng(0))
        return give_weights(build(make()), reference, rng)

    model = ready(text_encoder)
    ids = rng.integers(19, size=(2, 5))
    mask = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]])
    yield ask(model, ids[:1, :3], says="one sequence of 3 tokens")
    yield ask(model, ids, says="2 sequences of 5 tokens, 7 classes")
    yield ask(model, ids, mask, says="the same with a mask of padding")
    named = {"attention_mask": mask, "segment_ids": ids % 2}
    yield ask(model, ids, says="the mask and segments by name", keywords=named)
    padded = np.where(mask == 1, ids, (ids + 1) % 19)
    yield Property(
        "what stands at padded positions does not leak",
        lambda: np.allclose(
            model(ids, mask)[mask == 1], model(padded, mask)[mask == 1], 1e-9, 1e-12
        ),
    )
    plain = EncoderConfig(**SIZES, num_layers=2, norm_first=False)
    vectors = ready(lambda: Encoder(plain, rng=np.random.default_rng(0)))
    x = rng.standard_normal((2, 5, 12))
    yield ask(vectors, x, says="an encoder of vectors, post-norm")
    yield Case("0 classes", lambda: build(fresh, 0), raises=ValueError)
