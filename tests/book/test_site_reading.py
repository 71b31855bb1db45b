"""What a reader uses on a page: definitions, self-tests, ticks, the drawing, paper."""

import re

import pytest

pytestmark = pytest.mark.site

QUESTION = """\
1. Which rows?
   - [ ] All of $x$. — Only *some* are
     asked for.
   - [x] The first. — It is, by `x[0]`.
2. And $y$?
   - [x] None. — There is none.
   - [ ] One. — Count again.
"""
CHAPTER = f"""# Some attention

A token, two tokens and a TOKEN. Attention weights, and attention as such.

## A token in a heading

The value of this is said below: a **value** is a vector. Write `token` or
[a token](https://example.org), or $token$.

:::{{exercise}} A token (difficulty 1 of 3, 5 minutes)
:label: ex-one

Count the queries.
:::

:::{{exercise}} Two (difficulty 2 of 3, 5 minutes)
:label: ex-two

Count again.
:::

::::{{self-test}}

{QUESTION}
::::
"""
GLOSSARY = """---
reading_time: none
---

# Glossary

## Words you may know already

```{glossary}
token
  A piece of a *word*, with "its" number.
```

## Terms of this book

```{glossary}
attention
  An average of values.

attention weights
  Shares < 1 that sum to 1.

query
  What asks.

value
  What answers.
```
"""
INDEX = """# Book

```{figure} _static/encoder.svg
:alt: The encoder from top to bottom, in five words.

A figure.
```
"""
DENY_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("denied", "SecurityError"); }
});"""


@pytest.fixture(scope="session")
def book(build_book, serve):
    """The address of a small book that has one of everything."""
    pages = {
        "index.md": INDEX,
        "part1/03-attention.ipynb": CHAPTER,
        "part1/04-masks.ipynb": "# Masks\n\nA query.",
        "reference/glossary.md": GLOSSARY,
    }
    site, said = build_book(pages)
    assert "build succeeded." in said, said
    return serve(site) + "book/"


@pytest.fixture
def chapter(visit, book):
    return visit(f"{book}part1/03-attention.html")


def explained(page):
    return page.locator("a.term[href]").all_inner_texts()


# Definitions


def test_terms_are_linked_once_where_they_are_used_or_explained(chapter):
    expected = ["token", "Attention weights", "attention", "value", "queries"]
    assert explained(chapter) == expected
    assert chapter.locator("strong > a.term").inner_text() == "value"
    href = chapter.locator("a.term").first.get_attribute("href")
    assert href == "../reference/glossary.html#term-token"


def test_definition_is_shown_on_hover_and_the_pointer_may_move_onto_it(chapter):
    box = chapter.locator("#definition")
    assert box.is_hidden()
    chapter.locator("a.term").first.hover()
    box.wait_for()
    assert box.inner_text() == "A piece of a word, with “its” number."
    box.hover()
    chapter.wait_for_timeout(400)
    assert box.is_visible()
    chapter.locator(".bd-article h1").hover()
    box.wait_for(state="hidden")


def test_definition_is_shown_on_focus_and_escape_closes_it(chapter):
    link, box = chapter.locator("a.term").nth(1), chapter.locator("#definition")
    link.focus()
    assert box.inner_text() == "Shares < 1 that sum to 1."
    assert link.get_attribute("aria-describedby") == "definition"
    chapter.keyboard.press("Escape")
    assert box.is_hidden()
    assert link.get_attribute("aria-describedby") is None


def test_first_tap_shows_a_definition_and_the_second_follows_the_link(visit, book):
    page = visit(f"{book}part1/03-attention.html", width=390, has_touch=True)
    link, box = page.locator("a.term").first, page.locator("#definition")
    link.tap()
    assert box.is_visible()
    place = box.bounding_box()
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= 390
    page.locator(".bd-article h2").first.tap()
    assert box.is_hidden()
    link.tap()
    link.tap()
    page.wait_for_url("**/glossary.html#term-token")


@pytest.mark.parametrize("script", ["", DENY_STORAGE], ids=["kept", "no storage"])
def test_reader_chooses_how_many_terms_are_explained(visit, book, script):
    page = visit(f"{book}part1/03-attention.html", script=script)
    choice = page.get_by_label("Explain")
    choice.select_option("fewer terms")
    assert explained(page) == ["Attention weights", "attention", "value", "queries"]
    choice.select_option("no terms")
    assert explained(page) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.classList.contains('term')") is False
    if not script:
        page.reload()
        assert choice.input_value() == "none"
        page.goto(f"{book}part1/04-masks.html")
        assert explained(page) == []
        page.get_by_label("Explain").select_option("all terms")
        assert explained(page) == ["query"]


def test_page_links_each_term_once_with_its_definition(opened, page_name):
    page = opened(page_name)
    links = page.locator("a.term")
    targets = links.evaluate_all("all => all.map(a => a.href)")
    assert len(targets) == len(set(targets))
    elsewhere = "a.term:is(h1 *, h2 *, h3 *, a *, code *, pre *, .self-test *, table *)"
    assert page.locator(elsewhere).count() == 0
    for text in links.evaluate_all("all => all.map(a => a.dataset.definition)"):
        assert len(text.split()) > 2
        assert not re.search(r"\\[a-z(]|[$`]", text), "mathematics is not shown there"


# Self-tests


def test_self_test_is_answered_by_keyboard_and_says_right_or_wrong(chapter):
    first = chapter.get_by_role("group", name=re.compile("^1. Which rows"))
    answers = first.get_by_role("radio")
    why = first.locator(".why > div")
    assert [text.is_visible() for text in why.all()] == [False, False]
    answers.first.focus()
    chapter.keyboard.press("Space")
    assert why.first.inner_text() == "Not quite. Only some are asked for."
    chapter.keyboard.press("ArrowDown")
    assert why.first.is_hidden()
    assert why.last.inner_text() == "Right. It is, by x[0]."
    live = why.last.locator("xpath=..").get_attribute("aria-live")
    assert live == "polite"


def test_self_test_works_without_scripts(visit, book):
    page = visit(f"{book}part1/03-attention.html", java_script_enabled=False)
    second = page.get_by_role("group", name=re.compile("^2. And"))
    second.get_by_label("None.").check()
    assert second.get_by_text("Right. There is none.").is_visible()
    assert page.locator(".tick-box:visible, .terms-choice:visible").count() == 0


@pytest.fixture(scope="session")
def said_of_malformed(build_book):
    """What the build says of malformed self-tests, each on a page of its own."""
    tests = {
        "none": QUESTION.replace("[x]", "[ ]"),
        "two": QUESTION.replace("[ ]", "[x]"),
        "unexplained": QUESTION.replace(" — It is, by `x[0]`.", ""),
        "unmarked": QUESTION.replace("[ ] All", "All"),
        "single": "1. Which?\n   - [x] This. — It is.\n",
        "listless": "Which rows?\n",
    }
    pages = {
        f"{name}.md": f"# {name}\n\n:::{{self-test}}\n{test}\n:::\n"
        for name, test in tests.items()
    }
    return build_book({"index.md": "# Book\n"} | pages)[1]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("none", "question 1, “Which rows?”: 0 answers are marked [x], expected one"),
        ("two", "question 1, “Which rows?”: 2 answers are marked [x], expected one"),
        ("unexplained", "question 1, “Which rows?”: answer 2 has no explanation"),
        ("unmarked", "question 1, “Which rows?”: answer 1 starts with neither [ ]"),
        ("single", "question 1, “Which?”: expected one list of two answers or more"),
        ("listless", "self-test: expected one numbered list of questions"),
    ],
)
def test_malformed_self_test_is_refused(said_of_malformed, page, message):
    lines = [x for x in said_of_malformed.splitlines() if f"{page}.md" in x]
    assert any("ERROR" in x and message in x for x in lines), lines


# Ticks


def test_finished_chapters_are_ticked_and_remembered(chapter, book):
    count = chapter.locator("#progress p").first
    assert count.inner_text() == "0 of 2 chapters finished"
    chapter.get_by_label("I have finished this chapter").check()
    assert count.inner_text() == "1 of 2 chapters finished"
    chapter.reload()
    assert chapter.get_by_label("I have finished this chapter").is_checked()
    chapter.goto(f"{book}index.html")
    ticked = chapter.locator(".bd-links a:has(.tick)")
    assert ticked.count() == 1
    assert ticked.inner_text().split("\n")[0].startswith("03 Some attention")
    assert chapter.locator("#finished").count() == 0
    chapter.get_by_role("button", name="Forget").click()
    chapter.locator(".tick").wait_for(state="detached")
    assert count.inner_text() == "0 of 2 chapters finished"


def test_exercises_are_counted_and_ticked(chapter):
    count = chapter.locator("#exercises")
    assert count.inner_text() == "2 exercises"
    chapter.locator("#ex-two").get_by_label("Done").check()
    assert count.inner_text() == "1 of 2 exercises done"
    chapter.reload()
    assert count.inner_text() == "1 of 2 exercises done"
    assert not chapter.locator("#ex-one").get_by_label("Done").is_checked()


def test_ticks_work_where_storage_is_forbidden(visit, book):
    page = visit(f"{book}part1/03-attention.html", script=DENY_STORAGE)
    page.get_by_label("I have finished this chapter").check()
    assert page.locator("#progress p").first.inner_text().startswith("1 of 2")


def test_exercise_says_its_difficulty_and_minutes(chapter):
    title = chapter.locator("#ex-two > .admonition-title").inner_text()
    assert title.split("\n") == ["Exercise 2 Two", "difficulty 2 of 3, 5 minutes"]


# The drawing


def test_drawing_leads_to_the_chapters_that_exist(visit, book):
    page = visit(f"{book}index.html")
    blocks = page.locator(".drawing a")
    names = blocks.evaluate_all("all => all.map(a => a.getAttribute('aria-label'))")
    assert names == [
        "scaled dot-product attention: chapter 03, Some attention",
        "mask: chapter 04, Masks",
        "Mean over the real tokens: chapter 04, Masks",
    ]
    blocks.first.focus()
    page.keyboard.press("Tab")
    outline = "a => getComputedStyle(a).outlineStyle"
    assert blocks.nth(1).evaluate(outline) == "solid"
    page.keyboard.press("Enter")
    page.wait_for_url("**/part1/04-masks.html")


# Every page


def test_every_page_describes_itself(site, page_name):
    if page_name in ("404.html", "search.html"):
        pytest.skip("it is not shared")
    html = (site / page_name).read_text(encoding="utf-8")
    tags = dict(re.findall(r'<meta property="(og:\w+)" content="([^"]*)"', html))
    assert 20 < len(tags["og:description"]) <= 200
    assert len(re.findall(r'<meta [^>]*name="description"', html)) == 1
    assert tags["og:title"] in re.search(r"<h1>.*", html)[0]


def test_page_is_light(visit, page_name):
    page = visit("book/notation.html")
    sizes = []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(page.url.replace("book/notation.html", page_name))
    page.wait_for_load_state("networkidle")
    mathematics = page.locator(".math").count() > 0
    assert sum(sizes) < (1_800_000 if mathematics else 900_000)


def test_printed_page_is_the_text_alone(chapter):
    chapter.emulate_media(media="print")
    frame = ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, button"
    for part in chapter.locator(frame).all():
        assert part.is_hidden()
    assert all(why.is_visible() for why in chapter.locator(".why > div").all())


def test_heading_shows_its_link_on_hover_and_focus(chapter):
    link = chapter.locator("h2 > a.headerlink").first
    opacity = "a => getComputedStyle(a).opacity"
    assert link.evaluate(opacity) == "0"
    chapter.locator(".bd-article h2").first.hover()
    chapter.wait_for_timeout(300)
    assert link.evaluate(opacity) == "1"


def test_notebook_can_be_downloaded(visit, site):
    page = visit("book/tour.html")
    links = page.locator("a[href$='.ipynb']").evaluate_all(
        "all => all.map(a => a.href)"
    )
    assert len(links) == 1
    assert page.request.get(links[0]).json()["nbformat"] == 4


@pytest.mark.parametrize("path", ["/name/lost.html", "/name/book/a/b/lost.html"])
def test_lost_page_leads_back_at_any_depth(site, visit, path):
    page = visit("book/index.html")
    lost = (site / "404.html").read_text(encoding="utf-8")
    page.route("**/lost.html", lambda route: route.fulfill(body=lost, status=404))
    page.goto(page.url.replace("/book/index.html", path))
    links = page.locator("main a").evaluate_all("all => all.map(a => a.pathname)")
    assert links[0] == "/name/book/index.html"
    assert all(link.startswith("/name/") for link in links)
