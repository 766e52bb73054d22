"""`ppl draws`: more draws of a fit, without another fit."""

from pathlib import Path
from typing import Annotated

from ppl.cli.arguments import Arrays, DataFiles, DrawsOutput, ModelPath, existing
from ppl.cli.data import model_and_inputs, recorded
from ppl.cli.options import quietly, say, whole


def draws(
    model: ModelPath,
    data: DataFiles,
    fit: Annotated[Path, existing("FIT", "Written by --save-fit.")],
    arrays: Arrays = [],  # noqa: B006
    output: DrawsOutput = Path("draws.csv"),
    n: Annotated[int, whole(1, "Draws to write.", "--draws")] = 1000,
    seed: Annotated[int, whole(0, "Seed; reproducible on one machine.")] = 1,
    quiet: Annotated[bool, quietly()] = False,
) -> None:
    """Take more draws from a fit of MODEL to DATA.

    \b
    First example:
      ppl draws eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json fit.json --draws 10000

    \b
    FIT is what `ppl variational ... --save-fit fit.json` wrote; its own
    draws are not repeated.
    """
    from ppl.cli.progress import on_stderr
    from ppl.methods.run.phases import phases_of_draws
    from ppl.results.files.formats import save_draws
    from ppl.results.fits.fit import open_fit

    compiled, inputs = model_and_inputs(model, data, arrays, quiet)
    old = open_fit(fit, compiled, inputs)
    with on_stderr(phases_of_draws(old.settings), quiet=quiet) as listen:
        more = old.more(n, seed, listen)
    save_draws(more, output, {"data.file": recorded(data, arrays)})
    if not quiet:
        say(output, f"Wrote {output}: {len(more.draws())} draws of {len(more.column_names)} columns.")
