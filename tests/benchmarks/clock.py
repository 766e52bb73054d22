"""Timing two or more things honestly: alternating, medians, the machine named."""

import os
import platform
import statistics
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path


def alternate(rounds: int, tasks: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The median of what each task returns over `rounds`, one after the other in each round."""
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            found[name].append(task())
    return {name: statistics.median(values) for name, values in found.items()}


def machine() -> str:
    """Processor, cores, load now, and the versions that matter."""
    cpu = next((x for x in _cpuinfo() if x.startswith("model name")), "").partition(":")[2].strip()
    load = os.getloadavg()[0]
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "autograd"))
    return (
        f"{cpu or platform.machine()}, {os.cpu_count()} cores, load {load:.1f} at the start; "
        f"Python {platform.python_version()}, {packages}."
    )


def _cpuinfo() -> Iterator[str]:
    path = Path("/proc/cpuinfo")
    yield from path.read_text().splitlines() if path.exists() else ()


def row(*cells: object) -> str:
    """A line of a Markdown table; numbers to three digits."""
    return f"| {' | '.join(f'{c:.3g}' if isinstance(c, float) else str(c) for c in cells)} |"


def head(*names: str) -> Iterator[str]:
    yield row(*names)
    yield row(*["---"] * len(names))
