"""Print the page reference/models.md, made from the model cards.

usage: python book/_tools/make_models_page.py > book/reference/models.md
"""

from dataclasses import replace

from encoderlab.config import ImageConfig
from encoderlab.model_cards import CARDS, count_parameters

HEAD = """\
# Real encoders

Ten encoders that are widely used or often cited, in the terms of this book. \
Chapter {doc}`../part1-numpy/11-stacking` derives the formula that counts their \
parameters. This page is made from the table `code/encoderlab/model_cards.py`. One \
test builds each model with the library transformers, without memory for its weights, \
and demands that the two counts be equal; another, that this page is what the table \
makes. Letters are those of {doc}`../notation`.

## Sizes
"""
COUNTED = """
*Parameters* are those of the encoder alone, without the heads for pretraining or for \
a task; what layers share counts once. The pooler, a square linear map with bias after \
the last layer, is counted where the library's class for the text model has one: \
{poolers}. *Published* is the authors' rounded number, in millions. ALBERT with a set \
of weights for each layer would have {unshared:.0f} million.

## Choices
"""
TAIL = """
ε is what is added to the variance in every LayerNorm. That of ViT-B/16 is the default \
of the library Flax, in which the authors' code is written; the checkpoint for \
transformers says 1e-12. Activations are those of the checkpoints for transformers, \
exact unless *tanh* is said. In text models the embeddings are normalised before the \
first layer; in pre-norm ones the last layer is followed by one more norm.

## What is special

"""
SOURCES = """
## Sources

```{bibliography}
:filter: docname in docnames
```
"""
ACTIVATIONS = {"gelu": "GELU", "gelu_tanh": "GELU (tanh)"}


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |\n"


def table(*columns):
    return row(*columns) + row(*["---"] * len(columns))


def published(card):
    without = " without the token table" if card.published_without_tokens else ""
    return f"{card.published} M{without}"


def sizes(card):
    config = card.config
    image = isinstance(config, ImageConfig)
    vocabulary = "patches" if image else f"{config.vocab_size:,}"
    longest = 1 + config.num_patches if image else config.max_seq_len
    return row(
        card.name,
        config.num_layers,
        config.d_model,
        config.num_heads,
        config.d_ff,
        vocabulary,
        f"{longest:,}",
        f"{count_parameters(card):,}",
        published(card),
    )


def choices(card):
    config = card.config
    activation = ACTIVATIONS[config.activation]
    return row(
        card.name,
        "pre-norm" if config.norm_first else "post-norm",
        f"GeGLU ({activation})" if card.gated else activation,
        f"{config.eps:.0e}".replace("e-0", "e-"),
        card.positions,
        "shared" if card.shared_layers else "own",
        "yes" if card.biases else "no",
    )


def special(card):
    source = card.source
    if source.startswith("https://"):
        source = f"[{source.removeprefix('https://')}]({source})"
    return (
        f"- **{card.name}** ({{cite:t}}`{card.paper}`): {card.special}. "
        f"Published number: {source}.\n"
    )


def page():
    poolers = [card.name for card in CARDS if card.pooler]
    albert = next(card for card in CARDS if card.shared_layers)
    counted = COUNTED.format(
        poolers=", ".join(poolers[:-1]) + " and " + poolers[-1],
        unshared=count_parameters(replace(albert, shared_layers=False)) / 1e6,
    )
    parts = [
        HEAD,
        "\n",
        table(
            "model",
            "layers",
            "$D$",
            "$H$",
            "$F$",
            "$V$",
            "longest input",
            "parameters",
            "published",
        ),
        *map(sizes, CARDS),
        counted,
        "\n",
        table(
            "model",
            "order",
            "activation",
            "ε",
            "positions",
            "layers' weights",
            "biases",
        ),
        *map(choices, CARDS),
        TAIL,
        *map(special, CARDS),
        SOURCES,
    ]
    return "".join(parts)


if __name__ == "__main__":
    print(page(), end="")
