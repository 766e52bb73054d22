"""`ppl new`: a program, its data and a script to begin with."""

import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import click

from ppl.cli.options import file_to_read, one_of
from ppl.cli.signatures import Argument, Option

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")

SCRIPT = '''\
"""Fits {name}.model to its data and prints the result: python fit.py"""

from pathlib import Path

import ppl

here = Path(__file__).parent

# Compiles the program. An error message gives the line and what to do.
model = ppl.compile_model(here / "{name}.model")

# The data are a file or a dict: model.condition({{"N": 3, "x": [1, 2, 3], ...}}).
posterior = model.condition(here / {data}{missing})

# The same seed gives the same draws; help(posterior.variational) has every setting.
fit = posterior.variational(seed=1)

print(fit.judgement)  # how far the draws can be trusted, and what to try if not
print(fit.summary())  # mean, sd and quantiles of every column
{loo}
# fit.stan_variables() has the draws of each variable as an array, of shape (draws, *its own shape).
fit.save_csv(here / "output.csv")  # for ppl summary, ppl plot and other packages
'''

LOO = "print(fit.loo())  # how well the model predicts rows that it has not seen\n"


def new(
    name: Annotated[str, Argument(metavar="NAME", help="The folder to write.")],
    example: Annotated[str, one_of("A program of the library.", "--example")] = "linear_regression",
    formula: Annotated[str, Option(metavar="TEXT", help="Write the program of a formula.")] = "",
    family: Annotated[str, one_of("Distribution of its outcome.", "--family")] = "gaussian",
    data: Annotated[Path | None, file_to_read("Data of the formula.", "--data")] = None,
) -> None:
    """Create a folder with a commented program, data and a script.

    \b
    First example:
      ppl new cars
      ppl new schools --example eight_schools

    \b
    The folder contains NAME.model, NAME.data.json and fit.py. Existing files
    are not overwritten. `--example list` lists the examples.

    \b
    With a formula the program is that of your data:
      ppl new clinics --data patients.csv --family bernoulli \\
          --formula "outcome ~ age + sex + (1 | clinic)"
    `ppl docs formulas` has the families and what a formula may contain.
    """
    from ppl.errors import DataError
    from ppl.files import write_whole

    known = examples()
    if example == "list":
        click.echo("\n".join(known))
        return
    folder = Path(name)
    if not NAME.fullmatch(folder.name):
        raise click.BadParameter(
            f"'{folder.name}' is not a valid program name; expected letters, digits, - and _, a letter first."
        )
    if bool(formula) != (data is not None):
        raise click.BadParameter("a formula and its data belong together: --formula TEXT --data FILE.")
    if formula and data:
        files, incomplete = files_of_formula(folder, formula, data, family)
    else:
        files, incomplete = files_of(folder.name, example, known), False
    if there := [str(folder / file) for file in files if (folder / file).exists()]:
        raise DataError(f"{', '.join(there)} would be overwritten; give another NAME or remove these files.")
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        write_whole(folder / file, [text])
    *others, script = (folder / file for file in files)
    drop = " --missing drop" * incomplete
    click.echo(
        f"Wrote {', '.join(map(str, others))} and {script}. Fit it with\n"
        f"  ppl variational {others[0]} {data or others[1]}{drop} -o {folder / 'output.csv'}\n"
        f"or with\n  python {script}"
    )


def examples() -> list[str]:
    """The programs that the package ships with, by name."""
    folders = files("ppl.models").iterdir()
    return sorted(folder.name for folder in folders if folder.joinpath(f"{folder.name}.model").is_file())


def files_of(name: str, example: str, known: list[str]) -> dict[str, str]:
    """The text of each file by its name: program, data, script.

    Raises:
        UnknownName: there is no such example.
    """
    from ppl.errors import UnknownName

    if example not in known:
        raise UnknownName("no example", example, known)
    folder = files("ppl.models").joinpath(example)
    program = folder.joinpath(f"{example}.model").read_text("utf-8")
    data = folder.joinpath(f"{example}.data.json").read_text("utf-8")
    script = SCRIPT.format(
        name=name,
        data=json.dumps(f"{name}.data.json"),
        missing="",
        loo=LOO if "log_lik" in program else "",
    )
    return {f"{name}.model": program, f"{name}.data.json": data, "fit.py": script}


def files_of_formula(folder: Path, formula: str, data: Path, family: str) -> tuple[dict[str, str], bool]:
    """The text of the program of a formula and of its script, which reads the data where they are, and
    whether rows of these are incomplete."""
    from ppl.formula import from_formula
    from ppl.formula.program import DROPPED

    program = from_formula(formula, data, family)
    there = Path(os.path.relpath(data, folder)).as_posix()
    incomplete = DROPPED in program
    missing = ', missing="drop"' * incomplete
    script = SCRIPT.format(name=folder.name, data=json.dumps(there), missing=missing, loo=LOO)
    return {f"{folder.name}.model": program, "fit.py": script}, incomplete
