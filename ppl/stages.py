"""The stages of the compiler as text: what `ppl show` prints."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ppl.compile import Source, model_of, refuse
from ppl.data import Inputs
from ppl.density.statement_costs import cost_lines
from ppl.discrete.for_stan import with_zero_products
from ppl.discrete.parameters import has_discrete
from ppl.discrete.plan import plan_of
from ppl.discrete.rewrite import Summed
from ppl.discrete.summing import summed
from ppl.errors import ArgumentError, UnknownName
from ppl.frontend import ast
from ppl.frontend.check import analyse, check
from ppl.frontend.facts import Facts
from ppl.frontend.nesting import too_deep
from ppl.frontend.printer import print_program as print_ast
from ppl.ir.forms import VALUES, Form, form_named
from ppl.ir.lower import lower
from ppl.ir.plan import plan
from ppl.ir.printer import print_program as print_ir
from ppl.model import Model
from ppl.results.report.latent_structure import latent_lines
from ppl.source import SourceText, read_source

Given = Inputs | Mapping[str, Any] | str | Path


@dataclass(frozen=True)
class Shown:
    """A checked program and what is asked of its stages: a form, passes to leave out, values of data."""

    source: SourceText
    tree: ast.Program = field(repr=False)
    facts: Facts = field(repr=False)
    form: Form = VALUES
    without: frozenset[str] = frozenset()
    values: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def summed(self) -> Summed | None:
        """How its discrete parameters were summed out, where it has any."""
        return summed(self.tree, self.facts, self.values) if has_discrete(self.tree) else None

    @property
    def continuous(self) -> tuple[ast.Program, Facts]:
        """The program with its discrete parameters summed out."""
        if not self.summed:
            return self.tree, self.facts
        return self.summed.program, check(self.summed.program, self.facts.library)


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
        DrawByDraw: the program has no form "draws".
    """
    refuse(without)
    if stage not in STAGES:
        raise UnknownName("no stage", stage, STAGES)
    shown_form, source = form_named(form), read_source(program)

    def text(values: Mapping[str, Any]) -> str:
        try:
            return STAGES[stage](Shown(source, *analyse(source), shown_form, frozenset(without), values))
        except RecursionError:
            raise too_deep(analyse(source)[0]) from None

    if data is None:
        return text({})
    model = model_of(program)
    of_stage = text(known_values(model, data))
    if stage != "plan":
        return of_stage
    posterior = model.condition(data)
    return "\n".join([of_stage, *cost_lines(posterior), *latent_lines(posterior)]) + "\n"


def known_values(model: Model, data: Given) -> Mapping[str, Any]:
    """The values of data and transformed data."""
    plain = replace(model, discrete=None)
    return plain.known_values(plain.condition(data).d)


def _show_ast(shown: Shown) -> str:
    return print_ast(shown.tree)


def _show_program(shown: Shown) -> str:
    return print_ast(with_zero_products(*shown.continuous) if shown.summed else shown.tree)


def _show_ir(shown: Shown) -> str:
    return print_ir(shown.form.of(lower(*shown.continuous), shown.without))


def _show_python(shown: Shown) -> str:
    if not shown.form.runs:
        raise ArgumentError(f"the form {shown.form.name!r} is not run; look at its stage 'ir'")
    model = Model(shown.source, lower(*shown.continuous), without=shown.without)
    return model.code(shown.form).emitted.text


def _show_plan(shown: Shown) -> str:
    sums = [*plan_of(shown.summed), ""] if shown.summed else []
    return "\n".join([*sums, plan(lower(*shown.continuous))])


STAGES: Mapping[str, Callable[[Shown], str]] = {
    "ast": _show_ast,
    "program": _show_program,
    "ir": _show_ir,
    "python": _show_python,
    "plan": _show_plan,
}
