"""Checks of chapters 15 and 16: classifiers, and the head that guesses tokens."""

import torch
from torch import nn

from encoderlab.config import EncoderConfig, ImageConfig, TextConfig
from encoderlab.lab.case import Case, Property, WrongForm, ask
from encoderlab.lab.modules import (
    ask_gradients,
    close,
    draw,
    give_weights,
    in_training,
    own_chance,
    shapes_of,
)
from encoderlab.with_torch import heads as ours
from encoderlab.with_torch.encoder import Encoder, ImageEncoder, TextEncoder

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 11, "num_layers": 2, "eps": 0.1}
TABLES = {"vocab_size": 19, "max_seq_len": 7, "num_segments": 3}
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
    yield Case(says, lambda: shapes_of(new))
    yield from _as_it_was(lambda encoder: solution(encoder, CLASSES), _text_encoder)
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
    yield from _dropped(ready(_text_encoder(dropout=0.3)), ids)
    for wrong in (0, -1):
        says = f"{wrong} classes"
        yield Case(says, lambda wrong=wrong: solution(fresh, wrong), raises=ValueError)


def _dropped(model, ids):
    """Ask for an encoder in training mode, and that nothing else is drawn by chance."""

    def encoder_at_rest():
        with own_chance(5):
            model.train().encoder.eval()
            output = model(ids)
        model.eval()
        return output

    yield Property(
        "in training, the encoder's dropout is on",
        lambda: not close(*(in_training(model, ids, seed=seed) for seed in (5, 6))),
    )
    yield Property(
        "in training, nothing is dropped but in the encoder",
        lambda: close(encoder_at_rest(), model(ids)),
    )


def _text_encoder(**choices):
    return TextEncoder(TextConfig(**SIZES | TABLES | choices))


def MaskedLanguageModel(solution, rng):  # noqa: N802  # named as what it checks
    def reader(**choices):
        """An encoder, its table drawn before the solution is built.

        So a solution that copies the table has a copy of the same numbers.
        """
        encoder = _text_encoder(**choices).double()
        encoder.embeddings.token.weight.data = draw(rng, 19, 12)
        return encoder

    def built(**choices):
        encoder = reader(**choices)
        model = solution(encoder)
        _require_one_table(model, encoder)
        return give_weights(model, ours.MaskedLanguageModel(encoder), rng)

    fresh = reader()
    yield Property("it is an nn.Module", lambda: isinstance(solution(fresh), nn.Module))
    yield Property(
        "the encoder is a part of it", lambda: solution(fresh).encoder is fresh
    )
    yield Case(
        "the parameters beside the encoder's", lambda: _own(solution(fresh), fresh)
    )
    yield Property(
        "transform and norm are no parts of the encoder",
        lambda: _apart(solution(fresh), fresh),
    )
    yield from _as_it_was(solution, reader)
    yield Property(
        "the encoder's table is still the parameter that it was",
        lambda: _keeps_its_table(solution, reader()),
    )
    yield Property(
        "the transform of a new model is drawn at random",
        lambda: bool(solution(fresh).transform.weight.std() > 0),
    )
    model = built(activation="relu")
    decode = _decoder(model)
    yield ask(decode, draw(rng, 12), says="decode: one vector, relu")
    yield ask(decode, draw(rng, 5, 12), says="decode: 5 vectors")
    yield ask(decode, draw(rng, 2, 5, 12), says="decode: 2 x 5 vectors")
    square = draw(rng, 12, 12)
    yield ask(decode, square, says="decode: 12 vectors of width 12")
    for activation in ("gelu", "gelu_tanh", "silu"):
        other = _decoder(built(activation=activation))
        yield ask(other, square, says=f"decode: the activation {activation}")
    precise = _decoder(built(eps=1e-12))
    yield ask(precise, draw(rng, 5, 12, scale=0.1), says="decode: eps = 1e-12")
    ids = torch.from_numpy(rng.integers(19, size=(2, 5)))
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]])
    yield ask(model, ids[:1, :3], says="3 ids, pre-norm")
    yield ask(model, ids, says="2 sequences of 5 ids")
    post = built(norm_first=False)
    yield ask(post, ids, says="the same, post-norm")
    shown = mask == 1
    yield Case("with a mask of padding", lambda: model(ids, mask)[shown])
    how = {"attention_mask": mask, "segment_ids": ids % 3, "causal": True}
    yield Case("mask, segments and causal", lambda: model(ids, **how)[shown])
    yield Property(
        "what stands in the padding does not change the other scores",
        lambda: close(
            model(ids, mask)[shown], model(ids.where(shown, 18 - ids), mask)[shown]
        ),
    )
    yield Property(
        "decode of the encoder's vectors is what the model returns",
        lambda: close(model(ids), decode(model.encoder(ids).last_hidden_state)),
    )
    names = dict(ours.MaskedLanguageModel(reader()).named_parameters())
    for name, asked in (("pre", model), ("post", post)):
        says = f"{name}-norm: the gradients of every parameter"
        yield ask_gradients(asked, ids, says=says, rng=rng, names=names)
    states = draw(rng, 3, 12)
    yield ask_gradients(decode, states, says="decode: the gradient of x", rng=rng)
    yield Case(
        "decode alone: the gradient of the table",
        lambda: _of_the_table(model, states),
    )
    dropped = built(dropout=0.3)
    says = "dropout = 0.3, in evaluation: nothing is dropped"
    yield ask(dropped, ids, says=says)
    yield from _dropped(dropped, ids)
    yield Property(
        "in training decode drops nothing", lambda: _decodes_alike(dropped, states)
    )


