"""A program with its data, and what is known of its posterior."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ppl
from ppl.records import dataclass
from tests.benchmarks.errors import Quantities

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Known:
    """Quantities of the posterior, from a long run or exact."""

    quantities: Quantities


@dataclass(frozen=True)
class Improper:
    """There is no posterior: every answer but a refusal is wrong."""


@dataclass(frozen=True)
class Drawn:
    """The data were simulated from parameters drawn from the prior: a draw of the posterior, by names."""

    values: Mapping[str, float]


Truth = Known | Improper | Drawn


@dataclass(frozen=True)
class Case:
    """What a fit with one seed is judged by."""

    program: Path
    data: Path | Data
    truth: Truth

    def posterior(self) -> ppl.Posterior:
        return ppl.compile_model(self.program).condition(self.data)


@dataclass(frozen=True)
class Group:
    """Names, and the case of a name and a seed; where data are simulated, the seed is theirs too."""

    names: tuple[str, ...]
    case: Callable[[str, int], Case]
