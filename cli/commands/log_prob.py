"""`ppl log-prob`: the log density at given points."""

from pathlib import Path
from typing import Annotated

import click

from ppl.cli.arguments import Arrays, DataFiles, ModelPath, existing
from ppl.cli.data import model_and_inputs
from ppl.cli.options import CSV, flag, main_output, say


def log_prob(
    model: ModelPath,
    data: DataFiles,
    points: Annotated[Path, existing("POINTS", "CSV of draws, or JSON.")],
    arrays: Arrays = [],  # noqa: B006
    unconstrained: Annotated[bool, flag("--unconstrained", "POINTS are on the unconstrained scale.")] = False,
    output: Annotated[
        Path | None, main_output("CSV of lp__ and gradient; default: print.", suffixes=CSV)
    ] = None,
) -> None:
    """Print the log density of MODEL and its gradient at POINTS.

    \b
    First example:
      ppl log-prob eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json output.csv

    \b
    POINTS are constrained values: the columns of a CSV of draws, or a JSON
    object, name to value. With --unconstrained, they are a JSON list of
    numbers, or of such lists. The density is on the unconstrained scale and
    includes the log-Jacobian.
    """
    from ppl.files import write_whole
    from ppl.results.fits.log_prob import log_prob as evaluate
    from ppl.results.fits.log_prob import read_points

    compiled, inputs = model_and_inputs(model, data, arrays)
    posterior = compiled.condition(inputs)
    densities = evaluate(posterior, read_points(points, posterior, unconstrained))
    if output:
        write_whole(output, densities.csv_lines())
        say(output, f"Wrote {output}.")
    else:
        click.echo("".join(densities.csv_lines()), nl=False)
