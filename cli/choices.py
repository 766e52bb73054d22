"""The words that options of `ppl variational` take; a test holds them to the tables behind them.

They are read off the arguments, which are there at once: the tables themselves import SciPy.
"""

from enum import StrEnum

from ppl.results.arguments.methods import ALGORITHM
from ppl.results.arguments.tree import (
    BACKENDS,
    DEVICES,
    ESTIMATORS,
    LAYOUTS,
    POSITIVE_TRANSFORMS,
    STANDARDS,
    STARTS,
    STEPS,
    STOPPING,
)


def words(name: str, *values: str) -> type[StrEnum]:
    """An enumeration whose members are spelt like their values."""
    return StrEnum(name, {value.replace("-", "_"): value for value in values})


# `auto`, an approximating family, or a recipe of another kind.
Algorithm = words("Algorithm", *(option.name for option in ALGORITHM.options))
Start = words("Start", *STARTS)
Estimator = words("Estimator", *ESTIMATORS)
StepRule = words("StepRule", *STEPS)
Stop = words("Stop", *STOPPING)
Noise = words("Noise", *STANDARDS)
Backend = words("Backend", *BACKENDS)
Device = words("Device", *DEVICES)
PositiveTransform = words("PositiveTransform", *POSITIVE_TRANSFORMS)
Layout = words("Layout", *LAYOUTS)
