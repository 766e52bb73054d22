"""`ppl fix`: the changes that messages and verdicts propose."""

import sys
from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import ModelPaths, read_program, write_program
from ppl.cli.options import STDIN, data_files, split_names, whole, whole_files
from ppl.cli.signatures import Option


def fix(
    models: ModelPaths,
    write: Annotated[bool, Option("--write", "-w", help="Change the files.")] = False,
    codes: Annotated[
        str, Option("--codes", metavar="CODE,...", help="Only these codes.", show_default=False)
    ] = "",
    data: Annotated[
        list[str], data_files("Fixes of `ppl doctor` with this data; x=FILE: one variable.", "--data")
    ] = [],  # noqa: B006
    fit: Annotated[
        Path | None,
        Option(metavar="FIT", exists=True, dir_okay=False, help="Draws of MODEL; default: fit now."),
    ] = None,
    seed: Annotated[int, whole(0, "Seed of the fits to the data.")] = 1,
) -> None:
    """Show the changes that messages propose, or make them.

    \b
    First example:
      ppl fix eight_schools/eight_schools.model --codes PPL009

    \b
    Prints fixes of errors and of warnings (`ppl check --pedantic`) as a
    unified diff, which `patch` reads. PPL009 proposes the non-centred
    declaration of a hierarchy. The reason for each change goes to standard
    error. Some changes alter the meaning of the program, such as a real
    division in place of an integer division: read the diff before --write.
    With --data, MODEL is examined as by `ppl doctor`, at the draws in FIT or
    of a new fit. Findings with a certain change, such as a dispersion for
    counts, are fixed one after the other. The changed program is fitted
    again: a change is made only if it removes its finding. The other findings
    are listed with the reason.
    Exit status: 1 if errors remain.
    """
    from ppl.cli.data import inputs_from
    from ppl.cli.diagnostics import show
    from ppl.cli.examined_fixes import fixed_with
    from ppl.cli.fits import read_run
    from ppl.cli.fixes import difference, fixed
    from ppl.cli.output import print_text

    if write and STDIN in models:
        raise click.BadParameter("standard input cannot be changed; omit --write.", param_hint="--write")
    if fit and (len(models) > 1 or not data):
        raise click.BadParameter("FIT is draws of one MODEL, with --data DATA.", param_hint="--fit")
    errors = 0
    for model in models:
        source = read_program(model)
        result = fixed(source, split_names(codes))
        if data and not result.errors:
            run = read_run(fit, model, whole_files(data)) if fit else None
            result = fixed_with(result, inputs_from([], data), split_names(codes), seed, run)
        print_text(difference(source, result.source))
        for each in result.applied:
            click.echo(f"{each.span.place}: {each.code}: {each.hint or each.fix.title}", err=True)
        for line in result.left:
            click.echo(line, err=True)
        if not result.applied:
            click.echo(f"{source.name}: no changes are proposed.", err=True)
        elif write:
            write_program(model, result.source.text)
            click.echo(f"Wrote {model}.", err=True)
        show(result.errors, sys.stderr)
        errors += len(result.errors)
    if errors:
        raise click.exceptions.Exit(1)
