"""Tables of what is computed from draws: as CmdStan writes them, or by suffix as .npz or .parquet."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ppl.cli.options import say

if TYPE_CHECKING:
    from ppl.posterior import Posterior
    from ppl.results.files.config import Config
    from ppl.results.files.read_csv import DrawsFile
    from ppl.run.table import Table


def warn_of_poor(runs: "Sequence[DrawsFile]") -> None:
    """Prints the verdict to standard error if the draws in files are poor."""
    from ppl.cli.output import wrapped
    from ppl.methods.diagnose.level import Level
    from ppl.results.report.reading import judgement, level

    if level(runs) is Level.POOR:
        click.echo(wrapped(judgement(runs)), err=True)


def write_rows(output: Path, table: "Table", config: "Config") -> None:
    """Writes the table; what was run is in CSV alone."""
    from ppl.files import write_whole
    from ppl.kernel.draws.stan_csv import file_lines
    from ppl.results.files.config import comment_lines
    from ppl.results.files.formats import CSV, save_table

    if output.suffix in CSV:
        write_whole(output, file_lines(comment_lines(config), table.columns, table.rows.tolist()))
    else:
        save_table(output, table.columns, table.rows, config.about)


def write_table(
    output: Path, table: "Table", posterior: "Posterior", run: "DrawsFile", data: str, seed: int, quiet: bool
) -> None:
    """Writes the table, and says how many rows it has, and how many of them failed."""
    from ppl.results.files.config import Config
    from ppl.run.identity import entries_of
    from ppl.run.posterior_target import parameters_of

    arguments = {
        "method": "generate_quantities",
        "generate_quantities.fitted_params": str(run.path),
        "data.file": data,
        "random.seed": seed,
        "output.file": str(output),
    }
    about = {**(run.provenance.entries() if run.provenance else {}), **entries_of(posterior)}
    name = f"{Path(posterior.source.name).stem}_model"
    write_rows(output, table, Config(name, arguments, parameters_of(posterior), about=about))
    if table.failed:
        click.echo(f"{table.failed} of {len(table.rows)} rows end in nan: {table.reason}", err=True)
    if not quiet:
        warn_of_poor([run])
        say(output, f"Wrote {output}: {len(table.rows)} rows of {len(table.columns)} columns.")
