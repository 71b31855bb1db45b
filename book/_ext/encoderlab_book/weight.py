"""Style rules that no page can use are left out: the theme brings four times too many.

A rule stays if each class it names is a word of some page or script, whatever that word
means there. That keeps too many rather than too few.
"""

import re
from pathlib import Path

import tinycss2

SHEETS = (
    "styles/pydata-sphinx-theme.css",
    "styles/sphinx-book-theme.css",
    "sphinx-design.min.css",
    "mystnb.*.css",
)
WORD = re.compile(r"[\w-]+")
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")
# what stands in the parentheses of :not(…) or :is(…) need not be on the page
PARENTHESES = re.compile(r"\([^()]*\)")


def words_of(folder):
    """Return each word in the pages and scripts of a built site."""
    pages = Path(folder).rglob("*.html")
    scripts = (
        p for p in Path(folder, "_static").rglob("*.js") if "mathjax" not in p.parts
    )
    words = set()
    for path in (*pages, *scripts):
        if path.name != "fontawesome.js":  # not loaded
            words.update(WORD.findall(path.read_text(encoding="utf-8")))
    return words


def can_match(selector, words):
    while PARENTHESES.search(selector):
        selector = PARENTHESES.sub("", selector)
    return all(name in words for name in CLASS.findall(selector))


def used_rules(rules, words):
    """Return a style sheet's rules without the selectors that match nowhere."""
    kept = []
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = split_at_commas(rule.prelude)
            used = [selector for selector in selectors if can_match(selector, words)]
            if used:
                body = tinycss2.serialize(rule.content)
                kept.append(f"{','.join(used)}{{{body}}}")
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports"):
            inside = tinycss2.parse_rule_list(rule.content, True, True)
            if text := used_rules(inside, words):
                prelude = tinycss2.serialize(rule.prelude)
                kept.append(f"@{rule.at_keyword}{prelude}{{{text}}}")
        else:
            kept.append(rule.serialize())
    return "\n".join(kept)


def split_at_commas(tokens):
    """Return the selectors of a rule; a comma in parentheses parts none."""
    selectors = [[]]
    for token in tokens:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return [tinycss2.serialize(selector).strip() for selector in selectors]


def trim_style_sheets(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    words = words_of(app.outdir)
    for name in SHEETS:
        for path in Path(app.outdir, "_static").glob(name):
            css = path.read_text(encoding="utf-8")
            rules = tinycss2.parse_stylesheet(css, True, True)
            path.write_text(used_rules(rules, words), encoding="utf-8")


def setup(app):
    app.connect("build-finished", trim_style_sheets)
