"""Heat maps of attention: rows are queries, columns are keys."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

# Neither is black, which turns light in the dark theme, where cells keep their colours.
DARK_INK, LIGHT_INK = "#1d232b", "#ffffff"


def heat_map(
    weights: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    ax: Axes | None = None,
    *,
    signed: bool = False,
    numbers: bool | None = None,
    color_bar: bool = True,
) -> Axes:
    """Draw a matrix of attention weights, or of signed numbers, as coloured cells.

    Parameters
    ----------
    weights
        Numbers of shape (rows, columns); between 0 and 1 unless ``signed``.
    rows
        A label for each row: the queries' tokens.
    columns
        A label for each column: the keys' tokens.
    ax
        Where to draw; by default a new figure.
    signed
        True for numbers of either sign, such as scores: the colours then run as far
        below zero as above, white at zero.
    numbers
        Whether to write each number into its cell. By default only in a signed map,
        whose two ends look the same without colour.
    color_bar
        Whether to add the scale of colours beside the map.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If ``weights`` does not have a row for each of ``rows`` and a column for each of
        ``columns``, is not finite, or leaves 0 to 1 though ``signed`` is False.

    Examples
    --------
    >>> ax = heat_map([[0.9, 0.1], [0.5, 0.5]], ["a", "dog"], ["a", "dog"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('key', 'query')
    >>> plt.close(ax.figure)
    """
    values = _checked(weights, len(rows), len(columns), signed)
    if ax is None:
        cell = min(0.42, 4.4 / len(columns), 4.9 / len(rows))  # inches, 6 in all
        size = (1.6 + cell * len(columns), 1.1 + cell * len(rows))
        ax = plt.figure(figsize=size).add_subplot()
    top = (np.abs(values).max() or 1.0) if signed else 1.0
    cmap, bottom = ("RdBu_r", -top) if signed else ("Blues", 0.0)
    image = ax.imshow(values, cmap=cmap, vmin=bottom, vmax=top)
    ax.set_xticks(range(len(columns)), columns, rotation=45)
    plt.setp(ax.get_xticklabels(), ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        label.set_parse_math(False)  # a token may hold a dollar sign
    ax.set(xlabel="key", ylabel="query")
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    if signed if numbers is None else numbers:
        for (row, column), value in np.ndenumerate(values):
            text = f"{round(value, 2) + 0.0:.2f}".replace("-", "−")  # no "-0.00"
            ink = LIGHT_INK if _luminance(image.to_rgba(value)) < 0.2 else DARK_INK
            ax.text(column, row, text, color=ink, size=8, ha="center", va="center")
    if color_bar:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
        bar.outline.set_visible(False)
    return ax


def _checked(weights, num_rows, num_columns, signed):
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (num_rows, num_columns) or values.size == 0:
        raise ValueError(
            f"weights must have a row and a column for each label, shape "
            f"({num_rows}, {num_columns}), got shape {values.shape}; "
            f"pick one sentence and one head, weights[b, h]"
        )
    if not np.isfinite(values).all():
        raise ValueError(
            "weights must be finite, got NaN or infinity; leave out what is masked"
        )
    if not signed and (values.min() < 0 or values.max() > 1 + 1e-6):
        raise ValueError(
            f"weights must be between 0 and 1, got {values.min():.7g} to "
            f"{values.max():.7g}; pass signed=True for numbers that are not weights"
        )
    return values


def _luminance(rgba):
    """Relative luminance of a colour, near enough to choose ink for it."""
    return np.dot(np.asarray(rgba[:3]) ** 2.2, [0.2126, 0.7152, 0.0722])
