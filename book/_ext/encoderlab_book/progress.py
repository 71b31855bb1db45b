"""What a reader can tick: chapters and exercises. ``progress.js`` keeps the ticks.

Each notebook of the book is a chapter.
"""

from docutils import nodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from .tag import tag

# hidden where there is no script, by the theme's class
TICK = "tick-box pst-js-only"
FINISHED = (
    f'<label class="{TICK}" id="finished"><input type="checkbox" autocomplete="off"> '
    "I have finished this chapter</label>"
)


def exercises(doctree):
    return [
        node
        for node in doctree.findall(nodes.Admonition)
        if isinstance(node, exercise_node | exercise_enumerable_node)
    ]


def chapters(env):
    return sorted(
        name for name in env.found_docs if env.doc2path(name).endswith(".ipynb")
    )


def add_tick_boxes(app, doctree, docname):
    if app.builder.format == "html":
        for node in exercises(doctree):
            box = tag("input", type="checkbox", autocomplete="off")
            node += tag("label", box, nodes.Text(" Done"), class_=TICK)


def add_chapters(app, pagename, templatename, context, doctree):
    context["chapters"] = chapters(app.env)
    if pagename in context["chapters"]:
        context["body"] += FINISHED


def setup(app):
    app.connect("doctree-resolved", add_tick_boxes)
    app.connect("html-page-context", add_chapters)
