"""Checks of chapter 15: classifiers on top of an encoder as modules."""

import torch
from torch import nn

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.lab.case import Case, Property, ask
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    give_weights,
    own_chance,
)
from encoderlab.with_torch import heads as ours
from encoderlab.with_torch.encoder import Encoder, ImageEncoder, TextEncoder

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2, "eps": 0.1}
CLASSES = 7


def TokenClassifier(solution, rng):  # noqa: N802  # named as what it checks
    yield from _classifier(solution, ours.TokenClassifier, rng)


def SequenceClassifier(solution, rng):  # noqa: N802  # named as what it checks
    yield from _classifier(solution, ours.SequenceClassifier, rng)


def _classifier(solution, reference, rng):
    def ready(encoder, num_classes=CLASSES):
        model = solution(encoder, num_classes)
        return give_weights(model, reference(encoder, num_classes), rng)

    fresh = _text_encoder()
    new = solution(fresh, CLASSES)
    yield Property("it is an nn.Module", lambda: isinstance(new, nn.Module))
    yield Property("the encoder is a part of it", lambda: new.encoder is fresh)
    says = "the names and shapes of all parameters"
    yield Case(says, lambda: {n: tuple(p.shape) for n, p in new.named_parameters()})
    model = ready(_text_encoder())
    ids = torch.from_numpy(rng.integers(9, size=(2, 5)))
    ids[0, :3] = torch.tensor([1, 7, 2])
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    yield ask(model, ids[:1, :3], says="one sequence of 3 tokens, 7 classes")
    yield ask(model, ids, says="2 sequences of 5 tokens")
    square = torch.from_numpy(rng.integers(9, size=(5, 5)))
    yield ask(model, square, says="5 sequences of 5 tokens")
    says = "3 tokens and 2 of padding, the mask in its place"
    yield ask(model, ids, mask, says=says)
    how = {"attention_mask": mask, "segment_ids": ids % 3}
    yield ask(model, ids, says="mask and segments by name", keywords=how)
    how = {"causal": True, "trace": True}
    yield ask(model, ids, says="causal = True and trace = True", keywords=how)
    config = ImageConfig(**SIZES, image_size=6, patch_size=3, num_channels=2)
    images = draw(rng, 3, 2, 6, 6)
    yield ask(ready(ImageEncoder(config), 4), images, says="3 images, 4 classes")
    vectors = ready(Encoder(EncoderConfig(**SIZES, norm_first=False)))
    x = draw(rng, 2, 5, 12)
    yield ask(vectors, x, says="an encoder of vectors, post-norm")
    yield ask(ready(_text_encoder(), 1), ids, says="a single class")
    says = "the gradients of every parameter, the encoder's too"
    yield ask_gradients(model, ids, says=says, rng=rng)
    yield Property(
        "the map of a new model is drawn at random",
        lambda: bool(new.classifier.weight.std() > 0),
    )
    yield from _in_training(ready(_text_encoder(dropout=0.3)), ids)
    for wrong in (0, -1):
        says = f"{wrong} classes"
        yield Case(says, lambda wrong=wrong: solution(fresh, wrong), raises=ValueError)


def _in_training(model, ids):
    """Ask that the encoder is trained, and that nothing else is drawn by chance."""

    def trained(seed):
        with own_chance(seed):
            output = model.train()(ids)
        model.eval()
        return output

    def encoder_at_rest():
        with own_chance(5):
            model.train().encoder.eval()
            output = model(ids)
        model.eval()
        return output

    yield Property(
        "in training, the encoder's dropout is on",
        lambda: not close(trained(5), trained(6)),
    )
    yield Property(
        "in training, nothing is dropped but in the encoder",
        lambda: close(encoder_at_rest(), model(ids)),
    )


def _text_encoder(**choices):
    tables = {"vocab_size": 9, "max_seq_len": 7, "num_segments": 3}
    return TextEncoder(TextConfig(**SIZES, **tables, **choices))
