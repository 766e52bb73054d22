"""`ppl predict`: data that a model expects: before it has seen any, at a fit, or for new rows."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from ppl.cli.arguments import (
    Arrays,
    FitData,
    Hdi,
    Interval,
    ModelPath,
    SigFigs,
    Simulator,
    files_of_data,
)
from ppl.cli.data import columns_of, conditioned_as, inputs_from, recorded
from ppl.cli.fits import data_and_fit, read_run
from ppl.cli.generated import write_rows, write_table
from ppl.cli.options import TABLES, flag, main_output, one_of, quietly, say, split_names, whole
from ppl.results.report.style import USUAL, TableStyle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppl.floats import Floats
    from ppl.posterior import Posterior
    from ppl.results.files.read_csv import DrawsFile
    from ppl.results.fits.expected import ExpectedValues
    from ppl.results.fits.new_rows import Scores
    from ppl.results.report.summary import Summary
    from ppl.run.table import Table


CONTRAST = "Values to compare, as sex=F,M; may be repeated."


def predict(
    model: ModelPath,
    files: Annotated[
        list[Path] | None, files_of_data("DATA... FIT", "New rows, if any, and draws; with --prior, data.")
    ] = None,
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[Path | None, main_output("CSV, .npz, .parquet.", suffixes=TABLES)] = None,
    *,
    prior: Annotated[bool, flag("--prior", "Draw from the prior.")] = False,
    fit_data: FitData = [],  # noqa: B006
    replicate: Annotated[str, one_of("Modelled variables of DATA to draw again: A,B,...")] = "",
    score: Annotated[str, one_of("Outcomes of DATA to score by row, not to draw.")] = "",
    expected: Annotated[bool, flag("--expected", "Means of outcomes, not draws.")] = False,
    contrast: Annotated[list[str], one_of(CONTRAST, "--contrast")] = [],  # noqa: B006
    typical: Annotated[bool, flag("--typical", "For --contrast: of the typical row.", hidden=True)] = False,
    interval: Interval = USUAL.interval,
    hdi: Hdi = False,
    sig_figs: SigFigs = None,
    draws: Annotated[int, whole(1, "Draws from the prior.")] = 1000,
    seed: Annotated[int, whole(0, "Seed; reproducible on one machine.")] = 1,
    simulator: Simulator = None,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Draw data of MODEL at a fit, for new rows, or from the prior.

    \b
    First example:
      ppl predict eight_schools/eight_schools.model output.csv

    \b
    FIT is a file of draws or a saved fit of `ppl variational`. Without DATA
    the data of the fit are simulated again at each draw, as y_rep. With DATA
    new rows are predicted. Of the variables that a statement models, values
    in DATA are conditioned on; absent, null or NA ones are drawn. Other
    variables that DATA omit keep their values. Effects of new groups are drawn
    from their prior. --replicate y draws given values of y again, --score y
    writes their log densities by row, --expected means of outcomes; with --prior
    parameters are drawn from the prior, and data given them. --simulator names a
    program that draws with _rng functions in place of the `~` statements.
    --contrast compares means of outcomes between values of a predictor, over all
    rows of the fit: difference, ratio and odds ratio with the first.
      ppl predict clinics.stan output.csv --contrast sex=F,M
    `ppl docs predict` lists more options.
    """
    from ppl.cli.output import wrapped
    from ppl.compile import model_of
    from ppl.results.fits.by_row import predictive_table
    from ppl.results.fits.log_prob import unconstrained_of
    from ppl.results.fits.new_rows import conditioned_on, conditions_in_words, scored

    given = files or []
    if prior:
        from_prior(model, given, arrays, output or Path("prior.csv"), draws, seed, simulator, quiet)
        return
    data, fit = data_and_fit(given)
    if fit is None:
        raise click.BadParameter(
            "expected data of new rows, if any, then FIT, draws of MODEL (.csv, .npz, .nc, .parquet) or "
            "a saved fit; or --prior. `ppl generate` computes generated quantities from draws.",
            param_hint="FIT",
        )
    compiled = model_of(model)
    run = read_run(fit, model, fit_data, columns_of(compiled))
    posterior = conditioned_as(compiled, run, fit_data, "--fit-data")
    us = unconstrained_of(posterior, run.columns, run.draws)
    if (score or replicate) and not (data or arrays):
        raise click.BadParameter("needs DATA, new rows.", param_hint="--score" if score else "--replicate")
    if score:
        scores = scored(posterior, us, inputs_from(data, arrays), seed, split_names(score))
        write_scores(output or Path("scores.csv"), scores, run, quiet)
        return
    style = TableStyle(interval, hdi, sig_figs)
    if contrast:
        if data or arrays:
            raise click.BadParameter("compares rows of the fit; remove DATA.", param_hint="--contrast")
        comparisons = contrasted(posterior, us, contrast, typical, seed)
        output = output or Path("contrast.csv")
        if not quiet:
            print_expected(output, comparisons, style)
        write_table(output, comparisons.table, posterior, run, run.config.get("data.file", ""), seed, quiet)
        return
    conditions = ""
    if data or arrays:
        rows = conditioned_on(posterior, inputs_from(data, arrays), split_names(replicate), expected)
        new = rows.outputs(us, seed)
        table, names = new.outcomes, new.program.outputs
        if new.program.dependence.conditions or not expected:
            conditions = conditions_in_words(rows.entries)
    else:
        table, names = predictive_table(posterior, us, seed, expected)
    named = recorded(data, arrays) or run.config.get("data.file", "")
    output = output or Path("expected.csv" if expected else "predicted.csv")
    if expected and not quiet:
        print_expected(output, expected_of(table, names, posterior), style)
    write_table(output, table, posterior, run, named, seed, quiet)
    if conditions and not quiet:
        say(output, wrapped(conditions))


