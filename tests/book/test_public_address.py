"""The public address stands once, in _config.yml, and turns on what needs it."""

import re

import pytest

URL = "https://github.com/owner/name"
BUTTONS = (
    f"{URL}/edit/main/book/page.ipynb",
    f"{URL}/issues/new?title=Issue%20on%20page%20%2Fbook/page.html",
    "https://colab.research.google.com/github/owner/name/blob/main/book/page.ipynb",
    "https://mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/book/page.ipynb",
)
PAGES = "https://owner.github.io/name/"


@pytest.fixture(scope="module")
def html(build_book):
    """Build a book of two pages with this address, and return a page's name -> HTML."""

    def html(url):
        pages = {"index.md": "# Book\n\nOne.", "page.ipynb": "# Page\n\nTwo."}
        site, said = build_book(pages, url)
        names = ("book/page.html", "404.html")
        assert all((site / name).is_file() for name in names), said
        assert "WARNING" not in said
        return {name: (site / name).read_text(encoding="utf-8") for name in names}

    return html


def links(html):
    return set(re.findall(r'href="(https?://[^"]+)"', html))


def test_public_address_turns_on_what_needs_it(html):
    pages = html(URL)
    found = links(pages["book/page.html"])
    missing = [b for b in BUTTONS if not any(link.startswith(b) for link in found)]
    assert missing == []
    assert {URL, f"{PAGES}book/page.html"} <= found
    image = f'<meta property="og:image" content="{PAGES}_static/social.png">'
    assert image in pages["book/page.html"]
    assert f'<base href="{PAGES}">' in pages["404.html"]


def test_without_a_public_address_no_page_links_outside(html):
    pages = html("")
    assert [links(page) for page in pages.values()] == [set(), set()]
    assert "og:image" not in pages["book/page.html"]
