"""The book's figures are the same bytes on every run, and readable on both pages."""

import io
import sys

import matplotlib.pyplot as plt
import numpy as np

from encoderlab.figures import heat_map, use_book_style


def svg():
    figure, ax = plt.subplots()
    ax.plot([1, 2], label="measured")
    ax.set_title("A title")
    heat_map(np.eye(12), ["a"] * 12, ["a"] * 12, figure.add_subplot(122))
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def test_style_draws_the_same_svg_again():
    use_book_style()
    assert svg() == svg()


def test_style_keeps_text_as_text_on_a_clear_ground():
    use_book_style()
    drawn = svg()
    assert ">A title</text>" in drawn
    assert drawn.count("fill: none") >= 2
    assert len(drawn) < 150_000


def test_style_outside_a_notebook_leaves_ipython_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    use_book_style()
    assert plt.rcParams["svg.hashsalt"] == "encoderlab"


def test_style_in_a_notebook_stores_svg_without_a_date(monkeypatch):
    from matplotlib_inline import backend_inline

    stored = {}

    class InANotebook:
        @staticmethod
        def get_ipython():
            return "a kernel"

    monkeypatch.setitem(sys.modules, "IPython", InANotebook)
    monkeypatch.setattr(
        backend_inline,
        "set_matplotlib_formats",
        lambda *formats, **options: stored.update({formats: options}),
    )
    use_book_style()
    assert stored == {("svg",): {"metadata": {"Date": None, "Creator": None}}}


def test_style_colours_stand_out_on_both_pages(contrast):
    use_book_style()
    colours = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    assert len(set(colours)) == 7
    assert all(contrast(colour, "#ffffff") > 2 for colour in colours)
    # black is left out: it turns light on the dark page
    assert all(contrast(colour, "#14181e") > 3 for colour in colours[:-1])
