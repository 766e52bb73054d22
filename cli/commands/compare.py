"""`ppl compare`: models of the same data by how well they predict."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from ppl.cli.arguments import DrawsFiles, OwnData, programs
from ppl.cli.options import flag, one_of, outcomes
from ppl.cli.required import Format, ReportFormat
from ppl.errors import DataError

if TYPE_CHECKING:
    from ppl.methods.correct.evidence import Evidence
    from ppl.results.files.read_csv import DrawsFile


def compare(
    files: DrawsFiles,
    outcome: Annotated[str, outcomes("Compare by this outcome; A,B: row n of both.")] = "",
    log_lik: Annotated[str, one_of("The log likelihood of each row.", "--log-lik")] = "log_lik",
    model: Annotated[list[Path], programs("The programs; default: those that FILEs name.")] = [],  # noqa: B006
    data: OwnData = [],  # noqa: B006
    reloo: Annotated[bool, flag("--reloo", "Leave rows with a high k-hat out in fact.")] = False,
    evidence: Annotated[bool, flag("--evidence", "Compare by log evidence, not by PSIS-LOO.")] = False,
    format: ReportFormat = Format.text,
) -> None:
    """Compare models of the same data by PSIS-LOO or evidence.

    \b
    First example:
      ppl compare pooled.csv hierarchical.csv

    \b
    Each of FILEs is a fit of one model. The model that predicts best comes
    first. elpd_diff is the difference in ELPD to that model, in nats, and
    se_diff its standard error. A difference below 4, or below two standard
    errors, does not decide between models. weight is the model's share in the
    mixture that predicts best (stacking). bad k-hat counts the rows whose ELPD
    is unreliable: `ppl loo` lists them, and --reloo leaves them out in fact.
    If FILEs have no `log_lik`, the programs that they name are read, or
    --model: one for all FILEs, or one for each in their order.
    Models of several outcomes are compared by each: `--outcome y` chooses one.

    \b
    With --evidence the model with the highest log evidence comes first. log_bf
    is the difference to it, a log Bayes factor. probability is the posterior
    probability of the model if all have the same prior probability.
    """
    from ppl.cli.data import columns_of_rows, loos_of
    from ppl.cli.fits import read_run
    from ppl.cli.output import screen_width, wrapped
    from ppl.methods.diagnose.level import Level
    from ppl.results.report.compare import (
        Comparison,
        ComparisonByOutcome,
        EvidenceComparison,
        by_evidence,
    )
    from ppl.results.report.compare import compare as compared
    from ppl.results.report.loo import loo_by_outcome
    from ppl.results.report.machine import document, of_comparison
    from ppl.results.report.reading import judgement, level

    names = short_names(files)
    if len(model) not in (0, 1, len(files)):
        raise click.BadParameter(
            f"{len(model)} programs for {len(files)} FILEs; give one, or one for each FILE.",
            param_hint="--model",
        )
    of_each: list[Path | None] = [*model] * len(files) if len(model) == 1 else [*model] or [None] * len(files)
    own = dict(zip(names, of_each, strict=True))
    wanted = None if reloo else columns_of_rows(outcome, log_lik)
    read = {name: read_run(file, own[name], data, wanted) for name, file in zip(names, files, strict=True)}
    levels = {name: level([file]) for name, file in read.items()}
    comparison: Comparison | ComparisonByOutcome | EvidenceComparison
    if evidence:
        comparison = by_evidence({name: evidence_in(file) for name, file in read.items()})
    else:
        comparison = compared(
            {
                name: loo_by_outcome(loos_of([file], outcome, log_lik, own[name], data, reloo), levels[name])
                for name, file in read.items()
            }
        )
    if format is Format.json:
        runs = [*read.values()]
        click.echo(document("compare", level(runs), judgement(runs), of_comparison(comparison, levels)))
        return
    for name in names:
        if levels[name] in (Level.USABLE, Level.POOR):
            click.echo(wrapped(f"{name}: {judgement([read[name]])}") + "\n")
    several = isinstance(comparison, ComparisonByOutcome)
    for heading, each in (
        comparison.items() if isinstance(comparison, ComparisonByOutcome) else [("", comparison)]
    ):
        click.echo("\n".join([*((f"{heading}:",) * several), *each.table(screen_width())]))
        click.echo("\n" + wrapped(each.reading) + "\n" * several)
    if several:
        click.echo(wrapped(comparison.reading))


def evidence_in(file: "DrawsFile") -> "Evidence":
    """The log evidence that a file tells.

    Raises:
        DataError: it tells none.
    """
    about = file.provenance
    if about and about.unknown_evidence:
        raise DataError(f"{file.path} has no log evidence. {about.unknown_evidence}")
    if about is None or about.evidence is None:
        raise DataError(
            f"{file.path} has no log evidence: fit again by `ppl variational`, without --algorithm, until "
            "the verdict is usable or good."
        )
    return about.evidence


def short_names(files: list[Path]) -> list[str]:
    """The files without folder and suffix, where that tells them apart."""
    if len({*files}) < len(files):
        raise click.BadParameter("a file is given twice; give each file once.")
    stems = [path.stem for path in files]
    return stems if len({*stems}) == len(stems) else [str(path) for path in files]
