"""Make prices.npz: each mistake of the forward pass, put into the real model.

usage: make_prices.py [FILE]      (default: prices.npz beside this script)

The price is the mean cosine between the sentence vectors of MiniLM with the mistake and
without it, over sentences of unequal length in one batch: 1 is invisible. It is NaN
where the vectors are not finite, and -2 where the model does not run.
"""

import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from encoderlab import pretrained
from encoderlab.lab.exercises import exercises
from encoderlab.lab.mistakes import mistakes_of
from encoderlab.with_numpy import encoder, pooling
from encoderlab.with_numpy.feed_forward import ACTIVATIONS
from encoderlab.with_numpy.parameters import load

FORWARD = [
    "with_numpy.functional.linear",
    "with_numpy.functional.masked_softmax",
    "with_numpy.functional.gelu",
    "with_numpy.pooling.mean_pool",
    "with_numpy.attention.attention",
    "with_numpy.attention.split_heads",
    "with_numpy.attention.merge_heads",
    "with_numpy.attention.MultiHeadAttention",
    "with_numpy.normalization.layer_norm",
    "with_numpy.normalization.LayerNorm",
    "with_numpy.feed_forward.FeedForward",
    "with_numpy.embeddings.TextEmbeddings",
    "with_numpy.encoder_layer.EncoderLayer",
    "with_numpy.encoder.Encoder",
    "with_numpy.encoder.TextEncoder",
]
SENTENCES = [
    "The cat slept on the warm windowsill.",
    "A kitten was napping in the sun.",
    "Borrowing money became more expensive, and fewer people bought a house.",
    "The bank raised its interest rates.",
    "We sat on the bank of the river until it grew dark and the lights came on.",
    "Rain.",
    "Heavy rain flooded the valley overnight.",
    "I forgot my password and cannot log in to my account; what shall I do?",
]


def once(right, wrong):
    """The wrong function, which finds the right one when it calls it by its name."""
    inside = False

    def called(*arguments, **options):
        nonlocal inside
        if inside:
            return right(*arguments, **options)
        inside = True
        try:
            return wrong(*arguments, **options)
        finally:
            inside = False

    return called


@contextmanager
def replaced(right, wrong):
    """Put one object in the place of another, wherever the NumPy side holds it."""
    if not isinstance(right, type):
        wrong = once(right, wrong)
    held = [
        (module, name)
        for path, module in sorted(sys.modules.items())
        if path.startswith("encoderlab.with_numpy")
        for name, value in vars(module).items()
        if value is right
    ]
    names = [name for name, value in ACTIVATIONS.items() if value is right]
    for module, name in held:
        setattr(module, name, wrong)
    ACTIVATIONS.update(dict.fromkeys(names, wrong))
    try:
        yield
    finally:
        for module, name in held:
            setattr(module, name, right)
        ACTIVATIONS.update(dict.fromkeys(names, right))


def embed(checkpoint):
    """Unit vectors of the sentences, in float64, by whatever the modules now hold."""
    rng = np.random.default_rng(0)
    model = encoder.TextEncoder(checkpoint.config, rng=rng)
    load(model, checkpoint.weights)
    ids, mask, segments = checkpoint.tokenizer.batch(SENTENCES, 64)
    hidden = model(ids, mask, segment_ids=segments).last_hidden_state
    vectors = np.asarray(pooling.mean_pool(hidden, mask == 1), np.float64)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def forward_mistakes():
    """Each exercise of the forward pass with each of its mistakes."""
    return [(name, mistake) for name in FORWARD for mistake in mistakes_of(name)]


def prices(every=1):
    """Yield each mistake's id and its price, or of every so many."""
    checkpoint = pretrained.load("minilm-l6")
    right = embed(checkpoint)
    for name, mistake in forward_mistakes()[::every]:
        reference = exercises()[name].reference()
        with replaced(reference, mistake.target), np.errstate(all="ignore"):
            try:
                price = float((embed(checkpoint) * right).sum(axis=-1).mean())
            except Exception:
                price = -2.0
        yield mistake.id, price


def main():
    file = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("prices.npz")
    names, cosines = zip(*prices(), strict=True)
    np.savez(file, mistakes=names, cosines=np.round(cosines, 6))


if __name__ == "__main__":
    main()
