"""`ppl generate`: generated quantities from old draws."""

from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.arguments import Arrays, DataFile, ModelPath, existing
from ppl.cli.data import inputs_from, recorded, say_misspelt
from ppl.cli.options import CSV, output_file, quietly, say, whole


def generate(
    model: ModelPath,
    data: DataFile,
    fit: Annotated[Path, existing("FIT", "CSV of draws.")],
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[Path, output_file("CSV of the quantities.", "--output", "-o", suffixes=CSV)] = Path(
        "generated.csv"
    ),
    seed: Annotated[int, whole(0, "Reproducible on one machine.")] = 1,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Compute the generated quantities of MODEL at the draws in FIT.

    \b
    First example:
      ppl generate eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json output.csv

    \b
    MODEL may be an edited program, so long as its parameters are those the
    draws have: add quantities after the fit, without another fit.
    """
    from ppl.cli.progress import on_stderr
    from ppl.compile import model_of
    from ppl.files import write_whole
    from ppl.inference.run.phases import Phase
    from ppl.results.files.config import Config
    from ppl.results.files.readers import read_file
    from ppl.results.fits.as_target import parameters_of
    from ppl.results.fits.generate import csv_lines
    from ppl.results.fits.generate import generate as generated

    inputs, compiled = inputs_from([data], arrays), model_of(model)
    if not quiet:
        say_misspelt(inputs, compiled.data_schema)
    posterior = compiled.condition(inputs, seed=seed)
    old = read_file(fit)
    with on_stderr((Phase.VARIABLES,), quiet=quiet) as listen:
        table = generated(posterior, old.columns, old.draws, seed, listen)
    arguments = {
        "method": "generate_quantities",
        "generate_quantities.fitted_params": str(fit),
        "data.file": recorded([data], arrays),
        "random.seed": seed,
        "output.file": str(output),
    }
    about = old.provenance.entries() if old.provenance else {}
    config = Config(f"{model.stem}_model", arguments, parameters=parameters_of(posterior), about=about)
    write_whole(output, csv_lines(table, config))
    if table.failed:
        typer.echo(f"{table.failed} of {len(table.rows)} rows end in nan: {table.reason}", err=True)
    if not quiet:
        say(output, f"Wrote {output}: {len(table.rows)} rows of {len(table.columns)} columns.")
