"""`ppl diagnose`: is the gradient right, and the start finite?"""

from typing import Annotated

import click

from ppl.cli.arguments import Arrays, DataPaths, ModelPath
from ppl.cli.data import model_and_inputs
from ppl.cli.options import positive, radius_or_file, whole

GRADIENT_DISAGREES = 3
"""The exit status where the gradient disagrees with finite differences."""


def diagnose(
    model: ModelPath,
    data: DataPaths = None,
    arrays: Arrays = [],  # noqa: B006
    init: Annotated[str, radius_or_file("Radius, 0 or JSON file.")] = "2",
    seed: Annotated[int, whole(0, "Seed of the random start.")] = 1,
    error: Annotated[float, positive("Maximum relative error.")] = 1e-6,
) -> None:
    """Compare the gradient of MODEL with finite differences.

    \b
    First example:
      ppl diagnose eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json

    \b
    Each row is one unconstrained parameter: its value, the gradient, the
    finite difference, their relative difference. Exit status 3 if the two
    disagree or the density is not finite; the message names the statement.
    """
    from rich.console import Console
    from rich.table import Table

    from ppl.results.arguments.of_settings import radius_or_path
    from ppl.results.fits.gradient_test import gradient_test
    from ppl.run.initial import drawn, start_for

    compiled, inputs = model_and_inputs(model, data or [], arrays)
    posterior = compiled.condition(inputs, seed=seed)
    test = gradient_test(posterior, drawn(posterior, start_for(posterior, radius_or_path(init)), seed))
    failures = test.failures(error)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "value", "gradient", "finite difference", "error", ""):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for c in test.components:
        figures = (f"{value:.8g}" for value in (c.value, c.gradient, c.difference))
        table.add_row(c.name, *figures, f"{c.error:.1e}", "<- differs" if c in failures else "")
    click.echo(f"Log density {test.log_density:.10g}")
    Console(width=200, soft_wrap=True).print(table)
    if test.explanation:
        click.echo(f"\nNot finite at this start:\n{test.explanation}")
    elif failures:
        click.echo(f"\nThe gradient is wrong for {', '.join(c.name for c in failures)}: a bug in ppl.")
    else:
        click.echo(f"\nThe gradient agrees with finite differences to {error:g}.")
    if failures or test.explanation:
        raise click.exceptions.Exit(GRADIENT_DISAGREES)
