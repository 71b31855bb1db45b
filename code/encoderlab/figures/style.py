"""The book's one figure style."""

import sys
from importlib.resources import as_file, files

import matplotlib.pyplot as plt


def use_book_style() -> None:
    """Draw every further figure in the book's style; called in a notebook's first cell.

    Inside a notebook figures are stored as SVG without a date, so that drawing them
    again changes nothing.

    Examples
    --------
    >>> with plt.rc_context():
    ...     use_book_style()
    ...     plt.rcParams["svg.fonttype"]
    'none'
    """
    with as_file(files("encoderlab.figures") / "book.mplstyle") as path:
        plt.style.use(path)
    ipython = sys.modules.get("IPython")  # no dependency: present where a notebook runs
    if ipython is not None and ipython.get_ipython() is not None:
        from matplotlib_inline.backend_inline import set_matplotlib_formats

        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})
