"""Hugging Face's names for BERT's sizes and tensors, and ours."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from encoderlab.config import Activation, TextConfig

ACTIVATIONS: dict[str, Activation] = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
SIZES = {
    "hidden_size": "d_model",
    "num_attention_heads": "num_heads",
    "intermediate_size": "d_ff",
    "num_hidden_layers": "num_layers",
    "layer_norm_eps": "eps",
    "hidden_dropout_prob": "dropout",
    "vocab_size": "vocab_size",
    "max_position_embeddings": "max_seq_len",
    "type_vocab_size": "num_segments",
}
# Their name: our name and the shape in the file. P is max_seq_len, G is num_segments.
EMBEDDING_TENSORS = {
    "word_embeddings.weight": ("W_token", "VD"),
    "position_embeddings.weight": ("W_position", "PD"),
    "token_type_embeddings.weight": ("W_segment", "GD"),
    "LayerNorm.weight": ("norm.gamma", "D"),
    "LayerNorm.bias": ("norm.beta", "D"),
}
LAYER_TENSORS = {
    "attention.self.query.weight": ("attention.W_q", "DD"),
    "attention.self.query.bias": ("attention.b_q", "D"),
    "attention.self.key.weight": ("attention.W_k", "DD"),
    "attention.self.key.bias": ("attention.b_k", "D"),
    "attention.self.value.weight": ("attention.W_v", "DD"),
    "attention.self.value.bias": ("attention.b_v", "D"),
    "attention.output.dense.weight": ("attention.W_o", "DD"),
    "attention.output.dense.bias": ("attention.b_o", "D"),
    "attention.output.LayerNorm.weight": ("norm_1.gamma", "D"),
    "attention.output.LayerNorm.bias": ("norm_1.beta", "D"),
    "intermediate.dense.weight": ("feed_forward.W_1", "FD"),
    "intermediate.dense.bias": ("feed_forward.b_1", "F"),
    "output.dense.weight": ("feed_forward.W_2", "DF"),
    "output.dense.bias": ("feed_forward.b_2", "D"),
    "output.LayerNorm.weight": ("norm_2.gamma", "D"),
    "output.LayerNorm.bias": ("norm_2.beta", "D"),
}


class Tensor(NamedTuple):
    """A tensor of a checkpoint: our name, its shape there, whether we transpose it."""

    name: str
    shape: tuple[int, ...]
    transposed: bool


def text_config(bert: Mapping[str, Any]) -> TextConfig:
    """Translate the content of a BERT checkpoint's ``config.json``.

    Parameters
    ----------
    bert
        The file's keys and values.

    Returns
    -------
    TextConfig
        Post-norm, with learned positions, as BERT is. Its one dropout rate is
        ``hidden_dropout_prob``; BERT can have another for the attention weights.

    Raises
    ------
    ValueError
        If a key is missing, a value cannot be used, or the model is not a BERT encoder.

    Notes
    -----
    Chapter 18.
    """
    for key, wanted, given in (
        ("model_type", "bert", bert.get("model_type")),
        (
            "position_embedding_type",
            "absolute",
            bert.get("position_embedding_type", "absolute"),
        ),
        ("is_decoder", False, bert.get("is_decoder", False)),
    ):
        if given != wanted:
            raise ValueError(
                f"{key} must be {wanted!r}, got {given!r}: only checkpoints of BERT's "
                "architecture can be read"
            )
    missing = [key for key in ("hidden_act", *SIZES) if key not in bert]
    if missing:
        raise ValueError(f"the configuration lacks {', '.join(missing)}")
    if bert["hidden_act"] not in ACTIVATIONS:
        raise ValueError(
            f"hidden_act must be one of {', '.join(ACTIVATIONS)}; got "
            f"{bert['hidden_act']!r}"
        )
    return TextConfig(
        norm_first=False,
        activation=ACTIVATIONS[bert["hidden_act"]],
        **{ours: bert[theirs] for theirs, ours in SIZES.items()},
    )


def tensors(config: TextConfig) -> dict[str, Tensor]:
    """List the tensors that a BERT checkpoint must hold.

    Parameters
    ----------
    config
        The encoder's sizes.

    Returns
    -------
    dict
        Name in the checkpoint to our name and the shape in the file. PyTorch keeps the
        matrix of a linear map as (out, in), we as (in, out): these are marked as
        transposed.

    Notes
    -----
    Chapter 18.

    Examples
    --------
    >>> from encoderlab.config import MINILM_L6
    >>> tensors(MINILM_L6)["encoder.layer.5.intermediate.dense.weight"]
    Tensor(name='layers.5.feed_forward.W_1', shape=(1536, 384), transposed=True)
    """
    size = {
        "V": config.vocab_size,
        "P": config.max_seq_len,
        "G": config.num_segments,
        "D": config.d_model,
        "F": config.d_ff,
    }
    listed = {}
    for theirs, (ours, letters) in EMBEDDING_TENSORS.items():
        shape = tuple(size[letter] for letter in letters)
        listed[f"embeddings.{theirs}"] = Tensor(f"embeddings.{ours}", shape, False)
    for i in range(config.num_layers):
        for theirs, (ours, letters) in LAYER_TENSORS.items():
            shape = tuple(size[letter] for letter in letters)
            listed[f"encoder.layer.{i}.{theirs}"] = Tensor(
                f"layers.{i}.{ours}", shape, len(shape) == 2
            )
    return listed


def modern(name: str) -> str:
    """Give a tensor of an old or larger BERT checkpoint the name it has today.

    Parameters
    ----------
    name
        A name as it stands in the file.

    Returns
    -------
    str
        Without the prefix ``bert.`` that the encoder has in a model with a head, and
        with ``weight`` and ``bias`` for the ``gamma`` and ``beta`` of checkpoints from
        TensorFlow.

    Examples
    --------
    >>> modern("bert.embeddings.LayerNorm.gamma")
    'embeddings.LayerNorm.weight'
    """
    name = name.removeprefix("bert.")
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    return name.replace("LayerNorm.beta", "LayerNorm.bias")