def _require_one_table(model, encoder):
    """The decoder is tied: nothing but the encoder's table is as large.

    The table of the encoder that the model keeps counts as the encoder's, even where
    that is a copy: to copy it is another mistake, with a line of its own.
    """
    encoders = (encoder, getattr(model, "encoder", None))
    tables = [e.embeddings.token.weight for e in encoders if isinstance(e, TextEncoder)]
    known, size = {id(table) for table in tables}, tables[0].numel()
    own = model.parameters() if isinstance(model, nn.Module) else ()
    if any(p.numel() == size and id(p) not in known for p in own):
        raise WrongForm(
            "it has a table beside the encoder's: the decoder is tied to that"
        )


def _own(model, encoder):
    """The shapes of what is the head's own, by name."""
    _require_one_table(model, encoder)
    theirs = {id(p) for p in model.encoder.parameters()}
    own = [(n, p) for n, p in model.named_parameters() if id(p) not in theirs]
    return {name: str(tuple(p.shape)) for name, p in own}


def _apart(model, encoder):
    own = {id(getattr(model, name, None)) for name in ("transform", "norm")}
    return not own & {id(module) for module in encoder.modules()}


def _as_it_was(build, new_encoder):
    """Ask that a head leaves the weights of its encoder alone."""
    for part in ("embeddings", "layers"):
        yield Property(
            f"the encoder's {part} keep the weights that they came with",
            lambda part=part: _keeps_its_weights(build, new_encoder(), part),
        )


def _keeps_its_table(build, encoder):
    table = encoder.embeddings.token.weight
    build(encoder)
    return encoder.embeddings.token.weight is table


def _keeps_its_weights(build, encoder, part):
    before = [p.detach().clone() for p in getattr(encoder, part).parameters()]
    after = getattr(build(encoder).encoder, part).parameters()
    return all(torch.equal(*both) for both in zip(before, after, strict=True))


def _decoder(model):
    if not callable(getattr(model, "decode", None)):
        raise WrongForm("it has no method decode")
    return model.decode


def _of_the_table(model, states):
    table = model.encoder.embeddings.token.weight
    logits = model.decode(states)
    upstream = torch.linspace(-0.5, 1, logits.numel()).to(logits).view_as(logits)
    (found,) = torch.autograd.grad(logits, table, upstream, allow_unused=True)
    if found is None:
        raise WrongForm("no gradient comes back to the table of embeddings")
    return found


def _decodes_alike(model, states):
    expected = model.decode(states)
    with own_chance(1):
        found = model.train().decode(states)
    model.eval()
    return close(found, expected)
