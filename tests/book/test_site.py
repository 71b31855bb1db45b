"""The built site in a real browser: it loads alone, reads well, and its parts work."""

import io
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image

from .conftest import IN_THEME

pytestmark = pytest.mark.site

WIDTHS = (1280, 390)
THEMES = ("light", "dark")
# what depends on colours is looked at in both themes, all else in one
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
VIOLATIONS = {"preload": False, "resultTypes": ["violations"]}
AXE = {"light": VIOLATIONS, "dark": {**VIOLATIONS, "runOnly": COLOURS}}
# Thousands of coloured words of code look alike: one of each kind is enough
ONE_OF_EACH_KIND = """words => {
  const seen = new Set();
  for (const word of words) {
    const place = word.closest("[class*='highlight-'], .output");
    const kind = word.className + place?.className;
    if (seen.has(kind)) word.replaceWith(...word.childNodes);
    seen.add(kind);
  }
}"""


class References(HTMLParser):
    """The ids of a page, where its links lead, and the images that have no words."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.wordless = set(), set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids |= {attributes.get("id"), attributes.get("name")}
        if tag == "a" and "href" in attributes:
            self.links.add(attributes["href"])
        if tag == "img" and "logo__image" not in attributes.get("class", ""):
            alt = attributes.get("alt") or ""
            if len(alt.split()) < 4 or re.search(r"\.(svg|png)\b", alt):
                self.wordless.append((attributes["src"], alt))


def test_page_loads_and_asks_nothing_of_other_sites(opened, page_name):
    page = opened(page_name)
    assert page.trouble == []
    assert page.locator("h1").count() >= 1


def test_root_leads_to_the_first_page(visit, address):
    page = visit("index.html")
    page.wait_for_url(address + "book/index.html")
    assert page.url == address + "book/index.html"


def test_page_works_from_a_folder(visit, site, page_name):
    page = visit((site / page_name).as_uri())
    assert page.trouble == []


@pytest.mark.parametrize("width", WIDTHS)
def test_page_is_accessible(visit, page_name, width):
    page = visit(page_name, width)
    page.locator("pre span").evaluate_all(ONE_OF_EACH_KIND)
    for theme, options in AXE.items():
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(IN_THEME, arg=theme)
        page.wait_for_timeout(200)  # colours fade
        found = [
            (finding["id"], finding["nodes"][0]["html"][:120])
            for finding in Axe().run(page, options=options).response["violations"]
            if finding["impact"] in ("serious", "critical")
        ]
        assert (theme, found) == (theme, [])


def test_page_does_not_scroll_sideways_on_a_phone(opened, page_name):
    page = opened(page_name, width=390)
    extent = "[document.documentElement.scrollWidth, innerWidth]"
    content, window = page.evaluate(extent)
    assert content <= window


def test_code_does_not_scroll_sideways_on_a_laptop(opened, page_name):
    page = opened(page_name)
    wide = "e => e.filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)"
    assert page.locator(".cell_input pre").evaluate_all(wide) == []


def test_page_has_words_for_its_images(site, page_name):
    assert References(site / page_name).wordless == []


def test_links_and_anchors_resolve(site, page_name):
    links = References(site / page_name).links
    inside = [
        (link, parts)
        for link in sorted(links)
        if (parts := urlsplit(urljoin(f"http://here/{page_name}", link))).netloc
        == "here"
    ]
    assert len(inside) >= 3
    for link, parts in inside:
        target = site / unquote(parts.path).lstrip("/")
        assert target.is_file(), link
        if parts.fragment:
            assert unquote(parts.fragment) in References(target).ids, link


def test_figures_are_legible_in_both_themes(opened, page_name):
    page = opened(page_name)
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        for figure in page.locator("figure img").all():
            picture = Image.open(io.BytesIO(figure.screenshot())).convert("L")
            strip = max(picture.height // 8, 24)  # a low figure has margin there
            lowest = np.asarray(picture, dtype=float)[-strip:]
            assert np.ptp(lowest) > 120, f"{theme}: {figure.get_attribute('src')}"


@pytest.mark.parametrize("place", ["server", "folder"])
def test_search_finds_a_page(visit, site, address, place):
    start = address if place == "server" else site.as_uri() + "/"
    page = visit(f"{start}search.html?q=queries")
    result = page.locator("#search-results .search li a").first
    result.wait_for()
    assert "Notation" in page.locator("#search-results").inner_text()
    assert page.trouble == []


def test_theme_switch_changes_the_theme_and_is_remembered(visit):
    page = visit("book/index.html")
    seen = []
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").click()
        seen.append(page.locator("html").get_attribute("data-mode"))
    assert sorted(seen) == ["auto", "dark", "light"]
    page.locator("button.theme-switch-button:visible").click()
    page.reload()
    assert page.locator("html").get_attribute("data-mode") == seen[0]


def test_copy_button_copies_the_cell(visit):
    page = visit("book/tour.html", permissions=["clipboard-read", "clipboard-write"])
    cell = page.locator(".cell_input").first
    cell.hover()
    cell.locator("button.copybtn").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.strip() == cell.locator("pre").inner_text().strip()


def test_reading_time_stands_below_the_title(visit):
    page = visit("book/tour.html")
    note = page.locator("h1 + .page-facts .reading-time").inner_text()
    assert re.fullmatch(r"\d+ minutes? to read · \d+ code cells?", note)


def test_what_scrolls_sideways_is_reached_by_keyboard(visit):
    page = visit("book/notation.html", width=390)
    scrolls = "e => e.filter(e => e.scrollWidth > e.clientWidth).map(e => e.tabIndex)"
    found = page.locator("div.math, .pst-scrollable-table-container").evaluate_all(
        scrolls
    )
    assert found
    assert set(found) == {0}
