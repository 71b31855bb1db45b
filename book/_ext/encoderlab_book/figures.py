"""Figures that follow the theme, leave room before they load, and lead to chapters."""

import re
from html import unescape
from pathlib import Path

from docutils import nodes
from sphinx.util import logging

from .tag import tag

# Put into each stored matplotlib figure. An SVG image sees the colour scheme of its
# page: what is black there (text, axes) turns light, and the data keep their colours.
DARK = (
    "<style>@media (prefers-color-scheme: dark) {"
    "text:not([style*='fill']){fill:#d9dee4!important}"
    "[style*='stroke: #000000']{stroke:#d9dee4!important}"
    "[style*='fill: #000000']{fill:#d9dee4!important}"
    "}</style>"
)
DRAWING = "encoder.svg"
# the groups of the drawing, by id, and the number of the chapter that builds each
BLOCKS = {
    "tokens": "06",
    "embeddings": "06",
    "multi-head": "05",
    "dot-product": "03",
    "mask": "04",
    "norm-1": "07",
    "feed-forward": "08",
    "norm-2": "07",
    "pooling": "04",
}


def link_drawing(app, doctree, docname):
    """Lay links over the blocks of the encoder's drawing whose chapters there are."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        if Path(image["uri"]).name == DRAWING:
            svg = Path(app.srcdir, image["uri"]).read_text(encoding="utf-8")
            links = filter(None, (block_link(app, docname, svg, b) for b in BLOCKS))
            around = tag("div", class_="drawing")
            image.parent.replace(image, around)
            around += [image, *links]


def block_link(app, docname, svg, block):
    """Return a link as large as a block, or nothing if it has no chapter yet."""
    group = re.search(rf'<g id="{block}">.*?</g>', svg, flags=re.DOTALL)
    if group is None:
        logging.getLogger(__name__).warning("%s has no block %r", DRAWING, block)
        return None
    chapter = find_chapter(app.env, BLOCKS[block])
    if chapter is None:
        return None
    rects = re.findall(
        r'<rect[^>]* x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"', group[0]
    )
    boxes = [(x, y, x + w, y + h) for x, y, w, h in (map(int, r) for r in rects)]
    left, top = (min(box[i] for box in boxes) for i in (0, 1))
    right, bottom = (max(box[i] for box in boxes) for i in (2, 3))
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    place = {
        "left": left / width,
        "top": top / height,
        "width": (right - left) / width,
        "height": (bottom - top) / height,
    }
    words = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", group[0]))
    title = app.env.titles[chapter].astext()
    return tag(
        "a",
        tag("span", nodes.Text(BLOCKS[block])),
        href=app.builder.get_relative_uri(docname, chapter),
        aria_label=f"{unescape(words)}: chapter {BLOCKS[block]}, {title}",
        style=";".join(f"{side}:{share:.2%}" for side, share in place.items()),
    )


def find_chapter(env, number):
    return next((name for name in env.found_docs if f"/{number}-" in name), None)


def with_sizes(app, body):
    """Give the SVG images of a page's body a size, so that text below does not jump."""
    return re.sub(
        r'<img alt="[^"]*" (?:class="[^"]*" )?src="([^"]+\.svg)"',
        lambda match: match[0] + size_attributes(app, match[1]),
        body,
    )


def size_attributes(app, src):
    sources = {file: source for source, file in app.builder.images.items()}
    path = app.srcdir / sources.get(Path(src).name, "")
    if not path.is_file():
        return ""
    size = re.search(
        r'<svg[^>]* width="([\d.]+)(pt)?" height="([\d.]+)',
        path.read_text(encoding="utf-8"),
    )
    if not size:
        return ""
    pixels = 4 / 3 if size[2] else 1  # of a unit: matplotlib's is the point
    width, height = float(size[1]) * pixels, float(size[3]) * pixels
    return f' width="{width:.0f}" height="{height:.0f}"'


def follow_the_theme(app, exception):
    """Give the stored matplotlib figures their dark colours."""
    if exception is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir, "_images").glob("*.svg"):
        svg = path.read_text(encoding="utf-8")
        if '<g id="figure_1">' in svg and DARK not in svg:
            path.write_text(
                svg.replace("</defs>", "</defs>" + DARK, 1), encoding="utf-8"
            )


def setup(app):
    app.connect("doctree-resolved", link_drawing)
    app.connect("build-finished", follow_the_theme)
