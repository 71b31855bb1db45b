"""A heat map shows each number in its place, in a colour that says how large it is."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from encoderlab.figures import heat_map

ROWS, COLUMNS = ["the", "dog", "runs"], ["[CLS]", "the", "dog", "runs"]
WEIGHTS = np.array(
    [[0.7, 0.1, 0.1, 0.1], [0.0, 0.2, 0.8, 0.0], [0.25, 0.25, 0.25, 0.25]]
)
SCORES = 4 * WEIGHTS - 1


def test_heat_map_has_queries_down_and_keys_across():
    ax = heat_map(WEIGHTS, ROWS, COLUMNS)
    assert [label.get_text() for label in ax.get_yticklabels()] == ROWS
    assert [label.get_text() for label in ax.get_xticklabels()] == COLUMNS
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")
    np.testing.assert_array_equal(ax.images[0].get_array(), WEIGHTS)
    assert ax.yaxis_inverted()  # the first row is on top


def test_heat_map_draws_on_the_axes_it_is_given():
    _, ax = plt.subplots()
    assert heat_map(WEIGHTS, ROWS, COLUMNS, ax) is ax
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("shape", [(2, 3), (40, 60), (90, 4)])
def test_heat_map_fits_the_page(shape):
    rows, columns = [["a"] * size for size in shape]
    width, height = heat_map(np.zeros(shape), rows, columns).figure.get_size_inches()
    assert 1.5 < width <= 6
    assert 1.5 < height <= 6


def test_heat_map_sets_nothing_global():
    before = dict(plt.rcParams)
    heat_map(WEIGHTS, ROWS, COLUMNS)
    assert dict(plt.rcParams) == before


def test_heat_map_of_weights_darkens_steadily_from_zero_to_one(contrast):
    image = heat_map(WEIGHTS, ROWS, COLUMNS).images[0]
    assert image.get_clim() == (0, 1)
    steps = [contrast("white", image.to_rgba(x)) for x in np.linspace(0, 1, 20)]
    assert (np.diff(steps) > 0).all()


def test_heat_map_of_signed_numbers_is_white_at_zero_and_even_around_it(contrast):
    image = heat_map(SCORES, ROWS, COLUMNS, signed=True).images[0]
    assert image.get_clim() == (-SCORES.max(), SCORES.max())
    assert contrast("white", image.to_rgba(0.0)) < 1.1


def test_heat_map_of_zeros_has_a_scale():
    image = heat_map(0 * SCORES, ROWS, COLUMNS, signed=True).images[0]
    assert image.get_clim() == (-1, 1)


@pytest.mark.parametrize(
    ("options", "written"),
    [({}, 0), ({"signed": True}, 12), ({"signed": True, "numbers": False}, 0)],
)
def test_heat_map_writes_numbers_where_colour_alone_is_ambiguous(options, written):
    ax = heat_map(WEIGHTS, ROWS, COLUMNS, **options)
    assert len(ax.texts) == written


def test_heat_map_writes_each_number_into_its_cell_with_its_sign():
    ax = heat_map(SCORES, ROWS, COLUMNS, signed=True)
    at = {text.get_position(): text.get_text() for text in ax.texts}
    assert at[0, 0] == "1.80"
    assert at[3, 1] == "−1.00"


@pytest.mark.parametrize("options", [{"numbers": True}, {"signed": True}])
def test_heat_map_numbers_contrast_with_their_cells(contrast, options):
    values = np.linspace(-1 if "signed" in options else 0, 1, 20)[None]
    ax = heat_map(values, ["a"], [str(i) for i in range(20)], **options)
    for text, value in zip(ax.texts, values[0], strict=True):
        assert contrast(text.get_color(), ax.images[0].to_rgba(value)) > 3.5
        assert text.get_color() != "#000000"  # it would turn light in the dark theme


def test_heat_map_color_bar_can_be_left_out():
    ax = heat_map(WEIGHTS, ROWS, COLUMNS)
    assert len(ax.figure.axes) == 2
    bare = heat_map(WEIGHTS, ROWS, COLUMNS, color_bar=False)
    assert len(bare.figure.axes) == 1


def test_heat_map_labels_are_not_formulas(tmp_path):
    labels = ["$\\foo$", "$5", "and $6"]
    ax = heat_map(np.full((3, 3), -0.001), labels, labels, signed=True)
    ax.figure.savefig(tmp_path / "map.svg")
    drawn = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert "$\\foo$" in drawn
    assert {text.get_text() for text in ax.texts} == {"0.00"}


def test_heat_map_refuses_nothing_to_show():
    with pytest.raises(
        ValueError, match=r"a row and a column for each label.*\(0, 0\)"
    ):
        heat_map(np.ones((0, 0)), [], [])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (WEIGHTS.T, r"shape \(3, 4\), got shape \(4, 3\); pick one sentence and one"),
        (WEIGHTS[None], r"shape \(3, 4\), got shape \(1, 3, 4\)"),
        (WEIGHTS / 0.5, "between 0 and 1, got 0 to 1.6; pass signed=True"),
        (SCORES, "between 0 and 1, got -1 to 2.2; pass signed=True"),
        (WEIGHTS * np.nan, "weights must be finite, got NaN or infinity"),
        (np.where(WEIGHTS > 0, WEIGHTS, -np.inf), "weights must be finite"),
    ],
)
def test_heat_map_refuses_what_it_cannot_show(weights, message):
    with pytest.raises(ValueError, match=message):
        heat_map(weights, ROWS, COLUMNS)
