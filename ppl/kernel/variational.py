"""From a text and its data to draws of a q, and a CSV file of them: all phases in order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.algorithm_1 import Approximation, Settings, algorithm_1
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.density.log_density import conditioned
from ppl.kernel.draws.names import column_names
from ppl.kernel.draws.stan_csv import csv_lines
from ppl.kernel.emit.emit import emit
from ppl.kernel.emit.load import Code
from ppl.kernel.ir.lower import lower
from ppl.kernel.ir.nodes import Program
from ppl.kernel.ir.zero_based import count_from_zero
from ppl.kernel.language.check import analyse
from ppl.records import dataclass
from ppl.source import SourceText

Pass = Callable[[Program], Program]
"""A function from a program to one that means the same."""
REQUIRED: tuple[Pass, ...] = (count_from_zero,)
"""The only pass that a program needs; `optimise.forms` has the others, and their order."""


@dataclass(frozen=True)
class Compiled:
    """A program as IR and as Python code."""

    program: Program
    code: Code


def compiled(source: SourceText, passes: Sequence[Pass] = REQUIRED) -> Compiled:
    """Parse, check, lower, rewrite, emit.

    Raises:
        ModelError: the program is refused; the error has line and column.

    Example:
        >>> m = compiled(SourceText("parameters { real x; } model { x ~ normal(0, 1); }"))
        >>> m.code.emitted.text.splitlines()[0]
        'def read_data(d, read):'
    """
    program = lower(*analyse(source))
    for each in passes:
        program = each(program)
    return Compiled(program, Code.of(emit(program), source.name))


FAMILIES: Mapping[str, Callable[[int], Family]] = {"meanfield": MeanField, "fullrank": FullRank}


@dataclass(frozen=True)
class Draws:
    """Draws of all variables: `rows` (draws, columns), and `mean` (columns,) at the mean of q."""

    columns: tuple[str, ...]
    mean: Floats
    rows: Floats
    q: Approximation

    def csv_lines(self) -> Iterator[str]:
        """The file that CmdStan writes of them, without its comments on arguments."""
        q = self.q
        log_g = q.log_q - q.family.log_density(q.params, q.mean[None])
        return csv_lines((), self.columns, q.eta, self.mean, q.log_p, log_g, self.rows)


def variational(
    text: str,
    data: Mapping[str, Any],
    algorithm: Literal["meanfield", "fullrank"] = "meanfield",
    settings: Settings = Settings(),  # noqa: B008
) -> Draws:
    """Compile a program, condition it on data as JSON has them, and fit a Gaussian by Algorithm 1.

    Raises:
        ModelError: the program is refused.
        DataError: a variable is missing, or does not fit its declaration.
        InferenceError: no start has a finite density.

    Example:
        >>> text = "data { real y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
        >>> draws = variational(text, {"y": 2.0})
        >>> draws.columns, draws.rows.shape, round(float(draws.mean[0]))
        (('m',), (1000, 1), 1)
    """
    c = compiled(SourceText(text))
    target = conditioned(c.program, c.code, data, settings.seed)
    q = algorithm_1(target, FAMILIES[algorithm](target.dim), settings)
    rng = np.random.default_rng(settings.seed)
    columns = tuple(name for v in target.variables for name in column_names(v))
    rows = np.array([target.constrained(u, rng) for u in q.u]).reshape(len(q.u), len(columns))
    return Draws(columns, target.constrained(q.mean, rng), rows, q)
