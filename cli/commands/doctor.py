"""`ppl doctor`: does the model suit the data?"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppl.cli.arguments import Arrays, DataFile, ModelPath, existing
from ppl.cli.options import whole
from ppl.cli.required import Format, ReportFormat, Require, status_of

if TYPE_CHECKING:
    from ppl.results.doctor.doctor import Examination


def doctor(
    model: ModelPath,
    data: DataFile,
    fit: Annotated[Path | None, existing("FIT", "Draws of a fit; default: fit now.")] = None,
    arrays: Arrays = [],  # noqa: B006
    seed: Annotated[int, whole(0, "Seed; reproducible on one machine.")] = 1,
    pictures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, exists=True, help="Write pictures of the findings."),
    ] = None,
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
    given the other rows. At most one in 100 correct models has a finding.
    FIT is a file of draws from `ppl variational`; without it, MODEL is fitted
    first. `ppl explain CODE` explains a finding; `ppl fix MODEL --data DATA`
    applies those whose change is certain.
    """
    import sys

    from ppl.cli.diagnostics import show
    from ppl.cli.output import wrapped
    from ppl.results.report.machine import document, of_examination

    found = examined(model, [data], arrays, fit, seed)
    files = found.save_pictures(pictures) if pictures else []
    if format is Format.json:
        typer.echo(document("doctor", found.level, found.verdict, of_examination(found)))
    else:
        typer.echo(wrapped(found.verdict) + "\n")
        show(found.findings, sys.stdout)
        typer.echo(("\n" if found.findings else "") + wrapped(found.sentence))
        if files:
            typer.echo(f"Wrote {', '.join(map(str, files))}.")
    raise typer.Exit(status_of(found.level, require))


def examined(model: Path, data: list[Path], arrays: list[str], fit: Path | None, seed: int) -> "Examination":
    """The examination at the draws of a file, or of a default fit."""
    from ppl.cli.data import conditioned_as_draws, inputs_from
    from ppl.cli.fits import read_run
    from ppl.compile import model_of
    from ppl.results.doctor.doctor import examine
    from ppl.results.doctor.gather import gather
    from ppl.results.fits.by_row import log_likelihood, predictive
    from ppl.results.fits.fit import variational
    from ppl.results.fits.log_prob import unconstrained_of
    from ppl.results.report.log_lik import own_ratios
    from ppl.results.report.reading import level, verdict

    compiled, inputs = model_of(model), inputs_from(data, arrays)
    if fit is None:
        made = variational(compiled.condition(inputs), seed=seed)
        return replace(made.doctor(seed=seed), verdict=made.provenance.judgement)
    run = read_run(fit, model, data)
    posterior = conditioned_as_draws(compiled, inputs, run.columns)
    us = unconstrained_of(posterior, run.columns, run.draws)
    found = gather(
        posterior,
        us,
        own_ratios(run),
        lambda: log_likelihood(posterior, us).of_each(),
        lambda: predictive(posterior, us, seed),
        seed,
    )
    return examine(found, verdict([run]), level([run]))
