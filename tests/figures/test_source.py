"""The code shown is the code that runs, without the prose of its docstrings."""

import functools
import inspect

import pytest

from encoderlab.config import EncoderConfig
from encoderlab.figures import heat_map, show_source
from encoderlab.figures.source import Source


class Counter:
    """A class with docstrings.

    Of several lines.
    """

    start = 0

    def up(self, by=1):
        """Count up."""
        text = """not a docstring"""
        return self.start + by, text

    def down(self):
        "Count down."

        return -1


def double(function):
    @functools.wraps(function)
    def twice(x):
        return function(function(x))

    return twice


@double
def increment(x):
    """Add one."""
    return x + 1


def test_show_source_drops_docstrings_and_nothing_else():
    assert show_source(Counter).text == "\n".join(
        [
            "class Counter:",
            "    start = 0",
            "",
            "    def up(self, by=1):",
            '        text = """not a docstring"""',
            "        return self.start + by, text",
            "",
            "    def down(self):",
            "        return -1",
        ]
    )


def test_show_source_of_a_decorated_function_shows_what_was_decorated():
    shown = show_source(increment).text
    assert shown == "@double\ndef increment(x):\n    return x + 1"
    assert increment(1) == 3


@pytest.mark.parametrize("obj", [heat_map, EncoderConfig, Source])
def test_show_source_keeps_the_code_of_the_package(obj):
    shown = show_source(obj).text.splitlines()
    assert shown
    assert set(shown) <= set(inspect.getsource(obj).splitlines())
    compile("\n".join(shown), "shown", "exec")


def test_show_source_of_a_method_starts_at_the_margin():
    assert show_source(Counter.down).text == "def down(self):\n    return -1"


def test_show_source_says_where_the_code_stands():
    source = show_source(heat_map)
    place = "code/encoderlab/figures/heat_map.py"
    assert repr(source).startswith(f"# {place}\ndef heat_map(")
    assert source._repr_markdown_().startswith(f"`{place}`\n\n````python\ndef heat")
    html = source._repr_html_()
    assert f"<code>{place}</code>" in html
    assert '<div class="highlight">' in html
    assert "style=" not in html
