"""What the book adds to Sphinx: reading time, figures for both themes, and repairs."""

import re
from pathlib import Path

from docutils import nodes

WORDS_PER_MINUTE = 220
SECONDS_PER_CODE_CELL = 20
# Put into each stored matplotlib figure. An SVG image sees the colour scheme of its
# page: what is black there (text, axes) turns light, and the data keep their colours.
DARK = (
    "<style>@media (prefers-color-scheme: dark) {"
    "text:not([style*='fill']){fill:#d9dee4!important}"
    "[style*='stroke: #000000']{stroke:#d9dee4!important}"
    "[style*='fill: #000000']{fill:#d9dee4!important}"
    "}</style>"
)


def public_address(app, config):
    """Turn on the buttons that need the public address, where repository.url has it."""
    options = config.html_theme_options
    if options.get("repository_url"):
        options.update(
            use_repository_button=True,
            use_edit_page_button=True,
            use_issues_button=True,
            launch_buttons={
                "notebook_interface": "jupyterlab",
                "binderhub_url": "https://mybinder.org",
                "colab_url": "https://colab.research.google.com",
            },
        )


def finish_page(app, pagename, templatename, context, doctree):
    """Mend the page's body and its list of scripts before the template takes them."""
    body = context.get("body")
    if not body or doctree is None:
        return
    if (context["meta"] or {}).get("reading_time") != "none":
        note = f'</h1><p class="reading-time">{reading_time(doctree)}</p>'
        body = body.replace("</h1>", note, 1)
    # docutils makes a bibliography a list without list items, of a deprecated role
    body = body.replace(
        '<div role="list" class="citation-list">', '<div class="citation-list">'
    )
    body = body.replace(' role="doc-biblioentry"', "")
    context["body"] = re.sub(
        r'<img alt="[^"]*" (?:class="[^"]*" )?src="([^"]+\.svg)"',
        lambda match: match[0] + size_attributes(app, match[1]),
        body,
    )
    context["script_files"] = [
        deferred(script)
        for script in context["script_files"]
        if 'class="math' in body or not is_mathjax(script)
    ]


def reading_time(doctree):
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
    parts = [f"{minutes} minute{'s' * (minutes > 1)} to read"]
    if cells:
        parts.append(f"{cells} code cell{'s' * (cells > 1)}")
    return " · ".join(parts)


def size_attributes(app, src):
    """Width and height of an SVG image, so that the text below it does not jump."""
    sources = {file: source for source, file in app.builder.images.items()}
    path = app.srcdir / sources.get(Path(src).name, "")
    if not path.is_file():
        return ""
    size = re.search(
        r'<svg[^>]* width="([\d.]+)(pt)?" height="([\d.]+)',
        path.read_text(encoding="utf-8"),
    )
    if not size:
        return ""
    pixels = 4 / 3 if size[2] else 1  # of a unit: matplotlib's is the point
    width, height = float(size[1]) * pixels, float(size[3]) * pixels
    return f' width="{width:.0f}" height="{height:.0f}"'


def is_mathjax(script):
    """Sphinx loads MathJax also on a page that only its sub-pages need it for."""
    text = f"{script.filename} {script.attributes.get('body', '')}"
    return "mathjax" in text.lower()


def deferred(script):
    """The same script, run after the page is shown; not the options others fill in."""
    if not script.filename or "documentation_options" in str(script.filename):
        return script
    # a new object: Sphinx shares these, and the search page needs them as they are
    attributes = {"defer": "defer", **script.attributes}
    return type(script)(script.filename, priority=script.priority, **attributes)


def let_figures_follow_the_theme(app, exception):
    """Give the stored matplotlib figures their dark colours."""
    if exception is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir, "_images").glob("*.svg"):
        svg = path.read_text(encoding="utf-8")
        if '<g id="figure_1">' in svg and DARK not in svg:
            path.write_text(
                svg.replace("</defs>", "</defs>" + DARK, 1), encoding="utf-8"
            )


def setup(app):
    app.connect("config-inited", public_address)
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", let_figures_follow_the_theme)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
