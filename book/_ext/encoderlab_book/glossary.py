"""Terms of the glossary, found in the text of each page and linked to their definition.

The glossary is a page with two lists, each a ``glossary`` directive below a heading:
words that a reader may know already, and the terms of this book. A page gets one link
for a term: where its text sets the term in italics or bold, which is where it explains
it, else where it uses it first. ``definitions.js`` shows the definition there.
"""

import re

from docutils import nodes

from .tag import Tag, tag

PAGE = "book/reference/glossary"
FIRST_LIST = "words-you-may-know-already"  # the id of its heading
# everyday words too: linked only where a page sets them off
EVERYDAY = ("key", "value", "view")
NOT_RUNNING_TEXT = (
    Tag,  # a self-test
    nodes.citation,
    nodes.container,  # a card, the output of a cell
    nodes.table,
)


def read_glossary(env):
    """Return {term: (id, definition, level)} of the glossary page."""
    terms = {}
    if PAGE not in env.found_docs:
        return terms
    for section in env.get_doctree(PAGE).findall(nodes.section):
        level = "beginner" if FIRST_LIST in section["ids"] else "core"
        for item in section.findall(nodes.definition_list_item):
            definition = " ".join(item[-1].astext().split())
            for term in item.findall(nodes.term):
                terms[term.astext()] = (term["ids"][0], definition, level)
    return terms


def forms(term):
    """Return a pattern of a term: singular and plural, its first letter of any size."""
    first, rest = re.escape(term[0]), re.escape(term[1:])
    if first.islower():
        first = f"[{first}{first.upper()}]"
    for end, ends in (("is", "[ie]s"), ("y", "(?:y|ies)"), ("", "(?:e?s)?")):
        if rest.endswith(end):
            return first + rest.removesuffix(end) + ends


def pattern(terms):
    """Return a pattern that finds terms, longest first, and their names by group."""
    names = sorted(terms, key=len, reverse=True)
    groups = "|".join(f"({forms(name)})" for name in names)
    return re.compile(rf"(?<![\w-])(?:{groups})(?![\w-])"), names


def is_running_text(text):
    """Whether it stands in a paragraph, and not in a link, a table or a self-test."""
    above = text.parent
    if isinstance(above, nodes.emphasis | nodes.strong):
        above = above.parent
    if not isinstance(above, nodes.paragraph):
        return False
    while above is not None and not isinstance(above, NOT_RUNNING_TEXT):
        above = above.parent
    return above is None


def choose(doctree, terms):
    """Return {text: [(start, end, term), …]}, one place for each term of a page."""
    find, names = pattern(terms)
    chosen = {}  # term: (whether it is set off, text, start, end)
    for text in filter(is_running_text, doctree.findall(nodes.Text)):
        for match in find.finditer(text):
            term = names[match.lastindex - 1]
            set_off = text.parent.astext() == match[0]
            if term in EVERYDAY and not set_off:
                continue
            if term not in chosen or (set_off and not chosen[term][0]):
                chosen[term] = set_off, text, *match.span()
    places = {}
    for term, (_, text, start, end) in chosen.items():
        places.setdefault(text, []).append((start, end, term))
    return places


def link_terms(app, doctree, docname):
    terms = app.env.glossary_terms
    # a page without a reading time is there for looking things up
    look_up = app.env.metadata[docname].get("reading_time") == "none"
    if app.builder.format != "html" or look_up or not terms:
        return
    page = app.builder.get_relative_uri(docname, PAGE)
    for text, places in choose(doctree, terms).items():
        pieces, done = [], 0
        for start, end, term in sorted(places):
            identifier, definition, level = terms[term]
            link = tag(
                "a",
                nodes.Text(text[start:end]),
                class_=f"term {level}",
                href=f"{page}#{identifier}",
                data_definition=definition,
            )
            pieces += [nodes.Text(text[done:start]), link]
            done = end
        text.parent.replace(text, [*pieces, nodes.Text(text[done:])])


def remember_terms(app, env):
    """Keep the terms with the pages; where they changed, write every page again."""
    terms = read_glossary(env)
    changed = terms != getattr(env, "glossary_terms", None)
    env.glossary_terms = terms
    return sorted(env.found_docs) if changed else []


def setup(app):
    app.connect("env-updated", remember_terms)
    app.connect("doctree-resolved", link_terms)
