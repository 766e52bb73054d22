"""`ppl build`: an executable that speaks CmdStan's command line."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import click

from ppl.cli.arguments import existing, is_program
from ppl.cli.options import folder, main_output


def executable(output: Path | None, given: Mapping[str, Any]) -> list[Path]:
    """The executable, by its name or by the program's."""
    model = given["model"]
    return [output or Path(model.stem)] if model else []


def build(
    model: Annotated[
        Path | None, existing("[MODEL]", "The program (.model or .stan).", callback=is_program)
    ] = None,
    output: Annotated[
        Path | None, main_output("The executable; default: MODEL without suffix.", files=executable)
    ] = None,
    cmdstan: Annotated[Path | None, folder("Write a stand-in for CmdStan's folder.")] = None,
) -> None:
    """Write an executable for CmdStanPy and CmdStanR.

    \b
    First example:
      ppl build eight_schools/eight_schools.model -o eight_schools
      ./eight_schools variational \\
          data file=eight_schools/eight_schools.data.json

    In Python: cmdstanpy.CmdStanModel(exe_file="eight_schools").

    \b
    The executable may be moved. It runs with the Python that PPL_PYTHON names.
    If that is not set, it uses the Python that built it, by relative or
    absolute path; otherwise one on the PATH that has ppl. On Windows call
    NAME.cmd.

    \b
    ppl build --cmdstan DIR writes stanc, stansummary, diagnose and a makefile.
    After cmdstanpy.set_cmdstan_path("DIR"), CmdStanModel(stan_file=...)
    builds with ppl, and fit.summary() and fit.diagnose() work. Unsupported on
    Windows.
    """
    from ppl.cmdstan.build import build as write
    from ppl.cmdstan.folder import write_folder
    from ppl.kernel.language.include import read_source
    from ppl.structure.discrete.check import checked

    if cmdstan is not None:
        write_folder(cmdstan)
        click.echo(f'Wrote {cmdstan}; in Python: cmdstanpy.set_cmdstan_path("{cmdstan.absolute()}").')
    if model is None:
        if cmdstan is None:
            raise click.BadParameter("give a program, or --cmdstan DIR.", param_hint="MODEL")
        return
    target = output or Path(model.stem)
    source = read_source(model)
    checked(source)
    write(model, source.text, target)
    click.echo(
        f"Wrote {target}; ./{target} help lists what it does."
        if target.parent == Path()
        else f"Wrote {target}."
    )
