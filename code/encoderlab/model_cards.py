"""Well-known encoders: sizes, what is special to each, parameters by formula.

A card's ``config`` holds what this book's encoders have too; the card itself adds what
they lack.
"""

from dataclasses import dataclass, replace
from typing import Literal

from encoderlab.config import (
    BERT_BASE,
    MINILM_L6,
    VIT_B16,
    ImageConfig,
    TextConfig,
)


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """An encoder's architecture, without the heads of any task.

    Parameters
    ----------
    name
        Usual name.
    paper
        Key of the paper in the book's bibliography.
    config
        Sizes and choices; ``positions`` is ``none`` where nothing is added to the
        embeddings.
    published
        The authors' rounded number of parameters, in millions.
    source
        Where they give it: a place in the paper or the address of a page.
    special
        What sets the model apart, in a line.
    positions
        ``learned`` (a table, added to the embeddings), ``relative`` (DeBERTa's: one
        table of distances for all layers, two more matrices in each) or ``rotary``
        (no parameters).
    spare_positions
        Rows of the position table that stand for no position.
    segment_table
        Whether there is a table of segments.
    embedding_width
        Width of the embeddings if it is not the layers': a matrix with bias follows.
    shared_layers
        Whether all layers are one, used again and again.
    gated
        Whether the hidden layer is the product of two projections, one of them through
        the activation (a gated linear unit).
    biases
        Whether linear maps have biases and layer norms a shift.
    first_norm
        False if the first layer has no norm before its attention.
    pooler
        Whether a square linear map with bias, applied to the first token, counts.
    published_without_tokens
        Whether the published number leaves out the table of tokens.
    """

    name: str
    paper: str
    config: TextConfig | ImageConfig
    published: int
    source: str
    special: str
    positions: Literal["learned", "relative", "rotary"] = "learned"
    spare_positions: int = 0
    segment_table: bool = True
    embedding_width: int | None = None
    shared_layers: bool = False
    gated: bool = False
    biases: bool = True
    first_norm: bool = True
    pooler: bool = False
    published_without_tokens: bool = False


def count_parameters(card: ModelCard) -> int:
    """Count a model's parameters from its sizes.

    Parameters
    ----------
    card
        The model.

    Returns
    -------
    int
        Numbers learned; what two layers share counts once.

    Notes
    -----
    Chapter 11.

    Examples
    --------
    >>> [f"{count_parameters(card):,}" for card in CARDS[:2]]
    ['109,482,240', '335,141,888']
    """
    config, D = card.config, card.config.d_model
    norm = (1 + card.biases) * D
    total = count_embeddings(card)
    total += (1 if card.shared_layers else config.num_layers) * count_layer(card)
    if config.norm_first:
        total += norm  # the final one
    if not card.first_norm:
        total -= norm
    if card.positions == "relative" and isinstance(config, TextConfig):
        total += 2 * config.max_seq_len * D  # as many distances to the left as right
    if card.pooler:
        total += D * D + D
    return total


def count_layer(card: ModelCard) -> int:
    """Count the parameters of one layer: 12 D² + 13 D if it is like BERT's, F = 4 D.

    Parameters
    ----------
    card
        The model.

    Returns
    -------
    int
        Numbers learned.

    Notes
    -----
    Chapter 11. DeBERTa's matrices for distances come with one bias, but its keys have
    none: there are four biases in all, as elsewhere.

    Examples
    --------
    >>> count_layer(CARDS[0]) == 12 * 768**2 + 13 * 768
    True
    """
    D, F, bias = card.config.d_model, card.config.d_ff, int(card.biases)
    attention = 4 * (D * D + bias * D)
    if card.positions == "relative":
        attention += 2 * D * D
    inner = (1 + card.gated) * (D * F + bias * F)
    outer = F * D + bias * D
    norms = 2 * (1 + card.biases) * D
    return attention + inner + outer + norms


