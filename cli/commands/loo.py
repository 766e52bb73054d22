"""`ppl loo`: how well a model predicts rows of data that it has not seen."""

from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import DrawsFiles, OwnData, program
from ppl.cli.options import flag, one_of, outcomes, output_file, whole
from ppl.cli.required import Format, ReportFormat


def loo(
    files: DrawsFiles,
    outcome: Annotated[str, outcomes("Leave out rows of this outcome; A,B: row n of both.")] = "",
    log_lik: Annotated[str, one_of("The log likelihood of each row.", "--log-lik")] = "log_lik",
    model: Annotated[Path | None, program("The program; default: the one that FILEs name.")] = None,
    data: OwnData = [],  # noqa: B006
    reloo: Annotated[bool, flag("--reloo", "Leave rows with a high k-hat out in fact.")] = False,
    seed: Annotated[int, whole(0, "Seed of --reloo; reproducible on one machine.")] = 1,
    csv: Annotated[Path | None, output_file("ELPD and k-hat of each row as CSV.", "--csv")] = None,
    format: ReportFormat = Format.text,
) -> None:
    """Leave-one-out cross-validation (PSIS-LOO) from draws.

    \b
    First example:
      ppl loo output.csv

    \b
    FILEs are the runs of one program. If it does not compute `log_lik`, the
    log likelihood of each row of the data, in its generated quantities, its
    model block is read: that of --model, or of the program that FILEs name.
    elpd_loo is the expected log predictive density of left-out rows, in nats:
    of two models the one with the higher value predicts better
    (`ppl compare`). p_loo is the effective number of parameters. k-hat says
    whether the estimate is reliable. Draws of q are weighted towards the
    posterior.

    \b
    A row with a high k-hat has too much influence for importance sampling.
    --reloo moves draws to the posterior without it, row by row, by the model
    block; its k-hat is then 0. k-hats up to a standard error below the
    threshold count as high.

    \b
    Of several outcomes each has a row in the table: `--outcome y` chooses one.
    Their ELPDs are not added up. If row n of y1 and row n of y2 are one
    observation, `--outcome y1,y2` leaves them out together.
    """
    from ppl.cli.data import columns_of_rows, loos_of
    from ppl.cli.fits import read_runs
    from ppl.cli.output import screen_width, wrapped
    from ppl.files import write_whole
    from ppl.results.report.loo import csv_lines, loo_by_outcome
    from ppl.results.report.machine import document, of_loo
    from ppl.results.report.reading import judgement, level

    runs = read_runs(files, model, data, None if reloo else columns_of_rows(outcome, log_lik))
    loos = loos_of(runs, outcome, log_lik, model, data, reloo, seed)
    estimate = loo_by_outcome(loos, level(runs))
    if csv:
        write_whole(csv, csv_lines(estimate))
    if format is Format.json:
        click.echo(document("loo", level(runs), judgement(runs), of_loo(estimate)))
        return
    if text := judgement(runs):
        click.echo(wrapped(text) + "\n")
    for line in estimate.table(screen_width()):
        click.echo(line)
    click.echo("\n" + wrapped(estimate.reading))
