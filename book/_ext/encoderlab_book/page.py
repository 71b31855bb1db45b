"""The body of a page: the line below its title, its chapter's number, and repairs."""

import re

from docutils import nodes

from .figures import with_sizes
from .progress import exercises

WORDS_PER_MINUTE = 220
SECONDS_PER_CODE_CELL = 20
TERMS = """<label class="terms-choice pst-js-only">Explain
<select id="terms" autocomplete="off">
<option value="all">all terms</option>
<option value="fewer">fewer terms</option>
<option value="none">no terms</option>
</select></label>"""
REPAIRS = {
    # docutils makes a bibliography a list without list items, of a deprecated role
    r'<div role="list" class="citation-list">': '<div class="citation-list">',
    r' role="doc-biblioentry"': "",
    # sphinx-exercise gives all its sections one id, and titles two pairs of parentheses
    r'<section id="exercise-content">': "<section>",
    r"</span> \((.*) \((difficulty [^()]*)\)\)</p>": (
        r'</span>\1 <span class="effort">\2</span></p>'
    ),
}


def finish_body(app, pagename, templatename, context, doctree):
    toctree = "generate_toctree_html"
    if toctree in context:
        context[toctree] = with_numbers(pagename, context[toctree])
    body = context.get("body")
    if not body or doctree is None:
        return
    if (context["meta"] or {}).get("reading_time") != "none":
        facts = f'<p class="reading-time">{about(pagename, doctree)}</p>'
        choice = TERMS if 'class="term ' in body else ""
        facts = f'</h1><div class="page-facts">{facts}{choice}</div>'
        body = body.replace("</h1>", facts, 1)
    for pattern, better in REPAIRS.items():
        body = re.sub(pattern, better, body)
    context["body"] = with_sizes(app, body)


def with_numbers(pagename, toctree):
    """Put their numbers before chapters in the side bar: texts name them by number."""

    def numbered(match):
        number = chapter_number(pagename if match[1] == "#" else match[1])
        return f"{match[0]}{number} " if number else match[0]

    link = r'<a class="[^"]*\binternal" href="([^"]*)">'
    return lambda **options: re.sub(link, numbered, str(toctree(**options)))


def chapter_number(name):
    match = re.search(r"(?:^|/)(\d\d)-[^/]*$", name)
    return match and match[1]


def about(pagename, doctree):
    """Say how long a page takes: its words, and a while for each code cell."""
    words = sum(
        len(text.split())
        for text in doctree.findall(nodes.Text)
        if not isinstance(text.parent, nodes.literal_block)
    )
    cells = sum(
        "cell_input" in node["classes"] for node in doctree.findall(nodes.container)
    )
    minutes = round(words / WORDS_PER_MINUTE + cells * SECONDS_PER_CODE_CELL / 60) or 1
    tasks = len(exercises(doctree))
    number = chapter_number(pagename)
    parts = [
        number and f"Chapter {number}",
        f"{counted(minutes, 'minute')} to read",
        cells and counted(cells, "code cell"),
        tasks and f'<span id="exercises">{counted(tasks, "exercise")}</span>',
    ]
    return " · ".join(filter(None, parts))


def counted(number, what):
    return f"{number} {what}{'s' * (number > 1)}"


def setup(app):
    app.connect("html-page-context", finish_body, priority=900)
