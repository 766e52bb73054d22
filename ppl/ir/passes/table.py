"""The passes, each with its name and what it does; ir/forms.py has the order in which they run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ppl.ir.nodes import Program
from ppl.late import LateModule


@dataclass(frozen=True)
class Pass:
    """A function from a program to one that means the same; `required`, why it cannot be left out, or ""."""

    name: str
    meaning: str
    run: Callable[[Program], Program]
    required: str = ""


def late(module: str, name: str, *more: Any) -> Callable[[Program], Program]:
    """A function of a module beside this one, which is imported when the function is first run."""
    found = LateModule(f"ppl.ir.passes.{module}")
    return lambda program: getattr(found, name)(program, *more)


def one_side_of(sides: tuple[tuple[int, bool], ...]) -> Pass:
    """The pass that lets branches, by their number in the program, take one side at every point."""
    return Pass(
        "one-side",
        "Some branches on parameters take one side at every point.",
        late("one_side", "one_side", sides),
        required="it makes the form",
    )


def draws_axis_of(shared: tuple[str, ...]) -> Pass:
    """The pass that lifts the log density over draws, which have the same values of some parameters."""
    return Pass(
        "draws-axis",
        "Every value of the log density that may differ from draw to draw gets an axis of the draws.",
        late("draws_axis", "draws_axis", shared),
        required="it makes the form",
    )


def row_terms_of(size: str) -> Pass:
    """The pass that keeps the terms of the target that depend on rows, which the variable `size` counts."""
    return Pass(
        "row-terms",
        "Only the terms of the target that depend on rows are kept, for any subset of rows.",
        late("split_rows", "row_terms", size),
        required="it makes the form",
    )


def rest_terms_of(size: str) -> Pass:
    """The pass that keeps the other terms."""
    return Pass(
        "rest-terms",
        "Only the terms of the target that depend on no row are kept.",
        late("split_rows", "rest_terms", size),
        required="it makes the form",
    )


PASSES: Mapping[str, Pass] = {
    each.name: each
    for each in (
        Pass(
            "inline",
            "Functions with loops are inlined, so that their index sets are known from data.",
            late("inline_calls", "inline_calls"),
        ),
        Pass(
            "tuple-parts",
            "A local tuple, or array of tuples, that is set and read by items becomes one variable per item.",
            late("tuple_parts", "tuple_parts"),
        ),
        Pass(
            "induction-variables",
            "An int that grows by a constant in every iteration becomes a formula in the loop variable.",
            late("induction_variables", "replace_induction_variables"),
        ),
        Pass(
            "privatise",
            "A variable that every iteration sets before reading it is declared inside the loop.",
            late("privatise", "privatise"),
        ),
        Pass(
            "contractions",
            "Sums of products in a nest of three loops become products of matrices.",
            late("contractions", "contract"),
        ),
        Pass(
            "counters",
            "Ints that a loop carries and that depend on data only are computed in a separate loop.",
            late("counters", "distribute_counters"),
        ),
        Pass(
            "vectorise",
            "Loops whose iterations are independent become operations on arrays, recurrences a scan.",
            late("vectorise_loops", "vectorise_loops"),
        ),
        Pass(
            "vectorise-with-masks",
            "The same, but branches on parameters are computed for all entries, and then selected.",
            late("vectorise_loops", "vectorise_loops", True),
        ),
        Pass(
            "whole-arrays",
            "A variable whose entries are all set or read is set or read as a whole.",
            late("whole_arrays", "whole_arrays"),
        ),
        Pass(
            "dead-code",
            "Unused index sets are removed.",
            late("dead_code", "eliminate_dead_code"),
        ),
        Pass(
            "dead-stores",
            "Variables that are set as a whole before they are read are not initialised.",
            late("dead_stores", "eliminate_dead_stores"),
        ),
        Pass(
            "zero-based",
            "Indices count from zero; indices that are unknown are checked.",
            late("zero_based", "count_from_zero"),
            required="Python's indices count from zero",
        ),
        Pass(
            "step-invariants",
            "Computations on index sets that are the same in every step of a recurrence are done once.",
            late("step_invariants", "hoist_step_invariants"),
        ),
        Pass(
            "hoist-data",
            "Expressions that depend on data only are computed once, when the data are read.",
            late("hoist_data", "hoist_data"),
        ),
        Pass(
            "common-subexpressions",
            "An expression that occurs more than once in the log joint is computed once.",
            late("common_subexpressions", "eliminate_common_subexpressions"),
        ),
        Pass(
            "prepare-normalisers",
            "Terms of densities that depend on data only are computed once, for the pass split-normalisers.",
            late("split_normalisers", "prepare_normalisers"),
        ),
        Pass(
            "covariances",
            "The density of a Cholesky factor without other uses becomes the density of the covariance.",
            late("covariances", "by_covariance"),
        ),
        Pass(
            "split-normalisers",
            "A density over rows becomes its kernel and the terms that were prepared.",
            late("split_normalisers", "split_normalisers"),
        ),
        Pass(
            "fuse-regressions",
            "A linear predictor and its density become one generalised linear model.",
            late("fuse_regressions", "fuse_regressions"),
        ),
        Pass(
            "solver-functions",
            "The functions that solvers work on are evaluated at many points at once.",
            late("solver_functions", "solver_functions"),
            required="solvers evaluate many points at once",
        ),
        Pass(
            "structured-jumps",
            "Jumps and early returns that depend on parameters become branches.",
            late("jumps", "jumps_to_branches"),
        ),
        draws_axis_of(()),
        Pass(
            "variables-of-draws",
            "Transformed parameters and generated quantities get an axis of the draws.",
            late("draws_variables", "variables_of_draws"),
            required="it makes the form",
        ),
        one_side_of(()),
        row_terms_of(""),
        rest_terms_of(""),
    )
}
"""Every pass, by its name."""


def passes(*names: str) -> tuple[Pass, ...]:
    """Some passes, in the order in which they run."""
    return tuple(PASSES[name] for name in names)
