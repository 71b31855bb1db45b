"""What the book adds to Sphinx, each part in its module."""

from . import (
    address,
    figures,
    glossary,
    head,
    page,
    progress,
    self_test,
    tag,
    weight,
)


def setup(app):
    for part in (
        tag,
        address,
        figures,
        glossary,
        head,
        page,
        progress,
        self_test,
        weight,
    ):
        part.setup(app)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
