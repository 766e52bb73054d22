"""`ppl show`: any stage of the compiler, its passes and forms, or the functions of the language, printed."""

from pathlib import Path
from typing import Annotated

import click

from ppl.cli.options import one_of, unknown
from ppl.cli.settings import choice
from ppl.cli.signatures import Argument, Option

FUNCTIONS = "functions"


Stage = choice("Stage", "ast", "program", "ir", "python", "plan")
"""The stages of the compiler, in order."""


def show(
    model: Annotated[
        str,
        Argument(metavar="MODEL", help="The program, or 'functions', 'phases', 'forms' or 'passes'."),
    ],
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="A function, after the word 'functions'.")
    ] = None,
    stage: Annotated[Stage, Option(help="The stage.")] = Stage.python,
    form: Annotated[str, one_of("With ir or python: the form of the program.")] = "values",
    without: Annotated[list[str] | None, Option(metavar="PASS", help="Skip a pass; may be repeated.")] = None,
    data: Annotated[
        Path | None,
        Option(metavar="FILE", help="Data: for costs in plan, for discrete parameters."),
    ] = None,
) -> None:
    """Print a compiler stage of MODEL, or list functions.

    \b
    First example:
      ppl show eight_schools/eight_schools.model --stage python

    \b
    --stage program is the program with its discrete parameters marginalised;
    Stan compiles it too. --stage plan says how they are marginalised and
    which loops are vectorised. With --data it also prints the cost of a
    gradient by statement, and which parameters are independent given others.

    \b
    ppl show functions lists every function with its meaning; with a NAME,
    its signatures and its code. ppl show phases lists the phases of the
    compiler, ppl show forms the forms that a program is run in, and ppl show
    passes the passes that make the forms.
    """
    if model in LISTS and not Path(model).is_file():
        if name is not None and model != FUNCTIONS:
            raise click.BadParameter(f"unexpected '{name}' after '{model}'.", param_hint="NAME")
        LISTS[model](name)
        return
    if name is not None:
        raise click.BadParameter(f"unexpected '{name}' after the program.", param_hint="NAME")
    if not Path(model).is_file():
        raise click.BadParameter(f"File '{model}' does not exist.", param_hint="MODEL")
    from ppl.optimise.draw_by_draw import DrawByDraw
    from ppl.optimise.forms import FORMS
    from ppl.stages import show_stage

    try:
        click.echo(show_stage(Path(model), stage.value, form, without or (), data))
    except KeyError:
        known = ", ".join(FORMS)
        raise click.BadParameter(
            f"there is no form {form!r}; the forms are {known}, and rows:SIZE and rest:SIZE.",
            param_hint="--form",
        ) from None
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    except DrawByDraw as why:
        raise click.BadParameter(f"the program is run draw by draw: {why}.", param_hint="--form") from None


def show_forms(name: None) -> None:
    from ppl.optimise.forms import FORMS

    for form in FORMS.values():
        base = f"{form.base.name}, then " if form.base else ""
        passes = ", ".join(each.name for each in form.passes) or "no passes"
        click.echo(f"{form.name}: {form.meaning}\n  {base}{passes}")


def show_phases(name: None) -> None:
    from ppl.compilation.phases import PHASES

    click.echo("\n".join(f"{name}: {meaning}" for name, meaning in PHASES.items()))


def show_passes(name: None) -> None:
    from ppl.optimise.passes.table import PASSES

    for each in PASSES.values():
        click.echo(f"{each.name}: {each.meaning}" + (f" Required: {each.required}." if each.required else ""))


def show_functions(name: str | None) -> None:
    from ppl.stdlib.library import standard
    from ppl.stdlib.reference import one_line, reference

    if name is None:
        click.echo("\n".join(map(one_line, standard().callees)))
    elif name in reference():
        click.echo(reference()[name])
    else:
        raise unknown("function", name, reference(), "ppl show functions", param_hint="NAME")


LISTS = {FUNCTIONS: show_functions, "phases": show_phases, "forms": show_forms, "passes": show_passes}
"""The tables that may be asked for in place of a program."""
