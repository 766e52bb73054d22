"""From unconstrained draws to rows of named columns, losing no row to a failure in another."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError, PPLError, Stopped
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.kernel.emit.runtime import DrawsRejected
from ppl.kernel.ir.zero_based import IndexBelowOne
from ppl.methods.numerics.index_sets import all_but
from ppl.records import dataclass, replace
from ppl.run.memory_needed import require_memory_of_rows

SECONDS_A_TABLE_REPORT = 0.2
"""Seconds between two reports: most tables take less."""
GENERATED_STREAM = 0x6771
"""The stream "gq" of the generated quantities, apart from every stream of the inference."""
Stream = Callable[[int], np.random.Generator]
"""The random stream of a row."""


@dataclass(frozen=True, eq=False)
class Table:
    """`rows` (draws, columns); `failed` rows end in nan, and `reason` is what the first of them said."""

    columns: tuple[str, ...]
    rows: Floats
    failed: int = 0
    reason: str = ""

    def only(self, at: Sequence[int]) -> "Table":
        """The table of the columns at these positions alone."""
        rows = np.ascontiguousarray(self.rows[:, at])
        return replace(self, columns=tuple(self.columns[k] for k in at), rows=rows)

    def require_some(self, what: str) -> None:
        """InferenceError where `what` could be computed at no draw; says why."""
        if self.failed and self.failed == len(self.rows):
            raise InferenceError(f"{what} could not be computed at any of {self.failed} draws: {self.reason}")


def failures(*tables: Table) -> tuple[str, ...]:
    """A sentence for the user where rows of a table failed."""
    failed = [table for table in tables if table.failed]
    rows = f"{sum(table.failed for table in failed)} of {sum(len(table.rows) for table in tables)} rows"
    what = "transformed parameters or generated quantities failed there"
    return tuple(f"{rows} end in nan: {what} ({table.reason})." for table in failed[:1])


def tabulate(
    posterior: LogDensity, us: Floats | Sequence[Floats], seed: int, key: int = 0, listen: Listener = silent
) -> Table:
    """Constrains each of `us`, (dim,) each, with transformed parameters and generated quantities.

    As many rows at once as the posterior takes. Their generated quantities share one random stream, that of
    the first of them, which depends on `seed`, `key` and its number alone; one that fails has its own, and if
    it is not known which does, each half of them. Ctrl-C leaves the rows so far.
    """
    require_memory_of_rows(posterior.extent, len(us))
    columns = tuple(posterior.param_names(include_tp=True, include_gq=True))

    def stream(row: int) -> np.random.Generator:
        """The stream of a row: made where it is read, for a thousand take longer than their draws."""
        return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(GENERATED_STREAM, key, row)))

    rows = np.full((len(us), len(columns)), np.nan)
    reasons, reported = list[str](), perf_counter()
    size = posterior.draws_at_once
    for k in range(0, len(us), size):
        try:
            if perf_counter() - reported > SECONDS_A_TABLE_REPORT:
                listen(Progress(Phase.VARIABLES, k, len(us)))
                reported = perf_counter()
            numbers = np.arange(k, min(k + size, len(us)))
            reasons += _fill(rows[k : k + size], posterior, np.asarray(us[k : k + size]), stream, numbers)
        except KeyboardInterrupt:
            if k == 0:
                raise
            rows = rows[:k]
            break
    return Table(columns, rows, len(reasons), reasons[0] if reasons else "")


def _fill(
    rows: Floats, posterior: LogDensity, us: Floats, stream: Stream, numbers: NDArray[np.intp]
) -> list[str]:
    """Fill rows of these numbers together or, where some fail, these one by one and then the others; by
    halves where it is not known which. Returns what kept values away from some."""
    if len(rows) == 1:
        values, reason = _constrain(posterior, us[0], stream(int(numbers[0])))
        rows[0, : len(values)] = values
        return [reason] if reason else []
    try:
        rows[:] = posterior.param_constrain_draws(us, stream(int(numbers[0])))
        return []
    except Stopped:
        raise
    except (PPLError, ArithmeticError, ValueError, MemoryError) as error:
        failed = failed_draws(error, len(rows))
        parts = [*failed[:, None], all_but(len(rows), failed)]
        if not len(failed):
            parts = np.array_split(np.arange(len(rows)), 2)
    reasons = list[str]()
    for part in filter(len, parts):
        own = rows[part]
        reasons += _fill(own, posterior, us[part], stream, numbers[part])
        rows[part] = own
    return reasons


def failed_draws(error: Exception, draws: int) -> NDArray[np.intp]:
    """Which of so many draws have this error, as far as it tells."""
    match error.__cause__:
        case DrawsRejected(draws=failed):
            return failed
        case IndexBelowOne(index=index) if np.shape(index)[:1] == (draws,):  # an index of each draw
            return np.flatnonzero((index < 1).reshape(draws, -1).any(axis=1))
    return np.zeros(0, dtype=np.intp)


def _constrain(posterior: LogDensity, u: Floats, rng: np.random.Generator) -> tuple[Floats, str]:
    """As many leading columns as can be had, and what kept the others away ("" when nothing did)."""
    reason = ""
    for generated in (True, False):
        try:
            return posterior.param_constrain(u, True, generated, rng), reason
        except Stopped:
            raise
        except (PPLError, ArithmeticError, ValueError) as error:
            reason = reason or str(error)
    return posterior.param_constrain(u), reason
