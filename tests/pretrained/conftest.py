"""A checkpoint small enough to write anew for each test.

Sizes are all distinct, so that axes cannot be confused: V=23, P=9, G=3, D=12, H=4,
F=11.
"""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from encoderlab.pretrained.wordpiece import SPECIAL_TOKENS

CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu_new",
    "hidden_size": 12,
    "num_attention_heads": 4,
    "intermediate_size": 11,
    "num_hidden_layers": 2,
    "layer_norm_eps": 1e-3,
    "hidden_dropout_prob": 0.2,
    "vocab_size": 23,
    "max_position_embeddings": 9,
    "type_vocab_size": 3,
}
SHAPES = {
    "embeddings.word_embeddings.weight": (23, 12),
    "embeddings.position_embeddings.weight": (9, 12),
    "embeddings.token_type_embeddings.weight": (3, 12),
    "embeddings.LayerNorm.weight": (12,),
    "embeddings.LayerNorm.bias": (12,),
}
for i in (0, 1):
    for name, shape in {
        "attention.self.query": (12, 12),
        "attention.self.key": (12, 12),
        "attention.self.value": (12, 12),
        "attention.output.dense": (12, 12),
        "intermediate.dense": (11, 12),
        "output.dense": (12, 11),
        "attention.output.LayerNorm": (12,),
        "output.LayerNorm": (12,),
    }.items():
        SHAPES[f"encoder.layer.{i}.{name}.weight"] = shape
        SHAPES[f"encoder.layer.{i}.{name}.bias"] = shape[:1]


@pytest.fixture
def config():
    return dict(CONFIG)


@pytest.fixture
def tensors():
    rng = np.random.default_rng(0)
    return {
        name: rng.standard_normal(shape).astype(np.float32)
        for name, shape in SHAPES.items()
    }


@pytest.fixture
def folder(tmp_path, config, tensors):
    """A folder that holds the small checkpoint."""
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save_file(tensors, folder / "model.safetensors")
    vocab = [*SPECIAL_TOKENS, *"abcdefghijklmnopqr"]
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
    return folder
