"""The table of CmdStan's `stansummary`, over the files of one or more runs, with k-hat beside it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ppl.floats import Floats
from ppl.methods.diagnose.convergence import agreement, by_columns, mcse_mean
from ppl.methods.diagnose.diagnostics import khat_of_means
from ppl.methods.diagnose.psis import psis
from ppl.methods.numerics.quantiles import quantiles
from ppl.records import dataclass
from ppl.results.files.read_csv import DrawsFile
from ppl.results.report.style import USUAL, TableStyle
from ppl.results.report.summary import MISSING, known_digits, short
from ppl.results.report.text_table import at_the_point, text_table

NORMAL_MAD = 1.4826
"""The factor from the median absolute deviation of a normal to its standard deviation."""

OF_NORMAL = {"Mean": 1.0, "StdDev": 0.71, "MAD": 1.17}
"""Standard errors of these of a normal, in standard errors of its mean."""
QUANTILE_OF_NORMAL = 2.1
"""The same of its 5% and 95% quantiles."""

DECIMALS = {"ESS_bulk": 0, "ESS_tail": 0, "R_hat": 3, "k_hat": 2, MISSING: 0}
"""Figures that are read on one scale whatever the column."""


@dataclass(frozen=True)
class Figures:
    """One column's figures, in the order of `headings`."""

    name: str
    figures: tuple[float, ...]


def headings(style: TableStyle, files: Sequence[DrawsFile]) -> tuple[str, ...]:
    """The names of a line's figures; k_hat and the count of draws that are nan where there are any."""
    khat = any(file.log_ratios is not None for file in files)
    tail = ("k_hat",) * khat + (MISSING,) * any(np.isnan(file.draws).any() for file in files)
    return ("Mean", "MCSE", "StdDev", "MAD", *style.headings, "ESS_bulk", "ESS_tail", "R_hat", *tail)


def stansummary(files: Sequence[DrawsFile], style: TableStyle = USUAL) -> tuple[Figures, ...]:
    """A line for each column of files whose columns are the same.

    Runs are compared on as many draws as the shortest has; k-hat is that of the worst run. MCSE is at least
    the standard error that the files give of their fits.
    """
    names, runs, of_fits = files[0].columns, runs_of(files), errors_of_fits(files)
    pooled = runs[0] if len(files) == 1 else np.concatenate([file.draws for file in files])
    missing, khats = np.isnan(pooled).sum(axis=0), worst_khats(files)
    with np.errstate(all="ignore"):  # an overflow shows as inf in its cell
        own = by_columns(partial(_of_draws, style=style), pooled[None])
        mcse = np.maximum(by_columns(mcse_mean, runs), [of_fits.get(name, 0.0) for name in names])
        last = [khats[:, None]] * bool(len(khats)) + [missing[:, None]] * bool(missing.any())
        together = [own[:, :1], mcse[:, None], own[:, 1:], by_columns(agreement, runs), *last]
    figures = np.concatenate(together, axis=1).tolist()
    return tuple(Figures(name, tuple(row)) for name, row in zip(names, figures, strict=True))


def exponentiated(file: DrawsFile) -> DrawsFile:
    """The same columns with exp of their draws: odds ratios of log odds ratios.

    The standard errors of means grow as the sds do.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        draws = np.exp(file.draws)
        grown = dict(zip(file.columns, draws.std(axis=0) / file.draws.std(axis=0), strict=True))
    if (about := file.provenance) is None:
        return replace(file, draws=draws)
    se = {name: value * grown[name] for name, value in about.se.items() if name in grown}
    return replace(file, draws=draws, config={**file.config, **replace(about, se=se).entries()})


def runs_of(files: Sequence[DrawsFile]) -> Floats:
    """The draws (runs, draws, columns) of each file, as many as the shortest has."""
    if len(files) == 1:
        return files[0].draws[None]
    shortest = min(len(file.draws) for file in files)
    return np.stack([file.draws[:shortest] for file in files])


def errors_of_fits(files: Sequence[DrawsFile]) -> dict[str, float]:
    """The standard error of the mean over all files, by column, where each says that of its own."""
    errors = [about.se if (about := file.provenance) else {} for file in files]
    names = set[str].intersection(*map(set, errors))
    return {name: math.hypot(*(se[name] for se in errors)) / len(errors) for name in names}


def worst_khats(files: Sequence[DrawsFile]) -> Floats:
    """k-hat (columns,) of each column's mean in the run where it is worst; empty without log densities."""
    khats = [_khats(file.log_ratios, file.draws) for file in files if file.log_ratios is not None]
    return np.max(khats, axis=0) if khats else np.zeros(0)


