"""`ppl generate`: generated quantities from old draws."""

from pathlib import Path
from typing import Annotated

from ppl.cli.arguments import Arrays, DataFiles, ModelPath, existing
from ppl.cli.data import columns_of, conditioned_as_draws, model_and_inputs, recorded
from ppl.cli.generated import write_table
from ppl.cli.options import TABLES, main_output, quietly, whole


def generate(
    model: ModelPath,
    data: DataFiles,
    fit: Annotated[Path, existing("FIT", "Draws, or a saved fit.")],
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[Path, main_output("CSV, .npz, .parquet.", suffixes=TABLES)] = Path("generated.csv"),
    seed: Annotated[int, whole(0, "Seed; reproducible on one machine.")] = 1,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Compute the generated quantities of MODEL at draws of FIT.

    \b
    First example:
      ppl generate eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json output.csv

    \b
    MODEL may have been edited since the fit if its parameters are the same.
    Use this to add generated quantities without another fit.
    """
    from ppl.cli.fits import read_run
    from ppl.cli.progress import on_stderr
    from ppl.kernel.advi.outcome import Phase
    from ppl.results.fits.generate import generate as generated

    compiled, inputs = model_and_inputs(model, data, arrays, quiet)
    old = read_run(fit, wanted=columns_of(compiled))
    posterior = conditioned_as_draws(compiled, inputs, old.columns, seed)
    with on_stderr((Phase.VARIABLES,), quiet=quiet) as listen:
        table = generated(posterior, old.columns, old.draws, seed, listen)
    write_table(output, table, posterior, old, recorded(data, arrays), seed, quiet)
