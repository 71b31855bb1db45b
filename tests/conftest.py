"""Fixtures for all tests."""

import jaxtyping
import pytest


@pytest.fixture
def without_shape_checks():
    """Let our own error messages speak: jaxtyping would refuse the input before."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
