"""From unconstrained draws to rows of named columns, losing no row to a failure in another."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ppl.errors import PPLError
from ppl.inference.phases import Phase
from ppl.inference.progress import Listener, Progress, silent
from ppl.results.columns import Floats
from ppl.results.posterior import Posterior

SELDOM = 0.2
"""Seconds between two reports: most tables take less."""

GENERATED = 0x6771  # "gq": the stream of the generated quantities, apart from every stream of the inference


@dataclass(frozen=True, eq=False)
class Table:
    """`rows` (draws, columns); `failed` rows end in nan, and `reason` is what the first of them said."""

    columns: tuple[str, ...]
    rows: Floats
    failed: int = 0
    reason: str = ""


def tabulate(
    posterior: Posterior,
    us: Floats | Sequence[Floats],
    seed: int,
    key: int = 0,
    listen: Listener = silent,
) -> Table:
    """Constrains each of `us`, (dim,) each, with transformed parameters and generated quantities.

    Row k has a random stream of its own for its generated quantities, so that it depends on `seed`,
    `key` and k alone: a failure elsewhere, or more rows, cannot change it. Ctrl-C leaves the rows so far.
    """
    columns = tuple(posterior.param_names(include_tp=True, include_gq=True))
    streams = np.random.SeedSequence(seed, spawn_key=(GENERATED, key)).spawn(len(us))
    rows = np.full((len(us), len(columns)), np.nan)
    reasons, told = [], perf_counter()
    with np.errstate(all="ignore"):  # an overflow shows as inf in its cell
        for k, (u, stream, row) in enumerate(zip(us, streams, rows, strict=True)):
            try:
                if perf_counter() - told > SELDOM:
                    listen(Progress(Phase.VARIABLES, k, len(us)))
                    told = perf_counter()
                values, reason = _constrain(posterior, u, np.random.default_rng(stream))
            except KeyboardInterrupt:
                if k == 0:
                    raise
                rows = rows[:k]
                break
            row[: len(values)] = values
            reasons += [reason] if reason else []
    return Table(columns, rows, len(reasons), reasons[0] if reasons else "")


def _constrain(posterior: Posterior, u: Floats, rng: np.random.Generator) -> tuple[Floats, str]:
    """As many leading columns as can be had, and what kept the others away ("" when nothing did)."""
    try:
        return posterior.param_constrain(u, include_tp=True, include_gq=True, rng=rng), ""
    except (PPLError, ArithmeticError, ValueError) as error:
        reason = str(error)
    try:
        return posterior.param_constrain(u, include_tp=True), reason
    except (PPLError, ArithmeticError, ValueError):
        return posterior.param_constrain(u), reason
