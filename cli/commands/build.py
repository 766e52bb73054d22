"""`ppl build`: an executable that speaks CmdStan's command line."""

from pathlib import Path
from typing import Annotated

import typer

from ppl.cli.arguments import ModelPath
from ppl.cli.options import output_file


def build(
    model: ModelPath,
    output: Annotated[
        Path | None, output_file("The executable; MODEL's name without its suffix.", "--output", "-o")
    ] = None,
) -> None:
    """Write an executable for MODEL that CmdStanPy and CmdStanR can drive.

    \b
    First example:
      ppl build models/eight_schools/eight_schools.model -o eight_schools
      ./eight_schools variational \\
          data file=models/eight_schools/eight_schools.data.json

    \b
    In Python: cmdstanpy.CmdStanModel(exe_file="eight_schools").

    \b
    It may be moved. The Python that runs it is PPL_PYTHON, where that is set,
    else the one that built it, first as it lies seen from the executable;
    else one on the PATH that has ppl. On Windows call NAME.cmd.
    """
    from ppl.cmdstan.build import build as write
    from ppl.compile import compile_model

    compiled = compile_model(model)
    target = output or Path(model.stem)
    write(model, compiled.source.text, target)
    typer.echo(
        f"Wrote {target}; ./{target} help lists what it does."
        if target.parent == Path()
        else f"Wrote {target}."
    )
