"""The draws of a chain of the No-U-Turn sampler in the layout of CmdStan's method `sample`."""

from collections.abc import Iterator, Sequence

import numpy as np

from ppl.inference.nuts.chain import Chain
from ppl.results.files.columns import Floats
from ppl.results.files.config import Config, comment_lines
from ppl.results.files.sample_csv import elapsed
from ppl.results.files.stan_csv import cell, line

LEADING = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
"""Columns before the variables: CmdStan's names of inference.nuts.chain.STATISTICS."""

TITLES = {
    "diag_e": "Diagonal elements of inverse mass matrix:",
    "dense_e": "Elements of inverse mass matrix:",
    "unit_e": "No free parameters for unit metric",
}
"""What CmdStan writes above each kind of metric."""


def chain_lines(config: Config, columns: Sequence[str], chain: Chain, rows: Floats) -> Iterator[str]:
    """The whole file: `rows` (draws, columns) are the variables of the draws.

    The times that readers look for are zero, so that the same seed gives the same bytes.
    """
    yield from comment_lines(config)
    yield ",".join((*LEADING, *columns)) + "\n"
    yield from adaptation(chain)
    yield from (line(row) for row in np.column_stack([chain.draws.statistics, rows]).tolist())
    yield from elapsed((0.0, "Warm-up"), (0.0, "Sampling"), (0.0, "Total"))


def adaptation(chain: Chain, metric: str = "diag_e") -> Iterator[str]:
    """The comment on what the warmup ended with; `metric` is CmdStan's name of the kind of metric."""
    yield "# Adaptation terminated\n"
    yield f"# Step size = {cell(chain.stepsize)}\n"
    yield f"# {TITLES[metric]}\n"
    if metric != "unit_e":
        for row in np.atleast_2d(chain.inverse_metric):
            yield f"# {', '.join(map(cell, row))}\n"
