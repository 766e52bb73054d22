"""The passes, each with its name and its function; optimise/forms.py has the order in which they run."""

from collections.abc import Callable, Mapping
from inspect import getdoc
from typing import Any

from ppl.kernel.ir.nodes import Program
from ppl.late import LateModule
from ppl.records import dataclass, replace

MAKES_A_FORM = "it makes the form"


@dataclass(frozen=True)
class Pass:
    """A function from a program to one that means the same; `required`, why it cannot be left out, or "".

    The function is named with its module in this folder, or from `ppl` on, which is imported when the
    function is first run.
    It gets `settings` after the program.
    """

    name: str
    place: str
    required: str = ""
    settings: tuple[Any, ...] = ()

    @property
    def function(self) -> Callable[..., Program]:
        module, _, name = self.place.rpartition(".")
        folder = "ppl" if "." in module else __package__
        return getattr(LateModule(f"{folder}.{module}"), name)

    @property
    def meaning(self) -> str:
        """The first line of what the function says of itself."""
        return (getdoc(self.function) or "").partition("\n")[0]

    def run(self, program: Program) -> Program:
        return self.function(program, *self.settings)

    def of(self, *settings: Any) -> "Pass":
        """The pass with these settings."""
        return replace(self, settings=settings)


PASSES: Mapping[str, Pass] = {
    each.name: each
    for each in (
        Pass("reroll", "reroll.reroll"),
        Pass("pack", "packs.pack"),
        Pass("inline", "inline.inline_calls"),
        Pass("tuple-parts", "tuple_parts.tuple_parts"),
        Pass("entries", "entries.entries"),
        Pass("induction-variables", "induction_variables.replace_induction_variables"),
        Pass("privatise", "privatise.privatise"),
        Pass("contractions", "contractions.contract"),
        Pass("linear-recurrences", "linear_recurrences.by_linear_recurrences"),
        Pass("counters", "counters.distribute_counters"),
        Pass("vectorise", "vectorise_loops.vectorise_loops"),
        Pass("vectorise-with-masks", "vectorise_loops.vectorise_with_masks"),
        Pass("whole-arrays", "whole_arrays.whole_arrays"),
        Pass("dead-code", "dead_stores.eliminate_dead_code"),
        Pass("dead-stores", "dead_stores.eliminate_dead_stores"),
        Pass("zero-based", "kernel.ir.zero_based.count_from_zero", "Python's indices count from zero"),
        Pass("step-invariants", "step_invariants.hoist_step_invariants"),
        Pass("hoist-data", "hoist_data.hoist_data"),
        Pass("common-subexpressions", "common_subexpressions.eliminate_common_subexpressions"),
        Pass("prepare-normalisers", "split_normalisers.prepare_normalisers"),
        Pass("covariances", "covariances.by_covariance"),
        Pass("split-normalisers", "split_normalisers.split_normalisers"),
        Pass("solver-functions", "solver_functions.solver_functions", "solvers evaluate many points at once"),
        Pass("structured-jumps", "jumps.jumps_to_branches"),
        Pass("draws-axis", "draws_axis.draws_axis", MAKES_A_FORM),
        Pass("variables-of-draws", "draws_variables.variables_of_draws", MAKES_A_FORM),
        Pass("one-side", "one_side.one_side", MAKES_A_FORM),
        Pass("row-terms", "split_rows.row_terms", MAKES_A_FORM),
        Pass("rest-terms", "split_rows.rest_terms", MAKES_A_FORM),
    )
}
"""Every pass, by its name."""


def passes(*names: str) -> tuple[Pass, ...]:
    """Some passes, in the order in which they run."""
    return tuple(PASSES[name] for name in names)
