"""An HTML element among docutils' nodes; in any other output its words alone remain."""

from html import escape

from docutils import nodes

VOID = ("input",)  # elements without an end


class Tag(nodes.General, nodes.TextElement):
    """The element ``node["tag"]`` with the attributes ``node["carries"]``."""


def tag(name, /, *children, **attributes):
    """Make a Tag; ``for_`` and ``aria_live`` are the attributes for and aria-live."""
    carries = {key.strip("_").replace("_", "-"): attributes[key] for key in attributes}
    return Tag("", "", *children, tag=name, carries=carries)


def visit_html(self, node):
    attributes = (f' {key}="{escape(x)}"' for key, x in node["carries"].items())
    self.body.append(f"<{node['tag']}{''.join(attributes)}>")


def depart_html(self, node):
    if node["tag"] not in VOID:
        self.body.append(f"</{node['tag']}>")


def pass_by(self, node):
    pass


def setup(app):
    other = (pass_by, pass_by)
    app.add_node(
        Tag, html=(visit_html, depart_html), latex=other, text=other, man=other
    )
