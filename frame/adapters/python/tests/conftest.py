import threading

import numpy as np
import pytest


def together(work, count):
    """Runs `work(k)` in as many threads; what one of them raises is raised."""
    raised = []

    def run(k):
        try:
            work(k)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


@pytest.fixture
def series():
    """A smooth series of floats, which compresses well."""
    return np.cumsum(np.random.default_rng(7).normal(size=200_000)).round(2)
