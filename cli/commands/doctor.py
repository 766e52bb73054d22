"""`ppl doctor`: does the model suit the data?"""

from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import Arrays, ModelPath, files_of_data
from ppl.cli.options import folder, outcomes, split_names, whole
from ppl.cli.required import Format, ReportFormat, Require, status_of


def doctor(
    model: ModelPath,
    files: Annotated[
        list[Path] | None, files_of_data("DATA... [FIT]", "Its data, and draws of a fit; default: fit now.")
    ] = None,
    outcome: Annotated[str, outcomes("Examine only this outcome, or these: A,B.")] = "",
    arrays: Arrays = [],  # noqa: B006
    seed: Annotated[int, whole(0, "Seed; reproducible on one machine.")] = 1,
    pictures: Annotated[Path | None, folder("Write pictures of the findings.", exists=True)] = None,
    format: ReportFormat = Format.text,
    require: Require = None,
) -> None:
    """Check whether MODEL fits DATA; name the lines to change.

    \b
    First example:
      ppl doctor eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json

    \b
    Each finding names the statement to change and what to write there.
    The command compares statistics of the data with those of replicated
    data, residuals with every column of the data (also those that MODEL does
    not declare), the prior with the data, and each row with the posterior
    given the other rows; each outcome by itself. At most one in 100 correct models has a finding.
    FIT is a file of draws from `ppl variational`, or a saved fit; without it,
    MODEL is fitted first. `ppl explain CODE` explains a finding; `ppl fix MODEL --data DATA`
    applies those whose change is certain.
    """
    import sys

    from ppl.cli.data import inputs_from
    from ppl.cli.diagnostics import show
    from ppl.cli.examined import examined
    from ppl.cli.fits import data_and_fit, read_run
    from ppl.cli.output import wrapped
    from ppl.kernel.language.include import read_source
    from ppl.results.report.machine import document, of_examination

    data, fit = data_and_fit(files or [])
    run = read_run(fit, model, data) if fit else None
    examination = examined(read_source(model), inputs_from(data, arrays), seed, run, split_names(outcome))
    files = examination.save_pictures(pictures) if pictures else []
    if format is Format.json:
        click.echo(document("doctor", examination.level, examination.verdict, of_examination(examination)))
    else:
        click.echo(wrapped(examination.verdict) + "\n")
        show(examination.findings, sys.stdout)
        click.echo(("\n" if examination.findings else "") + wrapped(examination.sentence))
        if files:
            click.echo(f"Wrote {', '.join(map(str, files))}.")
    raise click.exceptions.Exit(status_of(examination.level, require))
