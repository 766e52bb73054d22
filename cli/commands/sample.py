"""`ppl sample`: draws of the posterior by chains."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import click
from click.exceptions import Exit

from ppl.cli.arguments import Arrays, DataPaths, Hdi, Interval, Missing, MissingData, ModelPath, SigFigs
from ppl.cli.data import model_and_inputs, recorded
from ppl.cli.options import CSV, main_output, quietly, split_names, variable_names, whole
from ppl.cli.required import Require, status_of
from ppl.cli.settings import given_settings, with_settings
from ppl.files import numbered_files
from ppl.methods.run.settings import SampleSettings
from ppl.results.report.style import USUAL, TableStyle


def files_of_chains(output: Path, given: Mapping[str, Any]) -> Iterable[Path]:
    """The one file of all chains, or those of each that are there."""
    one = given["num_chains"] == 1 or output.suffix == ".nc"
    return [output] if one else numbered_files(output, range(1, given["num_chains"] + 1))


@with_settings(SampleSettings)
def sample(
    model: ModelPath,
    data: DataPaths = None,
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[
        Path, main_output("OUT.csv: OUT_1.csv, ...; or .nc.", suffixes=(*CSV, ".nc"), files=files_of_chains)
    ] = Path("output.csv"),
    *,
    missing: MissingData = Missing.refuse,
    refresh: Annotated[int, whole(0, "Draws per progress line; 0: none.")] = 100,
    require: Require = None,
    variables: Annotated[str, variable_names("Variables in the table.")] = "",
    interval: Interval = USUAL.interval,
    hdi: Hdi = False,
    sig_figs: SigFigs = None,
    quiet: Annotated[bool, quietly()] = False,
    **settings: Any,
) -> None:
    """Draw from the posterior of MODEL and DATA by NUTS.

    \b
    First example:
      ppl sample eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json

    \b
    Requires nutpie: pip install "nutpie>=0.15"; `--engine batch` does not: it
    moves 128 short chains of HMC together. Each chain is written to a CSV file
    with CmdStan's columns, for ArviZ, CmdStanPy and `ppl summary output_*.csv`;
    an .nc file has all. Ctrl-C, SIGTERM and SIGHUP end the chains; the draws so
    far are written. `--init FIT.json` starts them at draws of a saved fit.
    """
    from ppl.cli.output import TolerantStream
    from ppl.cli.progress import on_stderr
    from ppl.cli.report import report_chains
    from ppl.cli.table_columns import table_columns
    from ppl.files import STDOUT
    from ppl.methods.run.phases import OF_CHAINS
    from ppl.results.fits.chains import sample_with
    from ppl.run.console import console_of
    from ppl.run.memory_needed import require_memory_of_chains
    from ppl.run.processes import ended_by_ctrl_c

    if output == STDOUT:
        raise click.BadParameter(
            "each chain is written to its own file; give a file name.", param_hint="--output"
        )
    style = TableStyle(interval, hdi, sig_figs)
    sample_settings = SampleSettings(**given_settings(settings))
    compiled, inputs = model_and_inputs(model, data or [], arrays, quiet)
    posterior = compiled.condition(inputs, seed=sample_settings.seed, missing=missing.value)
    require_memory_of_chains(posterior.extent, sample_settings)  # before the names of all columns are made
    columns = table_columns(posterior, split_names(variables))
    err, out = TolerantStream("stderr"), TolerantStream("stdout")
    arguments = {"data.file": recorded(data or [], arrays), "output.refresh": refresh}
    with ended_by_ctrl_c() as ended:
        try:
            with on_stderr(OF_CHAINS, refresh, quiet, err) as listen:
                chains = sample_with(posterior, sample_settings, listen)
        except KeyboardInterrupt:
            print("ppl: interrupted before the first draw; no output was written.", file=sys.stderr)
            raise Exit(status_of_signal(ended)) from None
        files = chains.save(output, arguments)
    console = console_of(cast(TextIO, out), quiet)
    report_chains(console, chains, columns, style, bool(variables), files)
    out.check()
    raise Exit(status_of_signal(ended) if chains.interrupted else status_of(chains.level, require))


def status_of_signal(ended: Sequence[int]) -> int:
    """The status that shells give a process that SIGTERM or SIGHUP ended, else Ctrl-C."""
    from ppl.run.interrupt import INTERRUPTED

    return 128 + ended[0] if ended else INTERRUPTED
