"""The learner's files as tests: ``pytest tests/lab --solutions work``."""

import pytest

from encoderlab.lab.console import check_file
from encoderlab.lab.exercises import exercises
from encoderlab.lab.judge import judge
from encoderlab.lab.report import as_text
from encoderlab.lab.workspace import Workspace


@pytest.mark.parametrize("exercise", exercises())
def test_solution(exercise, pytestconfig):
    entry, folder = exercises()[exercise], pytestconfig.getoption("--solutions", None)
    if folder is None:
        report = judge(entry, entry.reference())
    else:
        report = check_file(Workspace(folder), entry)
    if report.status == "todo":
        pytest.skip("still to do")
    assert report.passed, as_text(report, entry.short)
