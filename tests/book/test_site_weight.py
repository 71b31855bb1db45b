"""No page misses a style rule that the build has left out."""

import functools
from pathlib import Path

import pydata_sphinx_theme
import pytest
import sphinx_book_theme
import sphinx_design

pytestmark = pytest.mark.site

THEME = "theme/{0}/static/styles/{1}.css"
SHEETS = {
    "styles/pydata-sphinx-theme.css": (
        Path(pydata_sphinx_theme.__file__).parent
        / THEME.format("pydata_sphinx_theme", "pydata-sphinx-theme")
    ),
    "styles/sphinx-book-theme.css": (
        Path(sphinx_book_theme.__file__).parent
        / THEME.format("sphinx_book_theme", "sphinx-book-theme")
    ),
    "sphinx-design.min.css": (
        Path(sphinx_design.__file__).parent / "static" / "sphinx-design.min.css"
    ),
}
# The selectors of the whole sheet that match something on the page, states like :hover
# aside, and stand nowhere in the trimmed one
MISSED = """([whole, trimmed]) => {
  const selectors = (css) => {
    const sheet = new CSSStyleSheet(), found = new Set();
    sheet.replaceSync(css);
    const collect = (rules) => {
      for (const rule of rules) {
        rule.selectorText?.split(/,(?![^(]*\\))/).forEach((s) => found.add(s.trim()));
        if (rule.cssRules?.length) collect(rule.cssRules);
      }
    };
    collect(sheet.cssRules);
    return found;
  };
  const kept = selectors(trimmed);
  const states = /::?(before|after|placeholder|marker|hover|focus[a-z-]*|active)/g;
  return [...selectors(whole)].filter((selector) => {
    if (kept.has(selector)) return false;
    try { return document.querySelector(selector.replace(states, "")); }
    catch { return false; }
  });
}"""


@functools.cache
def text(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("sheet", SHEETS)
def test_page_misses_no_style_rule(opened, site, page_name, sheet):
    whole, trimmed = text(SHEETS[sheet]), text(site / "_static" / sheet)
    assert 0 < len(trimmed) < 0.8 * len(whole)
    assert opened(page_name).evaluate(MISSED, [whole, trimmed]) == []
