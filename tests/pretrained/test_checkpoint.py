import dataclasses
import json
import pickle
import zipfile

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch_file
from transformers import BertConfig, BertModel

from encoderlab.config import TextConfig
from encoderlab.pretrained import read_checkpoint
from encoderlab.with_numpy.encoder import TextEncoder

QUERY = "encoder.layer.1.attention.self.query.weight"


def write_config(folder, content):
    (folder / "config.json").write_text(json.dumps(content), encoding="utf-8")


def write_tensors(folder, tensors):
    save_file(tensors, folder / "model.safetensors")


def test_checkpoint_config_is_read_from_the_file(folder):
    assert read_checkpoint(folder).config == TextConfig(
        d_model=12,
        num_heads=4,
        d_ff=11,
        num_layers=2,
        norm_first=False,
        activation="gelu_tanh",
        eps=1e-3,
        dropout=0.2,
        vocab_size=23,
        max_seq_len=9,
        num_segments=3,
    )


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("gelu", "gelu"), ("gelu_pytorch_tanh", "gelu_tanh"), ("swish", "silu")],
)
def test_checkpoint_activation_is_translated(theirs, ours, folder, config):
    write_config(folder, {**config, "hidden_act": theirs})
    assert read_checkpoint(folder).config.activation == ours


def test_checkpoint_weights_have_our_names_and_layout(folder, tensors):
    weights = read_checkpoint(folder).weights
    assert len(weights) == len(tensors)
    assert_array_equal(
        weights["embeddings.W_token"], tensors["embeddings.word_embeddings.weight"]
    )
    assert_array_equal(weights["layers.1.attention.W_q"], tensors[QUERY].T)
    assert_array_equal(
        weights["layers.0.feed_forward.W_1"],
        tensors["encoder.layer.0.intermediate.dense.weight"].T,
    )
    assert_array_equal(
        weights["layers.1.norm_2.beta"],
        tensors["encoder.layer.1.output.LayerNorm.bias"],
    )


def test_checkpoint_weights_are_float32_contiguous_and_writable(folder):
    for array in read_checkpoint(folder).weights.values():
        assert array.dtype == np.float32
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_checkpoint_survives_saving_and_reading_a_transposed_weight(folder, tmp_path):
    weights = read_checkpoint(folder).weights
    save_file(weights, tmp_path / "ours.safetensors")
    with (tmp_path / "ours.safetensors").open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        start, end = json.loads(file.read(size))["layers.1.attention.W_q"][
            "data_offsets"
        ]
        file.seek(8 + size + start)
        stored = np.frombuffer(file.read(end - start), np.float32).reshape(12, 12)
    assert_array_equal(stored, weights["layers.1.attention.W_q"])


def test_checkpoint_float16_becomes_float32(folder, tensors):
    write_tensors(folder, {name: a.astype(np.float16) for name, a in tensors.items()})
    array = read_checkpoint(folder).weights["layers.1.attention.W_q"]
    assert array.dtype == np.float32
    assert_array_equal(array, tensors[QUERY].T.astype(np.float16))


def test_checkpoint_accepts_the_names_of_old_exports(folder, tensors):
    expected = read_checkpoint(folder).weights
    old = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): array
        for name, array in tensors.items()
    }
    write_tensors(folder, old)
    found = read_checkpoint(folder).weights
    assert list(found) == list(expected)
    for name, array in found.items():
        assert_array_equal(array, expected[name])


def test_checkpoint_leaves_aside_what_is_named_only(folder, tensors):
    pooler = {
        "pooler.dense.weight": np.ones((12, 12), np.float32),
        "embeddings.position_ids": np.arange(9),
    }
    write_tensors(folder, {**tensors, **pooler})
    assert len(read_checkpoint(folder, left_aside=pooler).weights) == len(tensors)
    with pytest.raises(ValueError, match=r"extra: embeddings\.position_ids\n"):
        read_checkpoint(folder)


def test_checkpoint_tokenizer_has_the_vocabulary(folder):
    tokenizer = read_checkpoint(folder).tokenizer
    assert tokenizer.encode("a r [MASK]") == [2, 5, 22, 4, 3]


def test_checkpoint_cannot_be_changed(folder):
    with pytest.raises(dataclasses.FrozenInstanceError):
        read_checkpoint(folder).config = None