def _khats(log_ratios: Floats, draws: Floats) -> Floats:
    """k-hat (columns,); a column with a draw that is not finite has none."""
    khats = np.full(draws.shape[1], math.nan)
    usable = np.isfinite(log_ratios)
    finite = np.isfinite(draws).all(axis=0)
    if usable.any() and finite.any():
        khats[finite] = khat_of_means(log_ratios[usable], draws[usable][:, finite])
    return khats


def _of_draws(runs: Floats, style: TableStyle) -> Floats:
    """Mean, sd, MAD and quantiles (columns, k) of draws (columns, 1, n), of those that are not nan."""
    draws = runs[:, 0]
    if (missing := np.isnan(draws)).any():
        return np.concatenate(
            [_of_draws(x[None, None, ~nan], style) for x, nan in zip(draws, missing, strict=True)]
        )
    if not draws.shape[1]:
        return np.full((len(draws), 3 + len(style.headings)), math.nan)
    constant = np.ptp(draws, axis=1) == 0  # the mean and sd of many equal numbers would be off by rounding
    mean, sd = draws.mean(axis=1), draws.std(axis=1, ddof=1)
    middle = np.median(draws, axis=1, keepdims=True)
    mad = NORMAL_MAD * np.median(np.abs(draws - middle), axis=1)
    if draws.shape[1] > 1:
        mean, sd = np.where(constant, draws[:, 0], mean), np.where(constant, 0.0, sd)
    return np.column_stack([mean, sd, mad, _quantiles(draws, style)])


def _quantiles(draws: Floats, style: TableStyle) -> Floats:
    """Those that tables show (columns, k), of draws (columns, n)."""
    if style.hdi and not style.quantiles:  # each column has its own shortest interval
        return np.array([quantiles(x, style.probabilities(x)) for x in draws])
    return quantiles(draws.T, style.quantiles or style.central).T


def as_text(lines: Sequence[Figures], names: Sequence[str], digits: int | None, width: int) -> Iterator[str]:
    """The lines of a table of them, with so many digits or those that are known."""
    figures = at_the_point([tuple(figure_texts(line, names, digits)) for line in lines])
    rows = [(line.name, *texts) for line, texts in zip(lines, figures, strict=True)]
    return text_table(("", *names), rows, width)


def figure_texts(line: Figures, names: Sequence[str], digits: int | None = None) -> Iterator[str]:
    """The figures as the table shows them, with so many digits or those that the MCSE leaves known."""
    figures = dict(zip(names, line.figures, strict=True))
    for heading, value in figures.items():
        if heading in DECIMALS and math.isfinite(value):
            yield f"{value:.{DECIMALS[heading]}f}"
        elif digits:
            yield short(value, digits)
        elif heading == "MCSE":
            yield short(value, 2)
        else:
            yield known_digits(value, figures["MCSE"] * OF_NORMAL.get(heading, QUANTILE_OF_NORMAL))


def quantiles_of(percentiles: str) -> tuple[float, ...]:
    """ "5,50,95" as (0.05, 0.5, 0.95); none where these are no numbers from 0 to 100."""
    try:
        values = tuple(float(part) / 100 for part in percentiles.split(","))
    except ValueError:
        return ()
    return values if all(0 <= value <= 1 for value in values) else ()


def csv_lines(lines: Sequence[Figures], names: Sequence[str], digits: int | None = None) -> Iterator[str]:
    """The table as CSV, as `stansummary --csv_filename` writes it; of so many digits, else all."""
    write = repr if digits is None else f"{{:.{digits}g}}".format
    yield ",".join(("name", *names)) + "\n"
    for line in lines:
        yield ",".join((f'"{line.name}"', *map(write, line.figures))) + "\n"


def stated(files: Sequence[DrawsFile]) -> str:
    """The title of the files: `2 runs of toy_model (variational), 1000 draws each; k-hat 0.31, 0.44`."""
    runs = "1 run" if len(files) == 1 else f"{len(files)} runs"
    counts = sorted({len(file.draws) for file in files})
    draws = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    khats = [psis(ratios[np.isfinite(ratios)]).khat for f in files if (ratios := f.log_ratios) is not None]
    quality = f"; k-hat {', '.join(f'{k:.2f}' for k in khats)}" if khats else ""
    return (
        f"{runs} of {files[0].config.get('model', 'a program')} ({files[0].method}), "
        f"{draws} draws{' each' * (len(files) > 1)}{quality}"
    )
