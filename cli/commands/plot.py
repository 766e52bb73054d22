"""`ppl plot`: the pictures of a fit, as files or as one report."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ppl.cli.arguments import DrawsFiles
from ppl.cli.options import listed, output_file, variable_names


class Kind(StrEnum):
    """The pictures there are (results.pictures.KINDS)."""

    elbo = "elbo"
    marginals = "marginals"
    pairs = "pairs"
    covariance = "covariance"
    predictive = "predictive"


def existing(text: str) -> Any:
    return typer.Option(metavar="FILE", exists=True, dir_okay=False, readable=True, help=text)


def plot(
    files: DrawsFiles,
    kind: Annotated[list[Kind] | None, typer.Option(metavar="NAME", help="One picture; else all.")] = None,
    output: Annotated[Path | None, output_file("PNG or SVG; NAME is added to it.", "--output", "-o")] = None,
    report: Annotated[Path | None, output_file("One HTML file of everything.", "--report")] = None,
    variables: Annotated[str, variable_names("Only these variables.")] = "",
    reference: Annotated[Path | None, existing("Draws to compare with.")] = None,
    trace: Annotated[Path | None, existing("The ELBO: diagnostic file or saved fit.")] = None,
    model: Annotated[Path | None, existing("The program, for the report.")] = None,
    data: Annotated[Path | None, existing("The data (JSON), for y.")] = None,
) -> None:
    """Draw the draws in FILEs: elbo, marginals, pairs, covariance, predictive.

    \b
    First example:
      ppl plot output.csv --report report.html

    \b
    Data and ELBO trace are found where the files' comments say they are.
    Needs the extra: pip install "ppl[plot]".
    """
    from ppl.files import write_whole
    from ppl.results.pictures import KINDS
    from ppl.results.plots import SUFFIXES, save

    if output and output.suffix not in SUFFIXES:
        raise typer.BadParameter(f"'{output}' should end in {' or '.join(SUFFIXES)}.", param_hint="--output")
    material, posterior = gather(files, variables, reference, trace, model, data)
    if report:
        from ppl.compile import show_stage
        from ppl.results.report import Program
        from ppl.results.report import report as page

        program = Program(posterior.source.text, show_stage(model, "plan")) if model else None
        write_whole(report, [page(material, (model or files[0]).stem, program)])
        typer.echo(f"Wrote {report}.")
        if not output and not kind:
            return
    base = output or files[0].with_suffix(".png")
    for name in kind or [Kind(name) for name in KINDS]:
        figure = KINDS[name].draw(material, True)
        if figure is None:
            typer.echo(f"No picture {name.value}: it needs {KINDS[name].needs}.")
            continue
        path = base if output and kind and len(kind) == 1 else base.with_stem(f"{base.stem}-{name.value}")
        save(figure, path)
        typer.echo(f"Wrote {path}.")


def gather(
    files: list[Path],
    variables: str,
    reference: Path | None,
    trace: Path | None,
    model: Path | None,
    data: Path | None,
) -> tuple[Any, Any]:
    """The pictures' material, and the posterior where a program is given."""
    from ppl.compile import compile_model
    from ppl.data import load_data
    from ppl.results.columns import chosen
    from ppl.results.pictures import OBSERVED, Material, as_numbers, read_trace
    from ppl.results.readers import read_all, read_file

    runs = read_all(files)
    trace = trace or named_in(runs[0], "output.diagnostic_file")
    data = data or named_in(runs[0], "data.file")
    posterior = compile_model(model).condition(data or {}) if model else None
    values = load_data(data).values if data else {}
    usual = posterior.param_names() if posterior else runs[0].parameters
    material = Material(
        runs,
        chosen(runs[0].columns, listed(variables), usual),
        read_trace(trace) if trace else None,
        read_file(reference) if reference else None,
        as_numbers(values[OBSERVED]) if OBSERVED in values else None,
    )
    return material, posterior


def named_in(run: Any, key: str) -> Path | None:
    """A file that a run's comments name, where it still is."""
    name = run.config.get(key, "")
    return Path(name) if name and Path(name).is_file() else None
