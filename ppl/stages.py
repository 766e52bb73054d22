"""The phases of the compiler as text: what `ppl show` prints."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from ppl.compile import Source, compilation, compiled
from ppl.data import Inputs
from ppl.density.statement_costs import cost_lines
from ppl.discrete import refused
from ppl.discrete.for_stan import with_zero_products
from ppl.errors import ArgumentError, UnknownName
from ppl.frontend.printer import print_program as print_ast
from ppl.ir.forms import VALUES, form_named
from ppl.ir.printer import print_program as print_ir
from ppl.model import Model
from ppl.phases import Compilation, depth_refused, run_phases
from ppl.results.report.latent_structure import latent_lines

Given = Inputs | Mapping[str, Any] | str | Path


def show_stage(
    program: Source,
    stage: str,
    form: str = VALUES.name,
    without: Collection[str] = (),
    data: Given | None = None,
) -> str:
    """One stage of the compiler as text; `stage` is a key of STAGES.

    `form` is a name of ir.forms: which form of the program the stages "ir" and "python" print, exactly as it
    runs; `without` names passes to leave out there; `data` are needed where they decide how discrete
    parameters are summed out, and with them "plan" ends with what a gradient costs by statement and with
    the parameters that are independent given others.

    Raises:
        ModelError: the program is refused before the stage is reached.
        UnknownName: there is no such stage, or no such form.
        ArgumentError: there is no such pass, or one that cannot be left out; or no Python of the form.
        DataError: the data do not fit the program.
        DrawByDraw: the program has no form "draws".
    """
    if stage not in STAGES:
        raise UnknownName("no stage", stage, STAGES)
    phase, text = STAGES[stage]
    c, of_form = compilation(program, without=without), form_named(form)
    if stage == "python" and not of_form.runs:
        raise ArgumentError(f"the form {form!r} is not run; look at its stage 'ir'")
    posterior = None if data is None else compiled(c).condition(data)
    if posterior:
        c = posterior.model.compilation
    with depth_refused(c):
        if stage != "ast" and c.discrete and c.discrete.waits:
            raise refused.waits(c.discrete.names, c.discrete.parameters[0].span)
        shown = text(c, run_phases(c, phase, of_form))
    if posterior and stage == "plan":
        return "\n".join([shown, *cost_lines(posterior), *latent_lines(posterior)]) + "\n"
    return shown


def _program(c: Compilation, made: Any) -> str:
    return print_ast(with_zero_products(*made) if c.discrete else made[0])


STAGES: Mapping[str, tuple[str, Callable[[Compilation, Any], str]]] = {
    "ast": ("check", lambda c, made: print_ast(made[0])),
    "program": ("sum out", _program),
    "ir": ("passes", lambda c, made: print_ir(made)),
    "python": ("emit", lambda c, made: made.emitted.text),
    "plan": ("lower", lambda c, made: Model(c).plan),
}
"""The phase that a stage shows, and its text of what that phase made."""