def test_checkpoint_of_hugging_face_gives_its_hidden_states(folder, config):
    torch.manual_seed(0)
    keys = ("model_type", "hidden_act")
    sizes = {key: value for key, value in config.items() if key not in keys}
    model = BertModel(BertConfig(**sizes, hidden_act="gelu")).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    model.float().save_pretrained(folder)
    model.double()
    pooler = ("pooler.dense.weight", "pooler.dense.bias")
    checkpoint = read_checkpoint(folder, left_aside=pooler)
    encoder = TextEncoder.from_checkpoint(checkpoint, dtype=np.float64)
    token_ids = np.array([[2, 7, 9, 5, 3], [2, 22, 3, 0, 0]])
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    segment_ids = np.array([[0, 0, 1, 2, 2], [1, 1, 0, 0, 0]])
    found = encoder(token_ids, mask, segment_ids=segment_ids).last_hidden_state
    with torch.no_grad():
        expected = model(
            *map(torch.from_numpy, (token_ids, mask, segment_ids))
        ).last_hidden_state.numpy()
    assert_allclose(found[mask == 1], expected[mask == 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
def test_checkpoint_says_which_file_is_missing(name, folder):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"{name} is missing from .*put it"):
        read_checkpoint(folder)


def test_checkpoint_refuses_what_is_no_folder(folder):
    with pytest.raises(
        FileNotFoundError, match=r"got .*vocab\.txt, which is no folder"
    ):
        read_checkpoint(folder / "vocab.txt")


def test_checkpoint_refuses_a_pickle_in_place_of_safetensors(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(
        FileNotFoundError, match=r"pytorch_model\.bin instead: a pickle, which is never"
    ):
        read_checkpoint(folder)


class Trap:
    """Unpickling this makes a file: the sign that a pickle was opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("zipped", [False, True], ids=["pickle", "zip"])
def test_checkpoint_never_opens_a_pickle_under_another_name(zipped, folder, tmp_path):
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    path = folder / "model.safetensors"
    if zipped:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("archive/data.pkl", trap)
    else:
        path.write_bytes(trap)
    with pytest.raises(ValueError, match="is not safetensors; it looks like a pickle"):
        read_checkpoint(folder)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("kept", [0, 5, 100, -1])
def test_checkpoint_refuses_a_file_cut_short(kept, folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"is damaged or cut short \(.*get it again"):
        read_checkpoint(folder)


def test_checkpoint_names_a_missing_tensor(folder, tensors):
    del tensors[QUERY]
    write_tensors(folder, tensors)
    with pytest.raises(ValueError, match=rf"missing: {QUERY} \(12, 12\)"):
        read_checkpoint(folder)


def test_checkpoint_names_an_extra_tensor(folder, tensors):
    name = QUERY.replace("layer.1", "layer.2")
    write_tensors(folder, {**tensors, name: tensors[QUERY]})
    with pytest.raises(ValueError, match=rf"problems: 1 .*left_aside(.|\n)* {name}$"):
        read_checkpoint(folder)


def test_checkpoint_refuses_a_tensor_under_both_its_names(folder, tensors):
    both = {"embeddings.LayerNorm.gamma": tensors["embeddings.LayerNorm.weight"]}
    write_tensors(folder, {**tensors, **both})
    with pytest.raises(ValueError, match=r"extra: embeddings\.LayerNorm\.weight$"):
        read_checkpoint(folder)


def test_checkpoint_names_a_misshapen_tensor(folder, tensors):
    name = "encoder.layer.0.intermediate.dense.weight"
    write_tensors(folder, {**tensors, name: np.ones((12, 11), np.float32)})
    with pytest.raises(
        ValueError, match=rf"{name}, expected \(11, 12\), got \(12, 11\)"
    ):
        read_checkpoint(folder)


def test_checkpoint_shows_few_of_many_problems(folder, tensors):
    write_tensors(
        folder,
        {QUERY: tensors[QUERY], **{f"extra.{i}": tensors[QUERY] for i in range(3)}},
    )
    with pytest.raises(ValueError, match="number of problems: 39") as error:
        read_checkpoint(folder)
    assert str(error.value).count("\n  ") == 12


def test_checkpoint_refuses_more_layers_than_the_file_can_hold(folder, config):
    write_config(folder, {**config, "num_hidden_layers": 10_000_000})
    with pytest.raises(ValueError, match="which has 10000000 layers: the file has"):
        read_checkpoint(folder)


def test_checkpoint_names_a_pointer_that_git_lfs_left(folder):
    pointer = "version https://git-lfs.github.com/spec/v1\nsize 90868376\n"
    (folder / "model.safetensors").write_text(pointer)
    with pytest.raises(ValueError, match="only points to the weights; get them with"):
        read_checkpoint(folder)


def test_checkpoint_names_a_bfloat16_tensor(folder, tensors):
    stored = {name: torch.from_numpy(array) for name, array in tensors.items()}
    stored[QUERY] = stored[QUERY].bfloat16()
    save_torch_file(stored, folder / "model.safetensors")
    with pytest.raises(
        ValueError, match=rf"{QUERY}, expected F32 or F16, got BF16: convert it with"
    ):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model_type", "roberta", "model_type must be 'bert', got 'roberta': only"),
        (
            "position_embedding_type",
            "relative_key",
            "position_embedding_type must be 'absolute', got 'relative_key'",
        ),
        ("is_decoder", True, "is_decoder must be False, got True"),
        ("hidden_act", "tanh", "hidden_act must be one of gelu, .*; got 'tanh'"),
        ("num_attention_heads", 5, "d_model must be divisible by num_heads"),
        ("layer_norm_eps", "small", "config.json cannot be used: eps must be a number"),
    ],
)
def test_checkpoint_refuses_an_unsupported_config(key, value, message, folder, config):
    write_config(folder, {**config, key: value})
    with pytest.raises(ValueError, match=message):
        read_checkpoint(folder)


@pytest.mark.parametrize("key", ["hidden_act", "hidden_size", "type_vocab_size"])
def test_checkpoint_names_a_missing_key(key, folder, config):
    del config[key]
    write_config(folder, config)
    with pytest.raises(ValueError, match=f"the configuration lacks {key}$"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "Expecting property name"), ("[1]", r"expected keys and values, got \[1\]")],
)
def test_checkpoint_refuses_a_config_that_is_no_object(content, message, folder):
    (folder / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=f"config.json cannot be used: {message}"):
        read_checkpoint(folder)


def test_checkpoint_refuses_a_vocabulary_of_another_size(folder):
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("s\n")
    with pytest.raises(ValueError, match=r"each of the 23 ids of config\.json, got 24"):
        read_checkpoint(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a\nb\n", "vocab must hold the special"), (b"\xff\n", "codec can't decode")],
)
def test_checkpoint_refuses_a_vocabulary_that_is_none(content, message, folder):
    (folder / "vocab.txt").write_bytes(content)
    with pytest.raises(ValueError, match=rf"vocab\.txt cannot be used: .*{message}"):
        read_checkpoint(folder)
