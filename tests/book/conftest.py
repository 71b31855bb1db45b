"""The built site, a browser to look at it with, and small books built for a test."""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[2]
TYPESET = "typeof typeset === 'undefined' || typeset.then(() => true)"
IN_THEME = "theme => (document.documentElement.dataset.theme ?? theme) === theme"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def pytest_addoption(parser):
    parser.addoption(
        "--site",
        metavar="DIR",
        help="the built site that the tests marked site look at (_build/html)",
    )


def site_of(config):
    return Path(config.getoption("--site", None) or ROOT / "_build" / "html").resolve()


def pages_of(site):
    """Every page of the book and those beside it, as paths below the site."""
    pages = [*sorted(site.glob("book/**/*.html")), site / "search.html"]
    return [page.relative_to(site).as_posix() for page in [*pages, site / "404.html"]]


def pytest_generate_tests(metafunc):
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages_of(site_of(metafunc.config)))


class PageByPage(LoadScopeScheduling):
    """Gives all tests of a page to one process, which opens it once for them."""

    def _split_scope(self, nodeid):
        page = re.search(r"\[[^]]*\.html", nodeid)
        return page[0] if page else nodeid


def pytest_xdist_make_scheduler(config, log):
    return PageByPage(config, log) if config.getoption("--site", None) else None


@pytest.fixture(scope="session")
def site(pytestconfig):
    site = site_of(pytestconfig)
    if not (site / "book" / "index.html").is_file():
        pytest.fail(f"no site at {site}: build it with `make book`, or pass --site DIR")
    return site


@pytest.fixture(scope="session")
def serve():
    """Serve a folder on this machine alone; returns its address, ending in a slash."""
    servers = []

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    def serve(folder):
        handler = functools.partial(Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="session")
def address(serve, site):
    return serve(site)


@pytest.fixture(scope="session")
def build_book(tmp_path_factory):
    """Build a book of the given pages with the project's settings.

    A page is its Markdown; one whose name ends in ``.ipynb`` is stored as a notebook.
    Returns the folder of the site, and what the build said.
    """

    def build(pages, url=""):
        root = tmp_path_factory.mktemp("book")
        config = (ROOT / "_config.yml").read_text(encoding="utf-8")
        config, once = re.subn(r'(?m)^  url: ".*"$', f'  url: "{url}"', config)
        assert once == 1
        (root / "_config.yml").write_text(config, encoding="utf-8")
        for folder in ("_ext", "_extra", "_static", "_templates"):
            shutil.copytree(ROOT / "book" / folder, root / "book" / folder)
        (root / "book" / "references.bib").touch()
        for name, text in pages.items():
            path = root / "book" / name
            path.parent.mkdir(exist_ok=True)
            cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": text}
            notebook = {"cells": [cell], "metadata": {}, "nbformat": 4}
            notebook = json.dumps(notebook | {"nbformat_minor": 5})
            path.write_text(notebook if name.endswith("ipynb") else text, "utf-8")
        first, *others = (name.rsplit(".", 1)[0] for name in pages)
        chapters = "".join(f"  - file: book/{name}\n" for name in others)
        toc = f"format: jb-book\nroot: book/{first}\nchapters:\n{chapters}"
        (root / "_toc.yml").write_text(toc, encoding="utf-8")
        program = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", program, "build", str(root), "-n", "-W"]
        result = subprocess.run(
            [*command, "--keep-going"], capture_output=True, text=True
        )
        return root / "_build" / "html", result.stdout + result.stderr

    return build


@pytest.fixture(scope="session")
def browser_type_launch_args():
    """How pytest-playwright starts Chromium: the one named or found, else its own."""
    found = filter(None, map(shutil.which, CHROMIUM_NAMES))
    executable = os.environ.get("CHROMIUM") or next(found, None)
    return {
        "executable_path": executable,
        "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    }


def open_page(browser, url, width=1280, script="", **options):
    """Open a page and return it; ``page.trouble`` lists what the browser objects to."""
    size = {"width": width, "height": 900}
    page = browser.new_context(viewport=size, **options).new_page()
    page.set_default_timeout(10_000)
    page.add_init_script(script)
    page.trouble = trouble = []
    page.on("console", lambda m: m.type == "error" and trouble.append(m.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("requestfailed", lambda r: trouble.append(f"failed: {r.url}"))
    page.on("response", lambda r: r.ok or trouble.append(f"{r.status}: {r.url}"))
    here = ("file:", "data:", "blob:", "/".join(url.split("/")[:3]))
    page.on(
        "request",
        lambda r: r.url.startswith(here) or trouble.append(f"asks {r.url}"),
    )
    page.goto(url)
    page.wait_for_function(TYPESET)
    return page


@pytest.fixture
def visit(browser, request):
    """Open a page as ``open_page`` does, for this test alone."""
    pages = []

    def visit(url, width=1280, **options):
        if "://" not in url:
            url = request.getfixturevalue("address") + url
        pages.append(open_page(browser, url, width, **options))
        return pages[-1]

    yield visit
    for page in pages:
        page.context.close()


@pytest.fixture(scope="session")
def opened(browser, address):
    """A page of the site as the tests before it left it: for those that only look.

    A page stays open until one of another name is asked for.
    """
    pages = {}

    def opened(name, width=1280):
        for other in [key for key in pages if key[0] != name]:
            pages.pop(other).context.close()
        if (name, width) not in pages:
            pages[name, width] = open_page(browser, address + name, width)
        page = pages[name, width]
        page.emulate_media(color_scheme="light")
        page.wait_for_function(IN_THEME, arg="light")
        return page

    yield opened
    for page in pages.values():
        page.context.close()
