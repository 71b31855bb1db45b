"""A checkpoint is whole or refused, and nobody can tell that it was needed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from encoderlab.with_torch.training import (
    EarlyStopping,
    fit,
    load_checkpoint,
    save_checkpoint,
)


def new_model(width=5):
    return nn.Sequential(nn.Linear(7, width), nn.Dropout(0.3), nn.Linear(width, 3))


def train(model, optimizer, steps=2):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(4, 7)).square().mean().backward()
        optimizer.step()


def state_of(model, optimizer):
    """All numbers of both, to be compared."""
    state = optimizer.state_dict()
    return {
        **{k: v.clone() for k, v in model.state_dict().items()},
        **{
            f"{i}.{k}": v.clone() if isinstance(v, torch.Tensor) else v
            for i, values in state["state"].items()
            for k, v in values.items()
        },
        "groups": state["param_groups"],
        "random": torch.get_rng_state(),
    }


def assert_same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        if isinstance(value, torch.Tensor):
            assert torch.equal(value, other[name]), name
        else:
            assert value == other[name], name


OPTIMIZERS = {
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.01, betas=(0.8, 0.9), amsgrad=True),
    "SGD": lambda p: torch.optim.SGD(p, lr=0.01),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=0.01, centered=True),
    "NAdam": lambda p: torch.optim.NAdam(p, lr=0.01),
    "Adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
    "Adafactor": lambda p: torch.optim.Adafactor(p, lr=0.01),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_checkpoint_gives_back_every_number(path, kind):
    model = new_model()
    optimizer = OPTIMIZERS[kind](model.parameters())
    train(model, optimizer)
    save_checkpoint(path, model, optimizer, 2, losses=[0.1, 1 / 3])
    expected = state_of(model, optimizer)
    train(model, optimizer)
    after = state_of(model, optimizer)

    model = new_model()
    optimizer = OPTIMIZERS[kind](model.parameters())
    saved = load_checkpoint(path, model, optimizer)
    assert saved.step == 2
    assert saved.losses.tolist() == [0.1, 1 / 3]
    assert_same(state_of(model, optimizer), expected)
    train(model, optimizer)
    assert_same(state_of(model, optimizer), after)


def test_checkpoint_of_an_untrained_model_and_tied_parameters(path):
    model = nn.ModuleDict({"table": nn.Embedding(7, 5), "output": nn.Linear(5, 7)})
    model["output"].weight = model["table"].weight
    optimizer = torch.optim.AdamW(model.parameters())
    save_checkpoint(path, model, optimizer, 0)
    expected = model["table"].weight.detach().clone()
    nn.init.zeros_(model["table"].weight)
    assert load_checkpoint(path, model, optimizer).losses.tolist() == []
    assert torch.equal(model["output"].weight, expected)
    assert model["output"].weight is model["table"].weight


def test_checkpoint_is_one_safetensors_file(path):
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer)
    save_checkpoint(path, model, optimizer, 2)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    tensors = load_file(path)
    assert torch.equal(tensors["model.0.weight"], model[0].weight)
    assert "optimizer.0.exp_avg_sq" in tensors
    assert tensors["random.cpu"].dtype == torch.uint8


def test_write_that_fails_leaves_the_old_file(path, monkeypatch):
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    save_checkpoint(path, model, optimizer, 1)

    def full(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        save_checkpoint(path, model, optimizer, 2)
    assert load_checkpoint(path, model, optimizer).step == 1
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_checkpoint_is_written_where_a_link_points(path):
    model, link = new_model(), path.with_name("latest")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    save_checkpoint(path, model, optimizer, 1)
    link.symlink_to(path)
    save_checkpoint(link, model, optimizer, 2)
    assert link.is_symlink()
    assert load_checkpoint(path, model, optimizer).step == 2


def test_checkpoint_refuses_options_that_are_no_plain_numbers(path):
    model = new_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.1))
    with pytest.raises(TypeError, match=r"cannot be stored: .* give it plain numbers"):
        save_checkpoint(path, model, optimizer, 0)
    assert not path.exists()


# What is refused


def test_checkpoint_refuses_a_folder_and_one_that_is_not_there(tmp_path):
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*; make it"):
        save_checkpoint(tmp_path / "no" / "model", model, optimizer, 0)
    for use in (save_checkpoint, load_checkpoint):
        more = (0,) if use is save_checkpoint else ()
        with pytest.raises(IsADirectoryError, match="is a folder; give the name of a"):
            use(tmp_path, model, optimizer, *more)


def test_checkpoint_refuses_a_model_without_what_the_optimiser_trains(path):
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ValueError, match="a parameter that is not the model's"):
        save_checkpoint(path, model[0], optimizer, 0)


@pytest.fixture
def stored(path):
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())
    train(model, optimizer)
    save_checkpoint(path, model, optimizer, 2)
    return path


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.999])
def test_half_written_file_is_refused(stored, share):
    content = stored.read_bytes()
    stored.write_bytes(content[: int(share * len(content))])
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())
    before = state_of(model, optimizer)
    with pytest.raises(ValueError, match=r"is damaged or no checkpoint of a training"):
        load_checkpoint(stored, model, optimizer)
    assert_same(state_of(model, optimizer), before)


def test_pickle_is_refused_and_not_run(path):
    model = new_model()
    torch.save(model.state_dict(), path)
    with pytest.raises(ValueError, match=r"is damaged or no checkpoint of a training"):
        load_checkpoint(path, model, torch.optim.AdamW(model.parameters()))


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"format": "pt"},
        {"encoderlab.training": json.dumps({"format": "2"})},
        {"encoderlab.training": "[]"},
        {"encoderlab.training": "no JSON"},
    ],
)
def test_other_safetensors_files_are_refused(path, metadata):
    model = new_model()
    save_file(model.state_dict(), path, metadata)
    with pytest.raises(ValueError, match="is safetensors, but no checkpoint of a tra"):
        load_checkpoint(path, model, torch.optim.AdamW(model.parameters()))


@pytest.mark.parametrize("part", ["losses", "random.cpu", "optimizer", "numbers"])
def test_checkpoint_without_one_of_its_parts_is_refused(stored, part):
    with safe_open(stored, framework="pt") as file:
        (key, about), *_ = file.metadata().items()
    tensors, about = load_file(stored), json.loads(about)
    tensors.pop(part, None)
    about.pop(part, None)
    save_file(tensors, stored, {key: json.dumps(about)})
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())
    before = state_of(model, optimizer)
    with pytest.raises(ValueError, match=f"is damaged, it lacks {part}; delete it"):
        load_checkpoint(stored, model, optimizer)
    assert_same(state_of(model, optimizer), before)


def test_missing_file_is_said_to_be_missing(path):
    model = new_model()
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
        load_checkpoint(path, model, torch.optim.AdamW(model.parameters()))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (new_model(6), r"0\.bias: torch\.float32 \(5,\) in the file, here .* \(6,\)"),
        (new_model().double(), r"0\.bias: torch\.float32 .* here torch\.float64"),
        (new_model()[:1], r"2\.bias: torch\.float32 \(3,\) in the file, here none"),
        (nn.Sequential(*new_model(), nn.Linear(3, 3)), r"3\.bias: none in the file"),
    ],
)
def test_checkpoint_of_another_model_is_refused(stored, other, message):
    optimizer = torch.optim.AdamW(other.parameters())
    before = state_of(other, optimizer)
    with pytest.raises(ValueError, match=message):
        load_checkpoint(stored, other, optimizer)
    assert_same(state_of(other, optimizer), before)


def test_checkpoint_of_another_training_is_refused(stored):
    model = new_model()
    with pytest.raises(ValueError, match="optimizer: AdamW in the file, here SGD"):
        load_checkpoint(stored, model, torch.optim.SGD(model.parameters(), lr=0.1))
    with pytest.raises(ValueError, match=r"each group: \[4\] in the file, here \[2\]"):
        load_checkpoint(stored, model, torch.optim.AdamW(model[0].parameters()))
    turned = torch.optim.AdamW([*model.parameters()][::-1])
    with pytest.raises(ValueError, match="parameters: other ones, or in another order"):
        load_checkpoint(stored, model, turned)
    with pytest.raises(ValueError, match="early stopping: only one of the file and"):
        load_checkpoint(
            stored,
            model,
            torch.optim.AdamW(model.parameters()),
            stopping=EarlyStopping(1),
        )


def test_checkpoint_of_another_early_stopping_is_refused(path):
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())
    save_checkpoint(path, model, optimizer, 0, stopping=EarlyStopping(2))
    for other in (EarlyStopping(3), EarlyStopping(2, higher_is_better=True)):
        with pytest.raises(ValueError, match="another patience or direction"):
            load_checkpoint(path, model, optimizer, stopping=other)


def test_fit_finds_before_the_first_step_that_it_cannot_store(path):
    model = new_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(_):
        raise AssertionError("a step was done")

    options = {"model": model, "checkpoint": path / "model", "save_every": 5}
    with pytest.raises(FileNotFoundError, match="make it first"):
        fit(step, range(9), optimizer, **options)


def test_fit_refuses_a_checkpoint_whose_losses_are_not_all_there(stored):
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())
    options = {"model": model, "checkpoint": stored, "save_every": 5}
    with pytest.raises(ValueError, match="has done 2 steps and holds 0 losses"):
        fit(lambda _: model(torch.ones(7)).sum(), range(9), optimizer, **options)


def test_fit_refuses_a_checkpoint_of_more_steps_than_there_are(path):
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters())

    def run(steps):
        return fit(
            lambda batch: model(torch.randn(4, 7)).square().mean(),
            range(steps),
            optimizer,
            model=model,
            checkpoint=path,
            save_every=5,
        )

    losses = run(3)
    assert torch.equal(run(7)[:3], losses)  # longer is well
    with pytest.raises(ValueError, match="has done 7 steps and there are only 6 bat"):
        run(6)


def test_fit_goes_on_with_early_stopping_from_where_it_was(path):
    def run(steps, checkpoint):
        torch.manual_seed(3)
        model, figures = new_model(), [3.0, 2.0, 1.0, 2.0, 2.0, 2.0, 0.0]
        stopping = EarlyStopping(3)
        losses = fit(
            lambda batch: model(torch.randn(4, 7)).square().mean(),
            range(steps),
            torch.optim.AdamW(model.parameters()),
            model=model,
            evaluate=lambda done: figures[done - 1],
            every=1,
            stopping=stopping,
            checkpoint=checkpoint,
            save_every=4,
        )
        return {**model.state_dict(), "losses": losses, "kept": stopping.history}

    whole = run(7, path.with_name("whole"))
    run(4, path)
    assert_same(run(7, path), whole)
    assert len(whole["losses"]) == 6  # stopped; and stored then, though 6 is no 4 or 8
    assert_same(run(7, path), whole)


# Killed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
@pytest.mark.parametrize("seed", [0, 1])
def test_training_killed_at_any_step_ends_the_same_to_the_last_bit(tmp_path, seed):
    script = Path(__file__).with_name("killed.py")
    result = subprocess.run(
        [sys.executable, script, tmp_path, str(seed)],
        capture_output=True,
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 8  # deaths: more than those of the list would be luck
