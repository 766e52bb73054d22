"""Lets tests import the shared laws, and draws the same examples in every run.

pytest's importlib mode adds no folder to the path by itself.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)

sys.path.append(str(Path(__file__).parent))

# Tests run side by side, one a core: threads of linear algebra beside them only wait for one another.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

# Programs that tests compile with JAX run once: quick to compile is better than quick.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--whole-pack", action="store_true", help="run under JAX every case of the pack, not a sample"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `whole_pack` unless it is asked for."""
    if not config.getoption("--whole-pack"):
        left_out = [item for item in items if item.get_closest_marker("whole_pack")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
