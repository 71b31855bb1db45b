import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from encoderlab.with_numpy.gradients import chain, named


def scale(factor):
    def step(x):
        return factor * x, lambda d_y: (factor * d_y, {"factor": (x * d_y).sum()})

    return step


def test_chain_goes_back_through_its_steps_in_reverse():
    seen = []

    def record(name):
        def step(x):
            return x, lambda d_y: (seen.append(name) or d_y, {})

        return step

    chain(record("a"), record("b"), record("c"))(1.0)[1](1.0)
    assert seen == ["c", "b", "a"]


def test_chain_multiplies_the_derivatives_and_keeps_each_steps_gradients():
    x = np.array([1.0, 2.0])
    y, backward = chain(named("a", scale(3.0)), named("b", scale(5.0)))(x)
    d_x, gradients = backward(np.array([1.0, -1.0]))
    assert_array_equal(y, 15 * x)
    assert_allclose(d_x, [15.0, -15.0])
    assert gradients == {"a.factor": 5 * (1 - 2), "b.factor": 3 * (1 - 2)}


def test_chain_of_nothing_changes_nothing():
    y, backward = chain()(4.0)
    assert (y, backward(2.0)) == (4.0, (2.0, {}))


def test_chain_refuses_two_parameters_of_one_name():
    _, backward = chain(scale(3.0), scale(5.0))(np.ones(2))
    with pytest.raises(
        ValueError, match="two steps have the same names, factor; put a"
    ):
        backward(np.ones(2))