def summarised(names: "Sequence[str]", rows: "Floats", style: TableStyle) -> "Summary":
    """The summary of columns of draws."""
    from ppl.results.report.summary import summarise

    return summarise(names, rows, style=style)


def expected_of(table: "Table", names: "Mapping[str, str]", posterior: "Posterior") -> "ExpectedValues":
    """The expected values in a table, with their labels."""
    from ppl.results.fits.by_row import arrays_of
    from ppl.results.fits.expected import ExpectedValues, axes_of

    values = arrays_of(table, names)
    return ExpectedValues(values, summarised, axes_of(posterior, values))


def joined(words: list[str], levels: Collection[str]) -> Iterator[str]:
    """Words with those together that are one level, `Cork, north`; commas stood between them."""
    while words:
        n = next((n for n in range(len(words), 1, -1) if ", ".join(words[:n]) in levels), 1)
        yield ", ".join(words[:n])
        words = words[n:]


def contrasted(
    posterior: "Posterior", us: "Floats", scenarios: list[str], typical: bool, seed: int
) -> "ExpectedValues":
    """The comparison that --contrast names, `sex=F,M` for each predictor."""
    from ppl.results.fits.scenarios import contrast

    of = dict[str, list[Any]]()
    for each in scenarios:
        name, equals, values = each.partition("=")
        if not equals:
            raise click.BadParameter(f"'{each}' names no values; expected sex=F,M.", param_hint="--contrast")
        words, levels = [word.strip() for word in values.split(",")], posterior.levels.get(name.strip())
        of[name.strip()] = [*joined(words, levels)] if levels else [*map(number_or_word, words)]
    return contrast(posterior, us, summarised, of, not typical, seed)


def number_or_word(word: str) -> float | str:
    """A number where it is one; 1 as an int, which indexes."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(word)
    return word


def print_expected(output: Path, values: "ExpectedValues", style: TableStyle) -> None:
    """Prints the first expected values with their intervals."""
    from ppl.cli.output import screen_width
    from ppl.cli.report import SUMMARY_ROWS
    from ppl.results.report.summary import as_text

    summary = values.summary(style.interval, style.hdi, style.sig_figs)
    for line in as_text(summary, screen_width(), SUMMARY_ROWS, f" (all in {output})"):
        say(output, line)


def write_scores(output: Path, scores: "Mapping[str, Scores]", run: "DrawsFile", quiet: bool) -> None:
    """Writes the log score of each row, and prints their sum for each outcome."""
    from ppl.cli.generated import warn_of_poor
    from ppl.files import write_whole
    from ppl.results.report.scores import csv_lines, table

    write_whole(output, csv_lines(scores))
    if not quiet:
        warn_of_poor([run])
        for line in table(scores):
            say(output, line)
        say(output, f"Wrote {output}.")


def from_prior(
    model: Path,
    data: list[Path],
    arrays: list[str],
    output: Path,
    draws: int,
    seed: int,
    simulator: Path | None,
    quiet: bool,
) -> None:
    """Parameters from the prior, and data given them."""
    from ppl.cli.progress import on_stderr
    from ppl.compile import model_of
    from ppl.kernel.advi.outcome import Phase
    from ppl.results.calibration.simulations import prior_draws, simulations_of
    from ppl.results.files.config import Config

    compiled = model_of(model)
    own = model_of(simulator) if simulator else None
    simulations = simulations_of(compiled, inputs_from(data, arrays), own)
    with on_stderr((Phase.VARIABLES,), quiet=quiet) as listen:
        table = prior_draws(simulations, draws, seed, listen)
    arguments = {
        "method": "generate_quantities",
        "data.file": recorded(data, arrays),
        "random.seed": seed,
        "output.file": str(output),
    }
    config = Config(f"{model.stem}_model", arguments, parameters=simulations.parameters)
    write_rows(output, table, config)
    if not quiet:
        drawn = ", ".join([*simulations.parameters, *simulations.simulated])
        say(output, f"Wrote {output}: {draws} draws of {drawn}.")
