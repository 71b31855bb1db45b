"""Exercises with PyTorch: tensors, modules, gradients, and files that hold them."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from encoderlab.lab import check, mine
from encoderlab.lab.asking import ask_all
from encoderlab.lab.case import WrongForm, ask
from encoderlab.lab.exercises import Exercise, find
from encoderlab.lab.judge import judge, judge_file
from encoderlab.lab.mistakes import mistakes_of
from encoderlab.lab.modules import ask_gradients, give_weights, named
from encoderlab.lab.stubs import stub
from encoderlab.lab.worker import Worker
from encoderlab.with_torch import normalization as ours
from encoderlab.with_torch.training import stopping

RIGHT = """\
import torch


def softmax(x, axis=-1):
    return torch.softmax(x, axis)
"""


def asked(case):
    (answer,) = ask_all(lambda solution, rng: iter([case]), None, seed=1)
    return answer


@pytest.mark.parametrize("command", ["judge(e, e.reference())", "stub(e); e.node()"])
def test_numpy_exercise_does_not_import_torch(command):
    program = (
        "import sys\n"
        "from encoderlab.lab.judge import find, judge\n"
        "from encoderlab.lab.stubs import stub\n"
        f"e = find('MultiHeadAttention'); {command}\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_stubs_of_torch_are_written_without_torch():
    program = (
        "import sys\n"
        "sys.modules['torch'] = None\n"
        "from encoderlab.lab.exercises import exercises\n"
        "from encoderlab.lab.stubs import stub\n"
        "texts = [stub(e) for e in exercises().values() if e.in_torch]\n"
        "sys.exit(not len(texts) >= 24)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_stub_imports_torch_and_the_learners_parts_of_that_side():
    text = stub(find("torch.LayerNorm"))
    assert (
        "\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
        in text
    )
    assert "\nfrom encoderlab.lab.mine.torch import layer_norm\n" in text
    assert "class LayerNorm(nn.Module):" in text
    assert "numpy" not in text


def test_without_torch_its_exercises_say_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(Exercise, "lacks", lambda self: "it needs PyTorch")
    path = tmp_path / "softmax.py"
    path.write_text(RIGHT)
    for report in (
        judge_file("torch.softmax", path),
        check("torch.softmax", torch.softmax),
    ):
        assert (report.status, report.message) == ("error", "it needs PyTorch")


def test_numpy_exercises_lack_nothing(monkeypatch):
    monkeypatch.setattr("encoderlab.lab.exercises.find_spec", lambda name: None)
    assert find("softmax").lacks() == ""
    for name in ("torch.softmax", "to_torch_nn_mask"):
        assert "pip install torch" in find(name).lacks()


def test_file_is_checked_in_a_process_of_its_own(work):
    exercise = find("torch.softmax")
    path = work.file(exercise)
    assert path.parent.name == "torch"
    assert path.read_text() == stub(exercise)
    path.write_text(RIGHT)
    report = Worker(work.root).check(exercise, path)
    assert report.passed, report.message
    assert report.cases >= 20


def test_bridge_is_solved_beside_the_torch_exercises(work):
    assert work.file(find("to_torch_nn_mask")).parent.name == "torch"


def test_mine_hands_out_both_sides(work, monkeypatch):
    monkeypatch.setattr(mine, "_parts", {})
    monkeypatch.setattr(mine, "used", {})
    from encoderlab.lab.mine import torch as mine_torch

    exercise = find("torch.softmax")
    assert mine_torch.softmax is exercise.reference()
    assert mine.softmax is find("softmax").reference()
    work.file(exercise).write_text(RIGHT)
    work.note(exercise, passed=True)
    mine._parts.clear()
    assert mine_torch.softmax.__module__ == "_work_torch_softmax"
    assert mine.used == {"torch.softmax": True, "softmax": False}
    with pytest.raises(AttributeError, match=r"'torch.sofmax'; did you mean torch"):
        mine_torch.sofmax  # noqa: B018


def test_check_leaves_the_random_numbers_of_a_notebook_as_they_were():
    def dropout(x, p):
        return nn.functional.dropout(x, p)

    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    check("torch.dropout", dropout)
    assert torch.equal(torch.rand(4), expected)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda x, axis=-1: torch.softmax(x, axis).numpy(), "tensor, it returns ndarr"),
        (lambda x, axis=-1: torch.softmax(x, axis).tolist(), "tensor, it returns list"),
        (lambda x, axis=-1: torch.softmax(x[:1], axis), "the shape differs"),
        (lambda x, axis=-1: None, "it returns None: is a `return` missing?"),
        (lambda x, axis=-1: x.exp_(), "it changes its input: work on a copy"),
    ],
)
def test_unusable_answer_is_said_to_be(answer, what):
    report = judge("torch.softmax", answer)
    assert any(what in failure.what for failure in report.failures)


def test_mistake_is_named_in_float32_where_that_is_precise_enough():
    def unigram_perplexity(train_ids, held_out_ids, vocab_size):
        seen, asked = train_ids[train_ids >= 0], held_out_ids[held_out_ids >= 0]
        counts = torch.bincount(seen, minlength=vocab_size) + 0.5
        return float((-(counts / counts.sum()).log()[asked].mean()).exp())

    report = judge("torch.unigram_perplexity", unigram_perplexity)
    assert report.mistakes == ["torch.unigram_perplexity.half_more"]


def test_input_that_was_changed_is_put_back():
    x = torch.ones(3)
    answer = asked(ask(lambda x: x.mul_(2), x, says="double"))
    assert answer.changed_input
    assert torch.equal(x, torch.ones(3))


def test_bfloat16_is_compared_by_its_values():
    answer = asked(ask(lambda x: x.bfloat16(), torch.tensor([0.5]), says="half"))
    assert answer.value.tolist() == [0.5]


def test_answer_does_not_follow_what_is_written_later():
    x = torch.zeros(2)
    answer = asked(ask(lambda: x, says="zeros"))
    x += 1
    assert answer.value.tolist() == [0, 0]


def test_module_without_its_parent_made_is_told_so():
    class LayerNorm(nn.Module):
        def __init__(self, d_model, eps=1e-5):
            self.weight = nn.Parameter(torch.ones(d_model))

    report = judge("torch.LayerNorm", LayerNorm)
    assert report.status == "error"
    assert report.failures[0].what.endswith("begin __init__ with super().__init__()")


def test_module_whose_forward_is_misspelt_is_not_taken_for_a_stub():
    class LayerNorm(ours.LayerNorm):
        forward = nn.Module.forward

        def compute(self, x):
            return x

    report = judge("torch.LayerNorm", LayerNorm)
    assert report.status == "failed"
    assert "is that its name?" in "".join(f.what for f in report.failures)


def test_property_that_is_written_to_is_told_so():
    class EarlyStopping(stopping.EarlyStopping):
        is_over = property(lambda self: False)

        def update(self, step, value, model):
            self.is_over = True

    report = judge("torch.EarlyStopping", EarlyStopping)
    assert report.status == "failed"
    assert report.failures[0].what.endswith("another name, as in self._best")


def test_half_written_module_is_still_to_do():
    class LayerNorm(ours.LayerNorm):
        def forward(self, x):
            raise NotImplementedError

    assert judge("torch.LayerNorm", LayerNorm).status == "todo"


def weights(module):
    return give_weights(module, ours.LayerNorm(4), np.random.default_rng(1))


def test_weights_are_given_in_float64_and_evaluation_mode():
    module = weights(ours.LayerNorm(4))
    assert module.weight.dtype == torch.float64
    assert not module.training
    assert not torch.equal(module.weight, torch.ones(4).double())


@pytest.mark.parametrize(
    ("module", "what"),
    [
        (object(), "it must be an nn.Module"),
        (ours.RMSNorm(4), r"it has no parameter bias\. A"),
        (nn.Identity(), "it has no parameter weight; it has none"),
        (ours.LayerNorm(5), r"weight must have the shape \(4,\), it has \(5,\)"),
        (nn.PReLU(4), "it has no parameter bias"),
        (nn.Bilinear(1, 4, 1), "weight must have the shape"),
    ],
)
def test_module_with_other_parameters_is_refused(module, what):
    with pytest.raises(WrongForm, match=what):
        weights(module)


def test_parameter_that_is_not_asked_for_is_named():
    module = ours.LayerNorm(4)
    module.scale = nn.Parameter(torch.ones(1))
    with pytest.raises(WrongForm, match="that are not asked for: scale"):
        weights(module)


def test_of_other_parameters_the_first_few_are_named():
    module = nn.ModuleDict({f"l{i}": nn.Linear(2, 2, bias=False) for i in range(9)})
    with pytest.raises(WrongForm, match=r"has l0\.weight, .*, l4\.weight and 4"):
        weights(module)


class Tied(nn.Module):
    """A table under two names; ``named_parameters`` gives the first of them."""

    def __init__(self):
        super().__init__()
        self.decoder = nn.Linear(4, 5, bias=False)
        self.table = nn.Embedding(5, 4)
        self.decoder.weight = self.table.weight


def test_tied_parameter_goes_by_the_name_that_is_asked_for():
    module = Tied()
    assert list(named(module)) == ["decoder.weight"]
    assert list(named(module, ["table.weight"])) == ["table.weight"]
    reference = nn.ModuleDict({"table": nn.Embedding(5, 4)})
    given = give_weights(module, reference, np.random.default_rng(1))
    assert given.decoder.weight is given.table.weight


def test_parameters_that_two_asked_names_share_are_still_missed():
    reference = nn.ModuleDict({n: nn.Embedding(5, 4) for n in ("one", "other")})
    shared = nn.Embedding(5, 4)
    module = nn.ModuleDict({"one": shared, "other": shared})
    with pytest.raises(WrongForm, match=r"it has no parameter other\.weight"):
        give_weights(module, reference, np.random.default_rng(1))


def gradients(function, *args):
    rng = np.random.default_rng(1)
    return asked(ask_gradients(function, *args, says="gradients", rng=rng))


def test_gradients_are_those_of_a_weighted_sum():
    x = torch.tensor([1.0, 2.0, 3.0])
    value = gradients(lambda x: (x**2, None), x).value
    upstream = value["gradients"]["x"] / 2 / x.numpy()
    draws = np.random.default_rng(np.random.default_rng(1).integers(2**31))
    assert value["output"].tolist() == [1, 4, 9]
    assert upstream == pytest.approx(0.3 + draws.standard_normal(3), rel=1e-6)


def test_gradients_of_a_module_are_named():
    value = gradients(nn.Linear(3, 2), torch.ones(5, 3)).value
    assert {k: v.shape for k, v in value["gradients"].items()} == {
        "x": (5, 3),
        "weight": (2, 3),
        "bias": (2,),
    }


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x, y: (x * y).detach(), "no gradient comes back"),
        (lambda x, y: x * 2, "no gradient comes back to x1"),
        (lambda x, y: x.detach() * y, "no gradient comes back to x "),
        (lambda x, y: x.detach().numpy(), "it must return a tensor, it returns ndarr"),
    ],
)
def test_gradient_that_does_not_come_back_is_said_so(function, what):
    answer = gradients(function, torch.ones(3), torch.ones(3))
    assert what in str(answer.error)


def test_check_does_not_hang_on_the_notebooks_grad_mode():
    with torch.no_grad():
        assert judge("torch.LayerNorm", ours.LayerNorm).passed
        assert not torch.is_grad_enabled()


def test_solution_that_stops_gradients_does_so_for_itself_alone():
    def perplexity(loss):
        torch.set_grad_enabled(False)
        return float(torch.as_tensor(loss))

    report = judge("torch.perplexity", perplexity)
    assert report.status == "failed"
    assert torch.is_grad_enabled()
    assert judge("torch.LayerNorm", ours.LayerNorm).passed


def test_nothing_is_named_where_the_books_own_solution_fails(monkeypatch):
    def broken(*_, **__):
        raise OSError("no memory")

    monkeypatch.setattr(ours, "layer_norm", broken)
    report = judge("torch.layer_norm", lambda x, *_: x)
    assert report.status == "error"
    assert report.message.startswith("the book's own solution fails here too: OSError")
    assert not report.mistakes


def test_mistakes_are_named_only_where_they_are_asked_for():
    solution = mistakes_of("with_torch.training.masking.perplexity")[0].target
    assert judge("torch.perplexity", solution).mistakes
    assert not judge("torch.perplexity", solution, naming=False).mistakes
