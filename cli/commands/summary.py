"""`ppl summary`: what files of draws hold."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from ppl.cli.arguments import DrawsFiles, Hdi, SigFigs, share_of_interval
from ppl.cli.options import flag, output_file, split_names, variable_names, whole
from ppl.cli.required import Format, ReportFormat, Require, status_of
from ppl.cli.signatures import Option

if TYPE_CHECKING:
    from ppl.results.files.read_csv import DrawsFile


def summary(
    files: DrawsFiles,
    percentiles: Annotated[str, Option(metavar="P,P,...", help="Percentiles shown.")] = "5,50,95",
    interval: Annotated[float | None, share_of_interval()] = None,
    hdi: Hdi = False,
    sig_figs: SigFigs = None,
    variables: Annotated[str, variable_names("Only these variables.")] = "",
    exp: Annotated[bool, flag("--exp", "Summarise exp of the draws: odds ratios, rate ratios.")] = False,
    rows: Annotated[int, whole(0, "Maximum rows; 0: all.")] = 0,
    csv: Annotated[Path | None, output_file("The table as CSV, in full precision.", "--csv")] = None,
    format: ReportFormat = Format.text,
    require: Require = None,
) -> None:
    """Summarise the draws in FILEs, the runs of one program.

    \b
    First example:
      ppl summary output.csv

    \b
    The verdict comes first, then the log evidence if the files contain it.
    The columns are those of CmdStan's stansummary. MCSE is the standard error
    of the mean; for a fit it includes the error of the approximation. Values
    are rounded to the digits that are certain, or to --sig-figs. --interval
    0.95 and --hdi show an interval in place of the percentiles. R_hat
    compares the runs and the halves of each. k_hat requires log densities in
    the files; a column's mean is reliable if it is below 0.7. Draws that are
    nan are counted and omitted.
    """
    from ppl.cli.fits import read_runs
    from ppl.cli.output import screen_width, wrapped
    from ppl.files import write_whole
    from ppl.kernel.draws.columns import chosen
    from ppl.results.report.machine import document, of_evidence, of_rows
    from ppl.results.report.reading import evidence, judged_columns, judgement, level
    from ppl.results.report.stansummary import (
        as_text,
        csv_lines,
        exponentiated,
        headings,
        quantiles_of,
        stansummary,
        stated,
    )
    from ppl.results.report.style import USUAL, TableStyle

    if not (quantiles := quantiles_of(percentiles)):
        raise click.BadParameter(
            f"'{percentiles}' is not a list of percentiles; expected numbers from 0 to 100, as in 5,50,95.",
            param_hint="--percentiles",
        )

    by_interval = interval is not None or hdi
    style = TableStyle(interval or USUAL.interval, hdi, sig_figs, () if by_interval else quantiles)

    def shown(file: "DrawsFile") -> tuple[str, ...]:
        return chosen(file.columns, split_names(variables), file.columns, file.labels)

    whole = read_runs(files, wanted=lambda file: (*shown(file), *judged_columns(file)))
    worst, verdict = level(whole), judgement(whole)
    labels, columns = whole[0].labels, shown(whole[0])
    runs = tuple(run.only(columns) for run in whole)
    lines = stansummary(tuple(map(exponentiated, runs)) if exp else runs, style)
    shown_as = "exp({})".format if exp else str
    names = headings(style, runs)
    if csv:
        write_whole(csv, csv_lines([replace(line, name=shown_as(line.name)) for line in lines], names))
    if format is Format.json:
        table = of_rows(names, ((shown_as(line.name), line.figures) for line in lines))
        known = whole[0].provenance.evidence if len(whole) == 1 and whole[0].provenance else None
        click.echo(document("summary", worst, verdict, {"log_evidence": of_evidence(known), **table}))
        raise click.exceptions.Exit(status_of(worst, require))
    for sentences in (verdict, evidence(whole)):
        if sentences:
            click.echo(wrapped(sentences) + "\n")
    click.echo(stated(runs) + "\n")
    first_lines = [replace(line, name=shown_as(labels.of(line.name))) for line in lines[: rows or None]]
    for line in as_text(first_lines, names, sig_figs, screen_width()):
        click.echo(line)
    if len(first_lines) < len(lines):
        click.echo(f"... and {len(lines) - len(first_lines)} more")
    raise click.exceptions.Exit(status_of(worst, require))
