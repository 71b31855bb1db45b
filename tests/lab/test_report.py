"""Reports in all their forms."""

import json
from xml.etree import ElementTree

import pytest

from encoderlab.lab.outcome import Failure, Mistaken, Report
from encoderlab.lab.report import as_html, as_json, as_junit, as_text

REPORTS = [
    Report("with_numpy.functional.softmax", "passed", seconds=0.25),
    Report(
        "with_numpy.functional.linear",
        "failed",
        failures=[
            Failure("a <case>", "3 of 4 values are wrong", "[1,\n 2]", "[1,\n 3]"),
            *(Failure(f"case {i}", "wrong") for i in range(4)),
        ],
        named=[Mistaken("a.b", "you add", "the sign"), Mistaken("a.c", "you do", "it")],
        printed="one\ntwo\x07\n",
        parts={"softmax": True, "relu": False},
    ),
    Report("with_numpy.functional.relu", "todo"),
    Report("with_numpy.functional.gelu", "error", message="line 3: no\nmore"),
    Report("with_numpy.functional.silu", "timeout", message="it was stopped"),
]


def test_text_says_what_is_known():
    text = as_text(REPORTS[1], "linear")
    assert text.split("\n")[0] == "linear is not right yet"
    assert "These answer alike; it is one of them:" in text
    assert "It looks as if you add." in text
    assert "expected [1,\n              2]" in text
    assert "and 2 more" in text
    assert "| two" in text
    assert "It ran on your softmax and the book's relu." in text


def test_mistakes_that_fit_at_first_are_not_said_to_answer_alike():
    mistakes = REPORTS[1].named
    text = as_text(Report("x.linear", "failed", at_first=mistakes), "linear")
    assert text.split("\n")[1:] == [
        "  No known mistake gives all these answers. The first ones fit:",
        "  It looks as if you add.",
        "  Look: the sign.",
        "  It looks as if you do.",
        "  Look: it.",
    ]


@pytest.mark.parametrize("report", REPORTS, ids=lambda r: r.status)
def test_html_holds_the_same_words_escaped(report):
    shown = as_html(report, "x")
    assert f"report-{report.status}" in shown
    assert "<case>" not in shown


def test_json_is_the_whole_report():
    data = json.loads(as_json(REPORTS))
    assert [entry["status"] for entry in data] == [r.status for r in REPORTS]
    assert data[1]["failures"][0]["expected"] == "[1,\n 2]"
    assert data[1]["named"][0]["id"] == "a.b"


def test_junit_counts_and_is_xml():
    suite = ElementTree.fromstring(as_junit(REPORTS).partition("?>")[2])
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "5", "failures": "2", "errors": "1", "skipped": "1"}
    cases = suite.findall("testcase")
    assert cases[0].get("time") == "0.250"
    assert cases[0].get("classname") == "with_numpy.functional"
    assert "3 of 4 values are wrong" in cases[1].find("failure").text
    assert cases[2].find("skipped") is not None


def test_report_answers_the_two_questions_of_the_interface():
    assert REPORTS[0].passed
    assert not REPORTS[1].passed
    assert REPORTS[1].mistakes == ["a.b", "a.c"]
