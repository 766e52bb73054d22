"""`ppl update`: a fit, and the rows that came after it."""

import sys
from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import (
    Arrays,
    DrawsOutput,
    FitData,
    Hdi,
    Interval,
    SigFigs,
    existing,
    files_of_data,
    program,
)
from ppl.cli.data import inputs_from, recorded
from ppl.cli.fits import saved_fit
from ppl.cli.options import flag, output_file, quietly, whole
from ppl.cli.required import Require, status_of
from ppl.results.report.style import USUAL, TableStyle


def update(
    fit: Annotated[Path, existing("FIT", "Written by --save-fit.")],
    data: Annotated[list[Path], files_of_data("NEW_DATA...", "The new rows.")],
    arrays: Arrays = [],  # noqa: B006
    output: DrawsOutput = Path("updated.csv"),
    *,
    model: Annotated[Path | None, program("The program, if that of FIT is missing.")] = None,
    fit_data: FitData = [],  # noqa: B006
    save_fit: Annotated[Path | None, output_file("Save the fit, for the next update.")] = None,
    draws: Annotated[int, whole(1, "Draws to write.")] = 1000,
    seed: Annotated[int, whole(0, "Seed; reproducible on one machine.")] = 1,
    require: Require = None,
    interval: Interval = USUAL.interval,
    hdi: Hdi = False,
    sig_figs: SigFigs = None,
    verbose: Annotated[bool, flag("--verbose", "Print details of the verdict.")] = False,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Update a saved fit with new rows.

    \b
    First example:
      ppl variational polls.model day1.json --save-fit day1.fit.json
      ppl update day1.fit.json day2.json --save-fit day2.fit.json

    \b
    The priors are those of the program, and a Gaussian factor replaces the
    likelihood of earlier rows. FIT names its program and the rows of its last
    fit, which are read; rows before these are not needed. Variables other
    than rows that NEW_DATA omit keep their values. The number of groups may
    grow: new groups follow those of FIT.

    \b
    The target must be a sum over rows, and priors. Other programs are
    rejected; the message gives the line. The verdict says how close each
    factor was. If one was not close, fit all data again.
    """

    from ppl.cli.progress import on_stderr
    from ppl.cli.report import report
    from ppl.cli.table_columns import table_columns
    from ppl.methods.run.phases import phases_of
    from ppl.methods.run.settings import Settings
    from ppl.results.files.formats import require_name_of_fit, save_draws
    from ppl.run.console import console_of

    style = TableStyle(interval, hdi, sig_figs)
    if save_fit:
        require_name_of_fit(save_fit)
    old = saved_fit(fit, model, fit_data, quiet)
    fit_settings = Settings(draws=draws, seed=seed)
    with on_stderr(phases_of(fit_settings), quiet=quiet) as listen:
        updated = old.update(inputs_from(data, arrays), draws=draws, seed=seed, progress=listen)
    arguments = {"data.file": recorded(data, arrays)}
    save_draws(updated, output, arguments)
    if save_fit:
        updated.save(save_fit, arguments)
    files = [file for file in (output, save_fit) if file]
    columns = table_columns(updated.posterior, [])
    report(console_of(sys.stdout, quiet), updated, files, columns, style, verbose=verbose)
    raise click.exceptions.Exit(status_of(updated.level, require))
