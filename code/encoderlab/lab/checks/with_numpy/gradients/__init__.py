"""Mirrors the package; what every way back is asked stands here."""

import numpy as np

from encoderlab.lab.case import Property


def leaves_upstream(solution, *args, **keywords):
    """Ask whether the way back leaves the gradient it is given unchanged."""

    def holds():
        output, backward = solution(*args, **keywords)
        upstream = 0.5 + np.cos(np.arange(float(np.size(output))))
        upstream = upstream.reshape(np.shape(output))
        kept = upstream.copy()
        backward(upstream)
        return np.array_equal(upstream, kept)

    return Property("the way back leaves the gradient that it is given as it is", holds)
