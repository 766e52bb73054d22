"""Programs whose data are simulated, the same for every seed of a fit, each with a run of Stan's NUTS.

FOLDER/NAME.stan has its reference, and how it was made, in FOLDER/NAME.reference.json.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator
from threadpoolctl import threadpool_limits

from ppl.records import dataclass
from tests.benchmarks.errors import read_reference
from tests.benchmarks.verdicts.case import Case, Data, Group, Known


@dataclass(frozen=True)
class FixedData:
    """The simulators of the programs of a folder, which have their names, and the stream of their data."""

    folder: Path
    stream: int
    simulators: tuple[Callable[[Generator], Data], ...]

    def group(self) -> Group:
        return Group(tuple(f.__name__ for f in self.simulators), self.case)

    def case(self, name: str, seed: int = 1) -> Case:
        return Case(self.program(name), self.data(name), Known(read_reference(self.reference(name))))

    def data(self, name: str) -> Data:
        simulate = next(f for f in self.simulators if f.__name__ == name)
        with threadpool_limits(1):  # the same digits on every machine, and no waiting for other cores
            return simulate(np.random.default_rng([self.stream, *name.encode()]))

    def program(self, name: str) -> Path:
        return self.folder / f"{name}.stan"

    def reference(self, name: str) -> Path:
        return self.folder / f"{name}.reference.json"
