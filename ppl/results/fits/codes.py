"""Notes on codes that no label of a table shows."""

from ppl.data.levels import Factor
from ppl.density.log_density import LogDensity


def codes(posterior: LogDensity) -> tuple[str, ...]:
    """Which number stands for which level, of factors that index no variable."""
    shown = {axis for axes in posterior.labels.dims.values() for axis in axes}
    factors = {name: value for name, value in posterior.data.items() if isinstance(value, Factor)}
    return tuple(f"`{name}`: {f.sentence}." for name, f in factors.items() if name not in shown)