def count_embeddings(card: ModelCard) -> int:
    """Count the parameters of what turns ids or patches into vectors.

    Parameters
    ----------
    card
        The model.

    Returns
    -------
    int
        Numbers learned.

    Notes
    -----
    Chapter 11.

    Examples
    --------
    >>> f"{count_embeddings(CARDS[0]):,}"
    '23,837,184'
    """
    config, D = card.config, card.config.d_model
    if isinstance(config, ImageConfig):
        pixels = config.num_channels * config.patch_size**2
        return pixels * D + D + D + (1 + config.num_patches) * D
    width = card.embedding_width or D
    rows = config.vocab_size
    if card.positions == "learned":
        rows += config.max_seq_len + card.spare_positions
    if card.segment_table:
        rows += config.num_segments
    projection = 0 if card.embedding_width is None else width * D + D
    return rows * width + (1 + card.biases) * width + projection


# fmt: off
CARDS = (
    ModelCard(
        name="BERT base", paper="devlin2019", published=110, source="section 3",
        special="segments, and a pooler after the last layer",
        config=BERT_BASE, pooler=True,
    ),
    ModelCard(
        name="BERT large", paper="devlin2019", published=340, source="section 3",
        special="as BERT base",
        config=replace(BERT_BASE, num_layers=24, d_model=1024, num_heads=16, d_ff=4096),
        pooler=True,
    ),
    ModelCard(
        name="RoBERTa base", paper="liu2019", published=125,
        source="https://github.com/facebookresearch/fairseq/tree/main/examples/roberta",
        special="byte-level vocabulary; positions counted from 2; one segment",
        config=replace(BERT_BASE, vocab_size=50265, num_segments=1, eps=1e-5),
        spare_positions=2, pooler=True,
    ),
    ModelCard(
        name="ALBERT base v2", paper="lan2020", published=12, source="table 1",
        special="one layer's weights used 12 times; embeddings of width 128, mapped to "
        "768",
        config=replace(
            BERT_BASE, vocab_size=30000, activation="gelu_tanh", dropout=0.0
        ),
        embedding_width=128, shared_layers=True, pooler=True,
    ),
    ModelCard(
        name="ELECTRA base", paper="clark2020", published=110,
        source="https://github.com/google-research/electra",
        special="the discriminator: BERT's architecture without the pooler, trained "
        "otherwise",
        config=BERT_BASE,
    ),
    ModelCard(
        name="DeBERTa base", paper="he2021", published=100,
        source="https://github.com/microsoft/DeBERTa",
        special="content and distance compared separately in every layer; keys without "
        "bias",
        config=replace(BERT_BASE, vocab_size=50265, eps=1e-7, positions="none"),
        positions="relative", segment_table=False, published_without_tokens=True,
    ),
    ModelCard(
        name="DistilBERT base", paper="sanh2019", published=66, source="table 3",
        special="started from every second layer of BERT and distilled; no segments, "
        "no pooler",
        config=replace(BERT_BASE, num_layers=6), segment_table=False,
    ),
    ModelCard(
        name="MiniLM-L6", paper="wang2020", published=22,
        source="https://github.com/microsoft/unilm/tree/master/minilm",
        special="the model of this book, whose sentence vectors do not use the pooler",
        config=MINILM_L6, pooler=True,
    ),
    ModelCard(
        name="ViT-B/16", paper="dosovitskiy2021", published=86, source="table 1",
        special="reads 196 patches of an image and a class token; no norm before the "
        "layers",
        config=VIT_B16,
    ),
    ModelCard(
        name="ModernBERT base", paper="warner2024", published=149, source="section 2.1",
        special="GeGLU; no biases; two of three layers see 128 tokens only; the first "
        "layer has no first norm",
        config=replace(
            BERT_BASE, num_layers=22, d_ff=1152, norm_first=True, eps=1e-5, dropout=0.0,
            vocab_size=50368, max_seq_len=8192, positions="none",
        ),
        positions="rotary", segment_table=False, gated=True, biases=False,
        first_norm=False,
    ),
)
# fmt: on
"""The encoders that the book compares; heads on top of them are not counted."""
