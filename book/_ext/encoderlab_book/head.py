"""The head of a page: how others show it, and what it loads."""

import re
from html import escape, unescape

from docutils import nodes

# A pattern of the pages that need a style sheet or a script, by a part of its name
NEEDED_BY = {
    "window.mathjax": r'class="math',
    "math.js": r'class="math',
    "mathjax/startup": r"(?!)",  # none: math.js loads it, later
    "design": r'class="sd-|class="[^"]* sd-',
    "toggle": r'class="[^"]*\b(toggle|dropdown)\b',
    "exercise": r'class="exercise',
    "mystnb": r'class="cell|class="output',
    "copybutton": r"<pre",
    "clipboard": r"<pre",
    "definitions": r'class="term ',
}


def finish_head(app, pagename, templatename, context, doctree):
    body = context.get("body", "")
    for files in ("css_files", "script_files"):
        context[files] = [file for file in context[files] if is_needed(file, body)]
    if doctree is not None:
        context["metatags"] += metatags(app, pagename, context["title"], doctree)
        context["script_files"] = list(map(deferred, context["script_files"]))


def metatags(app, pagename, title, doctree):
    """What search engines show, and what is shown where a link is shared."""
    written = {
        meta.get("name"): meta["content"] for meta in doctree.findall(nodes.meta)
    }
    description = written.get("description") or first_words(doctree)
    is_root = pagename == app.config.root_doc
    tags = [] if "description" in written else [("name", "description", description)]
    tags += [
        ("property", "og:type", "book" if is_root else "article"),
        ("property", "og:site_name", app.config.html_title),
        ("property", "og:title", unescape(re.sub("<[^>]+>", "", title))),
        ("property", "og:description", description),
    ]
    base = app.config.html_baseurl
    if base:  # a picture needs its whole address
        tags += [
            ("property", "og:url", f"{base}{app.builder.get_target_uri(pagename)}"),
            ("property", "og:image", f"{base}_static/social.png"),
            ("name", "twitter:card", "summary_large_image"),
        ]
    return "".join(
        f'\n<meta {kind}="{name}" content="{escape(content)}">'
        for kind, name, content in tags
    )


def first_words(doctree, least=60, most=155):
    """Return the first paragraph, cut after a sentence or at least after a word."""
    paragraphs = (node.astext() for node in doctree.findall(nodes.paragraph))
    words = " ".join(next(paragraphs, "").split())
    if len(words) <= most:
        return words
    sentences, words = words.rfind(". ", least, most) + 1, words[:most]
    return words[:sentences] if sentences else words[: words.rfind(" ")] + " …"


def is_needed(file, body):
    """Whether a page uses a style sheet or a script that is not for every page."""
    name = f"{file.filename} {file.attributes.get('body', '')}".lower()
    return all(
        re.search(pattern, body) for part, pattern in NEEDED_BY.items() if part in name
    )


def deferred(script):
    """The same script, run after the page is shown; not the options others fill in."""
    if not script.filename or "documentation_options" in str(script.filename):
        return script
    # a new object: Sphinx shares these, and the search page needs them as they are
    attributes = {"defer": "defer", **script.attributes}
    return type(script)(script.filename, priority=script.priority, **attributes)


def setup(app):
    app.connect("html-page-context", finish_head, priority=950)  # of the finished body
