import hashlib
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest

from encoderlab.config import MINILM_L6
from encoderlab.pretrained import load
from encoderlab.pretrained.find import FOLDER_VARIABLE
from encoderlab.pretrained.models import CARDS

CARD = CARDS["minilm-l6"]
PACKAGED = Path(find_spec(CARD.package).submodule_search_locations[0]) / "model"


@pytest.fixture(autouse=True)
def no_folder_named_outside(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)


@pytest.fixture
def card(folder, monkeypatch):
    """The small checkpoint under the model's name, in no package."""
    card = replace(
        CARD,
        package="no_such_package_of_weights",
        sha256={
            name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
            for name in CARD.sha256
        },
    )
    monkeypatch.setitem(CARDS, CARD.name, card)
    return card


@pytest.fixture
def hub_cache(card, tmp_path, monkeypatch):
    """What the hub's client keeps on this machine: here nothing yet; it is offline."""
    monkeypatch.setattr(
        huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub")
    )
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    repository = "models--" + card.repository.replace("/", "--")
    return tmp_path / "hub" / repository / "snapshots" / card.revision


@pytest.fixture
def no_hub(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the hub must not be asked")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", refuse)


def truncate(path):
    path.write_bytes(path.read_bytes()[:-4])


def test_load_gives_minilm_from_the_installed_package(no_hub):
    checkpoint = load("minilm-l6")
    assert checkpoint.config == MINILM_L6
    assert sum(array.size for array in checkpoint.weights.values()) == 22_565_376
    assert len(checkpoint.tokenizer.vocab) == 30_522


def test_load_imports_neither_the_package_nor_the_hub():
    code = (
        "import sys, encoderlab.pretrained as p; p.load('minilm-l6');"
        f"print({{'huggingface_hub', {CARD.package!r}, 'torch'}} & set(sys.modules))"
    )
    run = [sys.executable, "-c", code]
    assert subprocess.run(run, capture_output=True, text=True).stdout == "set()\n"


def test_load_does_not_run_the_package_that_holds_the_files(
    card, folder, no_hub, tmp_path, monkeypatch
):
    package = tmp_path / "site" / "weights_that_must_not_run"
    shutil.copytree(folder, package / "model")
    (package / "__init__.py").write_text("raise AssertionError", encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setitem(CARDS, card.name, replace(card, package=package.name))
    assert load("minilm-l6").config.d_model == 12


@pytest.mark.parametrize("below", [False, True], ids=["files", "folder of the model"])
@pytest.mark.parametrize("way", ["argument", "variable"])
def test_load_takes_a_given_folder(way, below, card, folder, no_hub, monkeypatch):
    given = folder.parent if below else folder
    if below:
        folder.rename(folder.parent / card.name)
    if way == "variable":
        monkeypatch.setenv(FOLDER_VARIABLE, str(given))
        assert load("minilm-l6").config.d_model == 12
    else:
        monkeypatch.setenv(FOLDER_VARIABLE, "/the/argument/comes/first")
        assert load("minilm-l6", folder=given).config.d_model == 12


def test_load_prefers_a_given_folder_to_the_package(folder, no_hub):
    (folder / "config.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"config\.json is missing from"):
        load("minilm-l6", folder=folder)


@pytest.mark.parametrize("way", ["folder", FOLDER_VARIABLE])
def test_load_says_that_a_given_folder_is_none(way, tmp_path, no_hub, monkeypatch):
    nowhere = str(tmp_path / "nowhere")
    if way == FOLDER_VARIABLE:
        monkeypatch.setenv(FOLDER_VARIABLE, nowhere)
    with pytest.raises(
        FileNotFoundError, match=rf"^{way} must name a folder .*nowhere.* is no folder"
    ):
        load("minilm-l6", folder=nowhere if way == "folder" else None)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
def test_load_refuses_a_changed_file(name, card, folder, no_hub):
    path = folder / name
    changed = bytearray(path.read_bytes())
    changed[-1] ^= 1
    path.write_bytes(changed)
    got = hashlib.sha256(changed).hexdigest()
    with pytest.raises(
        ValueError,
        match=f"{name} of minilm-l6 must have the SHA-256 {card.sha256[name]}, got "
        f"{got}: .*{name} is cut short or not the published file; delete it",
    ):
        load("minilm-l6", folder=folder)


def test_load_refuses_another_model_in_the_place_of_the_published_one(folder):
    with pytest.raises(ValueError, match=r"config\.json of minilm-l6 must have"):
        load("minilm-l6", folder=folder)


def test_load_refuses_a_changed_package(card, folder, no_hub, tmp_path, monkeypatch):
    package = tmp_path / "site" / "changed_package_of_weights"
    shutil.copytree(folder, package / "model")
    (package / "__init__.py").touch()
    truncate(package / "model" / "model.safetensors")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setitem(CARDS, card.name, replace(card, package=package.name))
    with pytest.raises(ValueError, match=r"model\.safetensors of minilm-l6 must have"):
        load("minilm-l6")


def test_load_fetches_the_published_files_at_the_pinned_revision(tmp_path, monkeypatch):
    asked = []

    def download(repository, file, *, revision):
        asked.append((repository, file, revision))
        return shutil.copy(PACKAGED / file, tmp_path / file)

    without_package = replace(CARD, package="no_such_package_of_weights")
    monkeypatch.setitem(CARDS, CARD.name, without_package)
    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    assert load("minilm-l6").config == MINILM_L6
    assert asked == [
        (
            "sentence-transformers/all-MiniLM-L6-v2",
            file,
            "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        )
        for file in ("config.json", "vocab.txt", "model.safetensors")
    ]


def test_load_takes_what_the_hub_has_left_on_this_machine(folder, hub_cache):
    shutil.copytree(folder, hub_cache)
    assert load("minilm-l6").config.d_model == 12


def test_load_fetches_a_damaged_copy_anew(card, folder, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    shutil.copytree(folder, cache)
    truncate(cache / "model.safetensors")
    forced = []

    def download(repository, file, *, revision, force_download=False):
        if force_download:
            forced.append(file)
            shutil.copy(folder / file, cache / file)
        return str(cache / file)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    assert np.isfinite(load("minilm-l6").weights["layers.1.norm_2.beta"]).all()
    assert forced == ["model.safetensors"]


def test_load_never_takes_a_half_finished_download(folder, hub_cache):
    shutil.copytree(folder, hub_cache)
    truncate(hub_cache / "model.safetensors")
    with pytest.raises(
        ValueError, match=r"snapshots.*model\.safetensors is cut short or not .*delete"
    ):
        load("minilm-l6")


def test_load_offline_says_how_to_provide_the_files(card, hub_cache):
    with pytest.raises(
        FileNotFoundError,
        match=r"minilm-l6 is not on this machine and cannot be downloaded \((.|\n)+\)"
        r"\. Provide its files in one of three ways: connect to the internet, .* pip "
        r"install --no-deps no-such-package-of-weights; or put config\.json, "
        r"vocab\.txt, model\.safetensors in a folder and name it in `folder` or in the "
        r"environment variable ENCODERLAB_MODELS$",
    ):
        load("minilm-l6")


def test_load_refuses_an_unknown_name():
    with pytest.raises(ValueError, match="name must be one of minilm-l6; got 'bert'"):
        load("bert")
