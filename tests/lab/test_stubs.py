"""Stubs, and the catalogue that they are made from."""

import ast
import inspect

import pytest

from encoderlab.lab.exercises import Exercise, UnknownExercise, exercises, find
from encoderlab.lab.judge import judge_file
from encoderlab.lab.stubs import stub

EVERY = pytest.mark.parametrize("exercise", exercises().values(), ids=lambda e: e.short)


@EVERY
def test_stub_is_still_to_do(exercise, tmp_path, monkeypatch):
    monkeypatch.setenv("ENCODERLAB_WORK", str(tmp_path))
    path = tmp_path / f"{exercise.name}.py"
    path.write_text(stub(exercise), encoding="utf-8")
    report = judge_file(exercise, path)
    assert (report.status, report.message) == ("todo", "")


@EVERY
def test_stub_holds_the_docstring_and_no_solution(exercise):
    text = stub(exercise)
    (node,) = [
        n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef | ast.ClassDef)
    ]
    assert node.name == exercise.name
    assert ast.get_docstring(node) == inspect.getdoc(exercise.reference())
    for function in ast.walk(node):
        if isinstance(function, ast.FunctionDef):
            assert ast.unparse(function.body[-1]) == "raise NotImplementedError"
            assert len(function.body) <= 2
    assert text.count("raise NotImplementedError") >= 1


@EVERY
def test_exercise_is_described(exercise):
    assert 1 <= exercise.chapter <= 22
    assert exercise.difficulty in (1, 2, 3)
    assert 5 <= exercise.minutes <= 90
    assert len(exercise.hints) == 3
    assert all(len(hint.split()) >= 3 for hint in exercise.hints)
    assert exercise.hints[0].endswith("?")
    assert set(exercise.needs) <= exercises().keys()
    assert exercise.id not in exercise.needs


def test_stub_asks_for_properties_and_not_for_what_is_left_out():
    (node,) = [
        part
        for part in ast.parse(stub(find("torch.EarlyStopping"))).body
        if isinstance(part, ast.ClassDef)
    ]
    methods = {part.name: part for part in node.body if hasattr(part, "name")}
    assert methods.keys() == {
        "__init__",
        "best_step",
        "is_over",
        "update",
        "restore",
    }
    assert [ast.unparse(d) for d in methods["is_over"].decorator_list] == ["property"]


def test_short_names_are_unique():
    names = [exercise.short for exercise in exercises().values()]
    assert len(set(names)) == len(names)


def test_needs_lead_in_no_circle():
    def depth(exercise, above=()):
        assert exercise.id not in above
        for need in exercise.needs:
            depth(exercises()[need], (*above, exercise.id))

    for exercise in exercises().values():
        depth(exercise)


def test_find_takes_ids_and_short_names():
    assert find("softmax") is find("with_numpy.functional.softmax")


def test_find_suggests_the_nearest():
    with pytest.raises(UnknownExercise, match="'sofmax'; did you mean softmax"):
        find("sofmax")
    with pytest.raises(UnknownExercise, match="`status` lists them all"):
        find("zzzz")


def test_torch_exercises_are_named_with_their_side():
    hints = ("a", "b", "c")
    assert Exercise("with_torch.functional.softmax", 14, 1, 5, hints).short == (
        "torch.softmax"
    )
