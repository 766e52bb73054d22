"""`ppl predict --prior`: what a model expects to see before it has seen any data."""

from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.arguments import Arrays, DataPaths, ModelPath
from ppl.cli.data import inputs_from, recorded
from ppl.cli.options import CSV, flag, output_file, quietly, say, whole


def predict(
    model: ModelPath,
    data: DataPaths = None,
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[Path, output_file("CSV of the draws.", "--output", "-o", suffixes=CSV)] = Path(
        "prior.csv"
    ),
    *,
    prior: Annotated[bool, flag("--prior", "From the prior.")] = False,
    draws: Annotated[int, whole(1, "Draws to write.")] = 1000,
    seed: Annotated[int, whole(0, "One seed, one machine: same bytes.")] = 1,
    simulator: Annotated[
        Path | None, typer.Option(metavar="MODEL", exists=True, dir_okay=False, help="A program that draws.")
    ] = None,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Draw parameters of MODEL from the prior, and data given them.

    \b
    First example:
      ppl predict eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json --prior
      ppl plot prior.csv --kind ppc --replicated y

    \b
    The `~` statements are read forward; DATA need not have what is drawn.
    A program that cannot be read so is refused with the line; give one of
    _rng's by --simulator then. Predictions after a fit are generated
    quantities: `ppl variational` writes them, `ppl generate` adds others.
    """
    from ppl.cli.progress import on_stderr
    from ppl.compile import compile_model
    from ppl.files import write_whole
    from ppl.inference.run.phases import Phase
    from ppl.results.calibration.simulations import prior_draws, simulations_of
    from ppl.results.files.config import Config
    from ppl.results.fits.generate import csv_lines

    if not prior:
        raise typer.BadParameter(
            "say --prior. Predictions after a fit are the generated quantities of the program, among the "
            "draws of `ppl variational`; `ppl generate` computes others from old draws.",
            param_hint="--prior",
        )
    compiled = compile_model(model)
    own = compile_model(simulator) if simulator else None
    simulations = simulations_of(compiled, inputs_from(data or [], arrays), own)
    with on_stderr((Phase.VARIABLES,), quiet=quiet) as listen:
        table = prior_draws(simulations, draws, seed, listen)
    arguments = {
        "method": "generate_quantities",
        "data.file": recorded(data or [], arrays),
        "random.seed": seed,
        "output.file": str(output),
    }
    config = Config(f"{model.stem}_model", arguments, parameters=simulations.parameters)
    write_whole(output, csv_lines(table, config))
    if not quiet:
        drawn = ", ".join([*simulations.parameters, *simulations.simulated])
        say(output, f"Wrote {output}: {draws} draws of {drawn}.")
