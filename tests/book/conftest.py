"""The built site, and a browser to look at it with."""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TYPESET = "Promise.resolve(window.MathJax?.startup?.promise).then(() => true)"
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
    """Every page of the book and the search page, as paths below the site."""
    pages = [*sorted(site.glob("book/**/*.html")), site / "search.html"]
    return [page.relative_to(site).as_posix() for page in pages]


def pytest_generate_tests(metafunc):
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", pages_of(site_of(metafunc.config)))


@pytest.fixture(scope="session")
def site(pytestconfig):
    site = site_of(pytestconfig)
    if not (site / "book" / "index.html").is_file():
        pytest.fail(f"no site at {site}: build it with `make book`, or pass --site DIR")
    return site


@pytest.fixture(scope="session")
def address(site):
    """The site served on this machine alone, as an address ending in a slash."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def browser_type_launch_args():
    """How pytest-playwright starts Chromium: the one named or found, else its own."""
    found = filter(None, map(shutil.which, CHROMIUM_NAMES))
    executable = os.environ.get("CHROMIUM") or next(found, None)
    return {
        "executable_path": executable,
        "args": ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    }


@pytest.fixture
def visit(browser, address):
    """Open a page and return it; ``page.trouble`` lists what the browser objects to."""
    contexts = []

    def visit(url, width=1280, theme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.trouble = trouble = []
        page.on("console", lambda m: m.type == "error" and trouble.append(m.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("requestfailed", lambda r: trouble.append(f"failed: {r.url}"))
        page.on("response", lambda r: r.ok or trouble.append(f"{r.status}: {r.url}"))
        page.on("request", lambda r: here(r.url) or trouble.append(f"asks {r.url}"))
        page.goto(url if "://" in url else address + url)
        page.wait_for_function(TYPESET)
        return page

    def here(url):
        return url.startswith((address, "file:", "data:", "blob:"))

    yield visit
    for context in contexts:
        context.close()
