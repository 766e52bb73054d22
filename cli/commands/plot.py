"""`ppl plot`: the pictures of a fit, as files or as one report."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ppl.cli.arguments import DrawsFiles
from ppl.cli.data import conditioned_as_draws, files_named_by, inputs_from
from ppl.cli.generated import warn_of_poor
from ppl.cli.options import file_to_read, main_output, one_of, output_file, split_names, variable_names
from ppl.cli.settings import choice

Kind = choice("Kind", "elbo", "marginals", "forest", "trace", "pairs", "covariance", "predictive", "ppc")
"""The pictures there are (results.pictures.KINDS)."""


def plot(
    files: DrawsFiles,
    kind: Annotated[list[Kind] | None, one_of("Kind of picture; may be repeated.")] = None,
    output: Annotated[Path | None, main_output("PNG, SVG or PDF; NAME is added.")] = None,
    report: Annotated[Path | None, output_file("Write all pictures and tables to one HTML file.")] = None,
    variables: Annotated[str, variable_names("Only these variables.")] = "",
    reference: Annotated[Path | None, file_to_read("Draws to compare with.")] = None,
    trace: Annotated[Path | None, file_to_read("For elbo: diagnostic file or saved fit.")] = None,
    model: Annotated[Path | None, file_to_read("The program, for report and ppc.")] = None,
    data: Annotated[list[Path], file_to_read("The data, for y.", "--data")] = [],  # noqa: B006
    outcome: Annotated[str, one_of("Only this outcome, for ppc.", "--outcome", "--observed")] = "",
    replicated: Annotated[str, one_of("Its replications; default: NAME_rep.", "--replicated")] = "",
) -> None:
    """Plot the draws in FILEs.

    \b
    First example:
      ppl plot output.csv --report report.html

    \b
    Kinds: elbo, marginals, forest, trace (of draws), pairs, covariance,
    predictive (y_rep against y), ppc (distribution and statistics of y
    against those of y_rep): a picture for each outcome, or of --outcome. If
    FILEs have no y_rep, --model names the program that simulates it.
    Constant columns are omitted, with a note.
    The data and the ELBO trace are read from the files that the comments
    of FILEs name.
    Requires matplotlib: pip install "matplotlib>=3.8".
    """
    from ppl.files import write_whole
    from ppl.results.report.pictures import replicated_outcomes
    from ppl.results.report.plots import SUFFIXES

    if output and output.suffix not in SUFFIXES:
        raise typer.BadParameter(f"'{output}' should end in {', '.join(SUFFIXES)}.", param_hint="--output")
    every = bool(report or model or not kind or {*kind} & {Kind.ppc, Kind.predictive})
    material, posterior, values = gather(files, variables, reference, trace, model, data, every)
    simulated = simulated_outcomes(posterior, material.files[0], {*(kind or [])}) if posterior else {}
    values |= {name: posterior.observed.get(name, posterior.d.of(name)) for name in simulated}
    shown = replicated_outcomes(material.files[0], values, simulated, outcome, replicated)
    material = replace(material, outcomes=shown)
    if report:
        from ppl.results.report.report import Program
        from ppl.results.report.report import report as page
        from ppl.stages import show_stage

        program = Program(posterior.source.text, show_stage(model, "plan")) if model else None
        write_whole(report, [page(material, (model or files[0]).stem, program)])
        typer.echo(f"Wrote {report}.")
        if not output and not kind:
            return
    draw_all(material, kind or [], output, files[0].with_suffix(".png"))


def simulated_outcomes(posterior: Any, file: Any, kinds: set[Kind]) -> Any:
    """The outcomes that the program simulates at the draws of a file, less those among the draws.

    Empty where nobody asks and they cannot be simulated.

    Raises:
        ModelError: a picture that needs them is asked for by name, and a term of data is no draw.
    """
    from ppl.errors import ModelError
    from ppl.kernel.draws.columns import variables
    from ppl.results.files.arviz import REPLICATED
    from ppl.results.fits.by_row import outcomes, predictive
    from ppl.results.fits.log_prob import unconstrained_of

    there = variables(file.columns)
    names = [name for name in outcomes(posterior) if name + REPLICATED not in there]
    if not names or (kinds and not kinds & {Kind.ppc, Kind.predictive}):
        return {}
    try:
        found = predictive(posterior, unconstrained_of(posterior, file.columns, file.draws), seed=1)
        return {name: found[name] for name in names if name in found}
    except ModelError:
        if kinds:
            raise
        return {}


def draw_all(material: Any, kinds: list[Kind], output: Path | None, usual: Path) -> None:
    """Writes the pictures of these kinds, else the usual ones, and says what each leaves out.

    Raises:
        DataError: there is nothing to draw.
    """
    from ppl.errors import DataError, first_few
    from ppl.html import LEVELS
    from ppl.results.report.pictures import KINDS, left_out, parts
    from ppl.results.report.plots import save
    from ppl.results.report.reading import level

    warn_of_poor(material.files)
    base, missing, written = output or usual, [], 0
    for name in [kind.value for kind in kinds] or [name for name in KINDS if KINDS[name].usual(material)]:
        for outcome, part in parts(material, name):
            figure = KINDS[name].draw(part, True)
            if figure is None:
                missing.append(f"No picture {name}: it needs {KINDS[name].needs}.")
                continue
            words = [
                base.stem,
                *([] if output and len(kinds) == 1 else [name]),
                *([outcome] if outcome else []),
            ]
            path = base.with_stem("-".join(words))
            for caution in level(material.files).caution:
                figure.suptitle(caution, color=LEVELS["poor"])
            save(figure, path)
            written += 1
            typer.echo(f"Wrote {path}.")
        if note := left_out(material, name):
            typer.echo(note)
    if material.constant:
        missing.append(f"Omitted (constant): {first_few(material.constant)}.")
    if not written:
        raise DataError("nothing was drawn.\n" + "\n".join(missing))
    for note in missing:
        typer.echo(note)


def gather(
    files: list[Path],
    variables: str,
    reference: Path | None,
    trace: Path | None,
    model: Path | None,
    data: list[Path],
    every: bool,
) -> tuple[Any, Any, dict[str, Any]]:
    """The pictures' material, of `every` column or the chosen ones; the posterior of a program; the data."""
    from ppl.cli.fits import read_run, read_runs
    from ppl.compile import model_of
    from ppl.kernel.draws.columns import chosen
    from ppl.results.report.pictures import Material, read_trace
    from ppl.results.report.reading import judged_columns

    def wanted(file: Any) -> tuple[str, ...]:
        return (*chosen(file.columns, names, file.parameters, file.labels), *judged_columns(file))

    names = split_names(variables)
    runs = read_runs(files, model, data, None if every else wanted)
    trace = trace or next(iter(named_in(runs[0], "output.diagnostic_file")), None)
    given = inputs_from(data or named_in(runs[0], "data.file"))
    posterior = conditioned_as_draws(model_of(model), given, runs[0].columns) if model else None
    values = given.values
    usual = posterior.param_names() if posterior else runs[0].parameters
    material = Material(
        runs,
        chosen(runs[0].columns, names, usual, runs[0].labels),
        read_trace(trace) if trace else None,
        read_run(reference) if reference else None,
        named=bool(names),
    )
    return material, posterior, {**values}


def named_in(run: Any, key: str) -> list[Path]:
    """The files that a run's comments name, where they are there (`files_named_by`)."""
    return files_named_by(run.path, run.config.get(key, "").split())
