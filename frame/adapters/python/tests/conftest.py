import numpy as np
import pytest


@pytest.fixture
def series():
    """A smooth series of floats, which compresses well."""
    return np.cumsum(np.random.default_rng(7).normal(size=200_000)).round(2)
