"""Compilations of which what each pass makes is checked."""

from laws.verifier.verify import Malformed, verify

from ppl.compilation.phases import Compilation
from ppl.kernel.ir.nodes import Program
from ppl.optimise.forms import VALUES, Form
from ppl.optimise.passes.table import Pass
from ppl.records import dataclass


def verify_pass(form: Form, program: Program, last: Pass) -> None:
    """Check what a pass of a form has made; Malformed names the pass."""
    try:
        verify(program, form.over_draws)
    except Malformed as why:
        raise Malformed(f"after {last.name} of {form.name}: {why}") from None


def verified_form(form: Form, program: Program) -> Program:
    """The form of a program, from that which it is made of, checked after each pass that changes it."""
    for each in form.passes:
        before, program = program, each.run(program)
        if program != before:
            verify_pass(form, program, each)
    return program


@dataclass(frozen=True, repr=False)
class Verified(Compilation):
    """A compilation whose forms are checked after each pass."""

    def program(self, form: Form = VALUES) -> Program:
        if form.name not in self.programs:
            base = self.program(form.base) if form.base else self.lowered
            self.programs[form.name] = verified_form(form, base)
        return self.programs[form.name]
