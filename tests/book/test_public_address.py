"""The public address stands once, in _config.yml, and turns on what needs it."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from .notebook_lint import ROOT

URL = "https://github.com/owner/name"
BUTTONS = (
    f"{URL}/edit/main/book/page.ipynb",
    f"{URL}/issues/new?title=Issue%20on%20page%20%2Fbook/page.html",
    "https://colab.research.google.com/github/owner/name/blob/main/book/page.ipynb",
    "https://mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/book/page.ipynb",
)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Build a book of two pages with the project's settings and return its links."""

    def build(url):
        root = tmp_path_factory.mktemp("book")
        config = (ROOT / "_config.yml").read_text(encoding="utf-8")
        config, once = re.subn(r'(?m)^  url: ".*"$', f'  url: "{url}"', config)
        assert once == 1
        (root / "_config.yml").write_text(config, encoding="utf-8")
        toc = "format: jb-book\nroot: book/index\nchapters:\n  - file: book/page\n"
        (root / "_toc.yml").write_text(toc, encoding="utf-8")
        for folder in ("_ext", "_extra", "_static", "_templates"):
            shutil.copytree(ROOT / "book" / folder, root / "book" / folder)
        (root / "book" / "references.bib").touch()
        (root / "book" / "index.md").write_text("# Book\n", encoding="utf-8")
        page = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Page"}
        notebook = {"cells": [page], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        path = root / "book" / "page.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        program = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", program, "build", str(root), "-W", "-n"]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        html = (root / "_build/html/book/page.html").read_text(encoding="utf-8")
        return set(re.findall(r'href="(https?://[^"]+)"', html))

    return build


def test_public_address_turns_on_the_buttons_that_need_it(build):
    links = build(URL)
    missing = [b for b in BUTTONS if not any(link.startswith(b) for link in links)]
    assert missing == []
    assert URL in links


def test_without_a_public_address_no_page_links_outside(build):
    assert build("") == set()
