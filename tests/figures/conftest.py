"""Figures drawn without a window, and closed after each test."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba_array


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    plt.switch_backend("agg")
    with plt.rc_context():
        yield
    plt.close("all")


@pytest.fixture
def contrast():
    """The contrast ratio of two colours, as WCAG 2.2 defines it: from 1 to 21."""

    def luminance(colour):
        channels = to_rgba_array(colour)[0, :3]
        linear = ((channels + 0.055) / 1.055) ** 2.4
        linear = np.where(channels <= 0.04045, channels / 12.92, linear)
        return linear @ [0.2126, 0.7152, 0.0722]

    def contrast(one, other):
        darker, lighter = sorted([luminance(one), luminance(other)])
        return (lighter + 0.05) / (darker + 0.05)

    return contrast
