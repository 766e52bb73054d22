"""Further files as CmdStan writes them: diagnostics, and those of the method `sample`.

The times of `sample` are zero, so that the same seed gives the same bytes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ppl.floats import Floats
from ppl.kernel.draws.stan_csv import LEADING, cell, file_lines
from ppl.results.files.config import Config, comment_lines

if TYPE_CHECKING:
    from ppl.methods.nuts.chain import Chain

OF_NUTS = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
"""The same of chains: CmdStan's names of inference.nuts.chain.STATISTICS."""

TITLES = {
    "diag_e": "Diagonal elements of inverse mass matrix:",
    "dense_e": "Elements of inverse mass matrix:",
    "unit_e": "No free parameters for unit metric",
}
"""The heading that CmdStan writes above each kind of metric."""

NO_TIMES = ((0.0, "Warm-up"), (0.0, "Sampling"), (0.0, "Total"))


def diagnostic_lines(config: Config, trace: Sequence[tuple[int, float, float]]) -> Iterator[str]:
    """CmdStan's diagnostic file: iteration, seconds since the start, ELBO."""
    yield from comment_lines(config)
    yield "iter,time_in_seconds,ELBO\n"
    for iteration, seconds, elbo in trace:
        yield f"{iteration},{seconds:.3f},{cell(elbo)}\n"


# --- The method `sample` ---


def as_sample(config: Config, draws: int) -> Config:
    """The configuration of a fit told as one of method `sample`, with fixed parameters.

    One iteration of warmup is claimed, which is not saved, because CmdStanPy refuses files without.
    """
    others = {path: value for path, value in config.arguments.items() if not path.startswith("variational.")}
    fixed = {"method": "sample", "sample.algorithm": "fixed_param", "ppl.format": "sample"}
    counts = {"sample.num_samples": draws, "sample.num_warmup": 1}
    return replace(config, arguments={**others, **fixed, **counts})


def sample_lines(config: Config, columns: Sequence[str], *draws: Floats) -> Iterator[str]:
    """The draws of a fit, with its `config` and `draws` as in `csv_lines`, for readers of this method alone.

    There is no mean row and no adaptation; `lp__` has the log density, `log_g__` is for importance weights.
    """
    rows = (chain((p, p, g), row.tolist()) for p, g, row in zip(*draws, strict=True))
    sample = as_sample(config, len(draws[0]))
    return file_lines(comment_lines(sample), (*LEADING, *columns), rows, closing=elapsed(*NO_TIMES))


def chain_lines(config: Config, columns: Sequence[str], own: "Chain", rows: Floats) -> Iterator[str]:
    """The draws of a chain of the No-U-Turn sampler; `rows` (draws, columns) are the variables."""
    draws = np.column_stack([own.draws.statistics, rows]).tolist()
    return file_lines(comment_lines(config), (*OF_NUTS, *columns), draws, adaptation(own), elapsed(*NO_TIMES))


def adaptation(own: "Chain", metric: str = "diag_e") -> Iterator[str]:
    """The comment on what the warmup ended with; `metric` is CmdStan's name of the kind of metric."""
    yield "# Adaptation terminated\n"
    yield f"# Step size = {cell(own.stepsize)}\n"
    yield f"# {TITLES[metric]}\n"
    if metric != "unit_e":
        for row in np.atleast_2d(own.inverse_metric):
            yield f"# {', '.join(map(cell, row))}\n"


def elapsed(*phases: tuple[float, str]) -> Iterator[str]:
    """CmdStan's closing comment on times; the last phase is the total."""
    yield "# \n"
    for k, (seconds, phase) in enumerate(phases):
        lead = " Elapsed Time: " if k == 0 else " " * 15
        yield f"# {lead}{seconds:.3g} seconds ({phase})\n"
    yield "# \n"
