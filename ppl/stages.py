"""The phases of the compiler as text: what `ppl show` prints."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from ppl.compilation.phases import Compilation, depth_refused
from ppl.compile import Source, build_model, compilation
from ppl.data import Inputs
from ppl.density.statement_costs import cost_lines
from ppl.errors import ArgumentError, UnknownName
from ppl.kernel.ir.printer import print_program as print_ir
from ppl.kernel.language.printer import print_program as print_ast
from ppl.model import Model
from ppl.optimise.forms import VALUES, Form, form_named
from ppl.results.report.latent_structure import latent_lines
from ppl.structure.discrete import refused
from ppl.structure.discrete.for_stan import with_zero_products

StageData = Inputs | Mapping[str, Any] | str | Path


def show_stage(
    program: Source,
    stage: str,
    form: str = VALUES.name,
    without: Collection[str] = (),
    data: StageData | None = None,
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
    c, of_form = compilation(program, without=without), form_named(form)
    if stage == "python" and not of_form.runs:
        raise ArgumentError(f"the form {form!r} is not run by itself; print its stage 'ir'")
    posterior = None if data is None else build_model(c).condition(data)
    if posterior:
        c = posterior.model.compilation
    with depth_refused(c):
        if stage != "ast" and c.discrete and c.discrete.needs_data:
            raise refused.needs_data(c.discrete.names, c.discrete.parameters[0].span)
        stage_text = STAGES[stage](c, of_form)
    if posterior and stage == "plan":
        return "\n".join([stage_text, *cost_lines(posterior), *latent_lines(posterior)]) + "\n"
    return stage_text


def _program(c: Compilation, form: Form) -> str:
    program, facts = c.continuous
    return print_ast(with_zero_products(program, facts) if c.discrete else program)


STAGES: Mapping[str, Callable[[Compilation, Form], str]] = {
    "ast": lambda c, form: print_ast(c.checked[0]),
    "program": _program,
    "ir": lambda c, form: print_ir(c.program(form)),
    "python": lambda c, form: c.code(form).emitted.text,
    "plan": lambda c, form: Model(c).plan,
}
"""The text of each stage."""
