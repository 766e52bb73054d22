"""Lets tests import the shared laws and parts of the papers, and draws the same examples in every run.

pytest's importlib mode adds no folder to the path by itself.
"""

import gc
import os
import signal
import sys
from collections.abc import Generator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # it measures the machine's load
)
settings.load_profile("repeatable")

# No constants of modules as examples: each change would give others, and they cost each worker 7 s.
providers._get_local_constants = Constants

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # begun by nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

TESTS = Path(__file__).parent
sys.path += [str(TESTS), str(TESTS.parent / "models" / "papers")]

# Tests run side by side, one a core: threads of linear algebra beside them only wait for one another.
for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")


def _xla_flags() -> str:
    """Programs that tests compile with JAX run once: quick to compile is better than quick."""
    jaxlib = tuple(map(int, version("jaxlib").split(".")[:3])) if find_spec("jaxlib") else ()
    flags = ["--xla_backend_optimization_level=0"]  # XLA ends the process at a flag that it does not know
    if jaxlib < (0, 11, 1):
        flags += ["--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1"]
    return " ".join(flags)


os.environ.setdefault("XLA_FLAGS", _xla_flags())

# Tests change the compiler while it runs, and what it then makes is for no other test.
from laws.turns import of_other_turns, turn  # noqa: E402

import ppl.compilation.phases  # noqa: E402

ppl.compilation.phases.in_cache = lambda source, settings: None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Search for no garbage among modules and tests, now and later: they are 700,000 objects.

    With Python's thresholds, searches among what tests make took 5% of their processor time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="run every case, not samples of the long tables")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `whole` and the cases of other turns, unless --whole asks for them.

    Begin with what is marked `long`.
    """
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    if config.getoption("whole"):
        return
    left_out = {item for item in items if item.get_closest_marker("whole")}
    if {Path(arg).resolve() for arg in config.args} <= {TESTS, TESTS.parent}:
        left_out |= set(of_other_turns([item for item in items if item not in left_out], turn(TESTS)))
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]
