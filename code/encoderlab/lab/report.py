"""A report as text, HTML, JSON and JUnit's XML."""

import html
import json
from collections.abc import Iterable
from xml.etree import ElementTree

from encoderlab.lab.outcome import Report

HEADLINES = {
    "passed": "{} is right",
    "failed": "{} is not right yet",
    "todo": "{} is still to do",
    "error": "{} stopped with an error",
    "timeout": "{} took too long",
}
MOST = 3
"""Failures shown; those after the first few rarely say more."""


def as_text(report: Report, name: str) -> str:
    """Write a report for a terminal without colours, or a file.

    Parameters
    ----------
    report
        The report.
    name
        What the learner calls the exercise.

    Returns
    -------
    str
        Lines of plain text; nothing in them changes from run to run.
    """
    lines = [HEADLINES[report.status].format(name)]
    if report.chapter is not None and report.passed:
        lines[0] += f", as far as chapter {report.chapter:02} goes"
    if report.message:
        lines += ["  " + line for line in report.message.splitlines()]
    if report.at_first:
        lines.append("  No known mistake gives all these answers. The first ones fit:")
    elif len(report.named) > 1:
        lines.append("  These answer alike; it is one of them:")
    for mistake in report.named + report.at_first:
        lines += [f"  It looks as if {mistake.says}.", f"  Look: {mistake.hint}."]
    for failure in report.failures[:MOST]:
        lines += f"  {failure.says}: {failure.what}".replace("\n", "\n    ").split("\n")
        if failure.expected or failure.got:
            lines += _indented("expected", failure.expected)
            lines += _indented("got     ", failure.got)
        if failure.also:
            more = len(failure.also) - MOST
            others = "; ".join(failure.also[:MOST]) + (f"; {more} more" * (more > 0))
            lines.append(f"    likewise: {others}")
    more = len(report.failures) - MOST
    if more > 0:
        lines.append(f"  and {more} more")
    if report.printed.strip():
        lines += ["  It printed, at the end:"]
        lines += ["  | " + line for line in report.printed.splitlines()[-5:]]
    if report.parts:
        own = [part for part, mine in report.parts.items() if mine]
        book = [part for part, mine in report.parts.items() if not mine]
        said = [f"your {', '.join(own)}"] if own else []
        said += [f"the book's {', '.join(book)}"] if book else []
        lines.append(f"  It ran on {' and '.join(said)}.")
    text = "\n".join(lines)
    # what a solution says must not command the terminal
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def as_html(report: Report, name: str) -> str:
    """Write a report for a notebook: the same words, in a box."""
    head, *rest = as_text(report, name).split("\n")
    body = html.escape("\n".join(line.removeprefix("  ") for line in rest))
    body = f'<pre class="report-body">{body}</pre>' if body else ""
    mark = {"passed": "✓", "todo": "…"}.get(report.status, "✗")
    return (
        f'<div class="report report-{report.status}"><strong>{mark} '
        f"{html.escape(head)}</strong>{body}</div>"
    )


def as_json(reports: Iterable[Report]) -> str:
    """Write reports for a program."""
    return json.dumps([report.as_dict() for report in reports], indent=2)


def as_junit(reports: Iterable[Report]) -> str:
    """Write reports as JUnit's XML, which graders and CI systems read."""
    reports = list(reports)
    suite = ElementTree.Element(
        "testsuite",
        name="encoderlab",
        tests=str(len(reports)),
        failures=str(sum(report.status in ("failed", "timeout") for report in reports)),
        errors=str(sum(report.status == "error" for report in reports)),
        skipped=str(sum(report.status == "todo" for report in reports)),
    )
    for report in reports:
        module, _, name = report.exercise.rpartition(".")
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=module,
            name=name,
            time=f"{report.seconds:.3f}",
        )
        kind = {"failed": "failure", "timeout": "failure", "error": "error"}
        if report.status == "todo":
            ElementTree.SubElement(case, "skipped", message="still to do")
        elif report.status in kind:
            text = as_text(report, name)
            element = ElementTree.SubElement(case, kind[report.status])
            element.set("message", text.split("\n")[0])
            element.text = text
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)


def _indented(label, text):
    first, *rest = text.split("\n")
    return [f"    {label} {first}", *(" " * 13 + line for line in rest)]
