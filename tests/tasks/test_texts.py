"""The frozen texts are what their scripts make, and are cut as it is said."""

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import encoderlab.tasks
from encoderlab.tasks import (
    ENGLISH_SPECIALS,
    PYTHON_KINDS,
    load_english,
    load_python_source,
)
from encoderlab.tasks.english import WORD
from encoderlab.tasks.python_source import PIECE

DATA = Path(encoderlab.tasks.__file__).parent / "data"
PAD, UNK, CLS, MASK = range(4)

same_python = pytest.mark.skipif(
    sys.version_info[:3] != (3, 11, 7), reason="every version of Python has its texts"
)


def contents(path):
    """What the texts are known by; a packed file may differ in how it is packed."""
    if path.suffix == ".txt":
        return path.read_bytes()
    with np.load(path) as stored:
        return stored["characters"].tobytes() + stored["kinds"].tobytes()


@pytest.mark.parametrize("name", ["english.txt", "python_source.npz"])
def test_text_is_the_one_that_the_readme_names(name):
    digest = hashlib.sha256(contents(DATA / name)).hexdigest()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert digest in readme
    assert f"`{name}`" in readme


@same_python
@pytest.mark.parametrize("name", ["english.txt", "python_source.npz"])
def test_text_is_what_its_script_makes(name, tmp_path):
    script = DATA / f"make_{Path(name).stem}.py"
    subprocess.run([sys.executable, script, tmp_path / name], check=True)
    assert contents(tmp_path / name) == contents(DATA / name)


def test_files_of_the_texts_are_of_moderate_size():
    assert (DATA / "python_source.npz").stat().st_size < 400_000
    assert 300_000 < (DATA / "english.txt").stat().st_size < 800_000


# Python source


@pytest.fixture(scope="module")
def source():
    return load_python_source()


@pytest.fixture(scope="module")
def kinds_of():
    path = DATA / "make_python_source.py"
    spec = importlib.util.spec_from_file_location("make_python_source", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script.kinds_of


def test_kinds_are_those_of_tokenize(kinds_of):
    source = 'if x1 >= 2.5:  # is it?\n    y = b"""if\nnot"""\n'
    kinds = "".join(".#'1knx"[kind] for kind in kinds_of(source))
    assert kinds == "kk.nn.xx.111x..########....." + "n.x." + 13 * "'" + "."


def test_pieces_lie_each_in_one_token():
    with np.load(DATA / "python_source.npz") as stored:
        text = stored["characters"].tobytes().decode("ascii")
        kinds, lengths = stored["kinds"], stored["lengths"]
    assert lengths.sum() == len(text) == len(kinds)
    for piece in PIECE.finditer(text):
        assert len(set(kinds[piece.start() : piece.end()])) == 1, piece


def test_python_source_is_cut_into_windows(source):
    assert source.train_ids.shape == source.train_kinds.shape
    assert source.test_ids.shape == source.test_kinds.shape
    assert source.train_ids.shape[1] == 64
    assert source.train_ids.size > 100_000
    assert source.test_ids.size > 15_000
    assert len(set(source.pieces)) == len(source.pieces)
    assert source.train_ids.max() == len(source.pieces) - 1
    assert 0.10 < (source.test_ids == 0).mean() < 0.12
    for kinds in (source.train_kinds, source.test_kinds):
        assert set(kinds.ravel()) == set(range(len(PYTHON_KINDS)))


def test_pieces_of_python_source_are_the_common_ones(source):
    counts = np.bincount(load_python_source(1).train_ids.ravel())[1:]
    assert len(counts) == len(source.pieces) - 1
    assert counts.min() == 5
    assert (np.diff(counts) <= 0).all()  # from common to rare


def test_kind_of_a_piece_is_seen_in_its_neighbours_only(source):
    """The best guess from the piece alone errs often, and at words of the language."""
    table = np.zeros((len(source.pieces), len(PYTHON_KINDS)), int)
    np.add.at(table, (source.train_ids, source.train_kinds), 1)
    guesses = table.argmax(axis=1)[source.test_ids]
    share = (guesses == source.test_kinds).mean()
    assert 0.70 < share < 0.77
    for word in ("for", "in", "is", "if", "with"):
        kinds = table[source.pieces.index(word)]
        assert 0.1 < kinds[PYTHON_KINDS.index("keyword")] / kinds.sum() < 0.9


def test_windows_of_another_length_hold_the_same(source):
    other = load_python_source(100)
    length = min(other.test_ids.size, source.test_ids.size)
    assert_array_equal(
        other.test_ids.ravel()[:length], source.test_ids.ravel()[:length]
    )


@pytest.mark.parametrize("seq_len", [0, 100_000])
def test_python_source_refuses_windows_that_do_not_fit(seq_len):
    with pytest.raises(ValueError, match=rf"seq_len must be from 1 to .*{seq_len}"):
        load_python_source(seq_len)


# English


@pytest.fixture(scope="module")
def english():
    return load_english()


def test_english_sequences_begin_with_cls_and_end_with_padding(english):
    assert english.words[:4] == ENGLISH_SPECIALS
    for ids in (english.train_ids, english.test_ids):
        assert ids.shape[1] == 16
        assert (ids[:, 0] == CLS).all()
        assert (ids[:, 1:] != CLS).all()
        assert (ids[:, 1] != PAD).all()
        padding = ids == PAD
        assert_array_equal(padding, np.cumsum(padding, axis=1) > 0)
        assert not (ids == MASK).any()
        assert ids.max() <= len(english.words) - 1


def test_english_has_a_vocabulary_of_words_seen_four_times(english):
    assert 2000 < len(english.words) < 4000
    assert len(set(english.words)) == len(english.words)
    counts = np.bincount(english.train_ids.ravel(), minlength=len(english.words))[4:]
    assert counts.min() == 4
    assert (np.diff(counts) <= 0).all()


def test_english_is_mostly_known_words(english):
    for ids, most in ((english.train_ids, 0.06), (english.test_ids, 0.08)):
        words = ids[ids > CLS].size + (ids == UNK).sum()
        assert 0.03 < (ids == UNK).sum() / words < most


def test_english_holds_whole_documents_out(english):
    text = (DATA / "english.txt").read_text(encoding="utf-8").lower()
    documents = text.split("\n\n")
    held_out = [WORD.findall(document) for document in documents[9::10]]
    number = {word: i for i, word in enumerate(english.words)}
    ids = [number.get(word, UNK) for document in held_out for word in document]
    assert english.test_ids[~np.isin(english.test_ids, [PAD, CLS])].tolist() == ids
    assert 0.1 < english.test_ids.size / english.train_ids.size < 0.25


def test_english_in_other_lengths_has_the_same_words(english):
    other = load_english(7)
    assert other.words == english.words
    one, another = other.train_ids, english.train_ids
    assert_array_equal(
        one[~np.isin(one, [PAD, CLS])], another[~np.isin(another, [PAD, CLS])]
    )


def test_english_refuses_sequences_without_room_for_a_word():
    with pytest.raises(ValueError, match="seq_len must be from 2 to 4096, got 1"):
        load_english(1)
