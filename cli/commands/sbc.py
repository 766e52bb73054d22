"""`ppl sbc`: simulation-based calibration."""

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import click

from ppl.cli.arguments import Arrays, DataPaths, MissingInSimulations, MissingSimulated, ModelPath, Simulator
from ppl.cli.data import inputs_from
from ppl.cli.options import CSV, flag, main_output, output_file, quietly
from ppl.cli.settings import plain, with_settings
from ppl.methods.run.settings import SbcSettings

SECONDS_BETWEEN_FILES = 1.0
"""Seconds between two writes of the ranks so far."""


@with_settings(SbcSettings)
def sbc(
    model: ModelPath,
    data: DataPaths = None,
    arrays: Arrays = [],  # noqa: B006
    output: Annotated[Path, main_output("CSV of the ranks.", suffixes=CSV)] = Path("sbc.csv"),
    *,
    simulator: Simulator = None,
    picture: Annotated[Path | None, output_file("Rank histograms: .png, .svg, .pdf.")] = None,
    missing: MissingSimulated = MissingInSimulations.refuse,
    resume: Annotated[bool, flag("--resume", "Continue from the ranks in the output file.")] = False,
    show_simulator: Annotated[bool, flag("--show-simulator", "Print the simulator and exit.")] = False,
    quiet: Annotated[bool, quietly()] = False,
    **settings: Any,
) -> None:
    """Run simulation-based calibration of fits of MODEL.

    \b
    First example:
      ppl sbc eight_schools/eight_schools.model \\
          eight_schools/eight_schools.data.json --algorithm meanfield

    \b
    Each simulation draws parameters from the prior and data given the
    parameters, by the `~` statements, and fits these data. If the draws
    follow the posterior, the ranks of the parameters are uniform. DATA may
    omit simulated variables. With --missing model, the values missing in DATA
    are also removed from the simulated data.
    A program that cannot be simulated is rejected with its line; give one
    that draws parameters and data with _rng functions by --simulator.
    """
    from ppl.cli.output import wrapped
    from ppl.compile import model_of
    from ppl.files import write_whole
    from ppl.results.calibration.sbc import Calibration, calibrated, identity, read_csv
    from ppl.results.calibration.simulations import program_text, simulations_of
    from ppl.results.pictures.canvas import SUFFIXES, save
    from ppl.results.pictures.statistic import rank_histograms

    if picture and picture.suffix not in SUFFIXES:
        raise click.BadParameter(f"'{picture}' should end in {', '.join(SUFFIXES)}.", param_hint="--picture")
    sbc_settings, compiled = SbcSettings(**plain(settings)), model_of(model)
    if show_simulator:
        click.echo(program_text(compiled), nl=False)
        return
    inputs = inputs_from(data or [], arrays)
    drawing = model_of(simulator) if simulator else None
    simulations = simulations_of(compiled, inputs, drawing, missing.value)
    about = identity(simulations, sbc_settings)
    before = read_csv(output, about) if resume and output.exists() else None
    last = [perf_counter()]

    def hear(so_far: Calibration) -> None:
        if perf_counter() - last[0] > SECONDS_BETWEEN_FILES:
            last[0] = perf_counter()
            write_whole(output, so_far.csv_lines(about))
            if not quiet:
                done = len(so_far.numbers) + len(so_far.failed)
                click.echo(f"simulation {done} of {sbc_settings.simulations}", err=True)

    calibration = calibrated(simulations, sbc_settings, hear, before)
    write_whole(output, calibration.csv_lines(about))
    files = [output]
    if picture and calibration.numbers:
        save(rank_histograms(calibration.ranks, calibration.columns, calibration.draws), picture)
        files.append(picture)
    left = sbc_settings.simulations - len(calibration.numbers) - len(calibration.failed)
    if not quiet:
        if calibration.numbers:
            click.echo("\n".join(calibration.lines()) + "\n")
        click.echo(wrapped(calibration.judgement))
        for why in sorted(set(calibration.failed.values()))[:1]:
            click.echo(wrapped(f"The first failure: {why}"))
        click.echo(f"Wrote {' and '.join(map(str, files))}.")
    if left > 0:
        note = f"ppl: {left} simulations remain; add --resume to run them."
        print(note, file=sys.stderr)
        raise click.exceptions.Exit(130)
