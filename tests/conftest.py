"""Lets tests import the shared laws, and draws the same examples in every run.

pytest's importlib mode adds no folder to the path by itself.
"""

import gc
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # it measures the machine's load
)
settings.load_profile("repeatable")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.append(str(Path(__file__).parent))

# Tests run side by side, one a core: threads of linear algebra beside them only wait for one another.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

# Programs that tests compile with JAX run once: quick to compile is better than quick.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


WHOLE = {
    "whole_pack": "run under JAX every case of the pack, not a sample",
    "whole_trial": "run every case of the hostile trial, not a sample",
}
"""Marks of what is left out unless an option of the same name asks for it."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Search for no garbage among modules and tests, now and later: they are 700,000 objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    for mark, meaning in WHOLE.items():
        parser.addoption(f"--{mark.replace('_', '-')}", action="store_true", help=meaning)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked by a name in WHOLE that is not asked for."""
    marks = [mark for mark in WHOLE if not config.getoption(mark)]
    left_out = {item for item in items if any(map(item.get_closest_marker, marks))}
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
