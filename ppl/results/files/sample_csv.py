"""Draws of a fit in the layout of CmdStan's method `sample`, for readers that know no other.

The layout is that of the sampler with fixed parameters, so that nothing need be invented: no mean row, no
adaptation, a column `lp__` that has the log density, and `log_g__` for importance weights. One iteration of
warmup is claimed, which is not saved, because CmdStanPy refuses files without.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ppl.results.files.columns import Floats
from ppl.results.files.config import Config, comment_lines
from ppl.results.files.stan_csv import line

LEADING = ("lp__", "log_p__", "log_g__")


def as_sample(config: Config, draws: int) -> Config:
    """The configuration of a fit told as one of method `sample`."""
    others = {path: value for path, value in config.arguments.items() if not path.startswith("variational.")}
    sample = {"method": "sample", "sample.num_samples": draws, "sample.num_warmup": 1}
    return replace(
        config, arguments={**others, **sample, "sample.algorithm": "fixed_param", "ppl.format": "sample"}
    )


def sample_lines(
    config: Config, columns: Sequence[str], log_p: Floats, log_g: Floats, rows: Floats
) -> Iterator[str]:
    """The whole file; `config` is that of the fit."""
    yield from comment_lines(as_sample(config, len(rows)))
    yield ",".join(chain(LEADING, columns)) + "\n"
    for p, g, row in zip(log_p, log_g, rows, strict=True):
        yield line(chain((p, p, g), row.tolist()))
    yield from elapsed((0.0, "Warm-up"), (0.0, "Sampling"), (0.0, "Total"))


def elapsed(*phases: tuple[float, str]) -> Iterator[str]:
    """CmdStan's closing comment on times; the last phase is the total."""
    yield "# \n"
    for k, (seconds, phase) in enumerate(phases):
        lead = " Elapsed Time: " if k == 0 else " " * 15
        yield f"# {lead}{seconds:.3g} seconds ({phase})\n"
    yield "# \n"
