"""The passes, each with its name and what it does; ir/forms.py has the order in which they run."""

from collections.abc import Callable
from dataclasses import dataclass

from ppl.ir.nodes import Program
from ppl.ir.passes.common_subexpressions import eliminate_common_subexpressions
from ppl.ir.passes.counters import distribute_counters
from ppl.ir.passes.covariances import by_covariance
from ppl.ir.passes.dead_code import eliminate_dead_code
from ppl.ir.passes.dead_stores import eliminate_dead_stores
from ppl.ir.passes.draws_axis import draws_axis
from ppl.ir.passes.draws_variables import variables_of_draws
from ppl.ir.passes.fuse_regressions import fuse_regressions
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.induction_variables import replace_induction_variables
from ppl.ir.passes.inline_calls import inline_calls
from ppl.ir.passes.jumps import jumps_to_branches
from ppl.ir.passes.outer_broadcast import outer_broadcast
from ppl.ir.passes.privatise import privatise
from ppl.ir.passes.solver_functions import solver_functions
from ppl.ir.passes.split_normalisers import prepare_normalisers, split_normalisers
from ppl.ir.passes.split_rows import rest_terms, row_terms
from ppl.ir.passes.step_invariants import hoist_step_invariants
from ppl.ir.passes.vectorise_loops import vectorise_loops, vectorise_variables, vectorise_with_masks
from ppl.ir.passes.whole_arrays import whole_arrays
from ppl.ir.passes.zero_based import count_from_zero


@dataclass(frozen=True)
class Pass:
    """A function from a program to one that means the same; `required`, why it cannot be left out, or ""."""

    name: str
    meaning: str
    run: Callable[[Program], Program]
    required: str = ""


INLINE = Pass(
    "inline",
    "Functions with loops are written out where they are called, so that index sets of data are seen.",
    inline_calls,
)
INDUCTION = Pass(
    "induction-variables",
    "An int that a loop adds a constant to in every iteration becomes a formula in the loop's variable.",
    replace_induction_variables,
)
PRIVATISE = Pass(
    "privatise",
    "A scratch variable that every iteration sets anew is declared inside the loop.",
    privatise,
)
COUNTERS = Pass(
    "counters",
    "Ints that a loop carries and data alone decide are computed by a loop of their own.",
    distribute_counters,
)
VECTORISE = Pass(
    "vectorise",
    "Loops whose iterations are independent become operations on arrays, recurrences a scan.",
    vectorise_loops,
)
VECTORISE_WITH_MASKS = Pass(
    "vectorise-with-masks",
    "The same, but in branches that parameters decide all entries are computed, and those wanted chosen.",
    vectorise_with_masks,
)
VECTORISE_VARIABLES = Pass(
    "vectorise-variables",
    "The same for transformed parameters and generated quantities alone; random numbers come in any order.",
    vectorise_variables,
)
WHOLE_ARRAYS = Pass(
    "whole-arrays",
    "A variable that is filled or read from end to end is set or taken as a whole.",
    whole_arrays,
)
OUTER_BROADCAST = Pass(
    "outer-broadcast",
    "A nest of two loops over all pairs becomes a rectangle, whose axes broadcast.",
    outer_broadcast,
)
DEAD_CODE = Pass("dead-code", "Index sets that nothing reads any more are dropped.", eliminate_dead_code)
DEAD_STORES = Pass(
    "dead-stores",
    "Variables that are set whole before they are read are not declared without a value first.",
    eliminate_dead_stores,
)
ZERO_BASED = Pass(
    "zero-based",
    "Indices count from zero, those that are not known are checked.",
    count_from_zero,
    required="Python's indices count from zero",
)
STEP_INVARIANTS = Pass(
    "step-invariants",
    "What every step of a recurrence would compute alike from its index sets is computed once.",
    hoist_step_invariants,
)
HOIST = Pass(
    "hoist-data",
    "What depends on data alone is computed once, when the data arrive.",
    hoist_data,
)
SHARE = Pass(
    "common-subexpressions",
    "An expression of the log joint that stands more than once is computed once.",
    eliminate_common_subexpressions,
)
PREPARE_NORMALISERS = Pass(
    "prepare-normalisers",
    "Terms of densities that need the data alone are computed once, for the pass split-normalisers.",
    prepare_normalisers,
)
COVARIANCES = Pass(
    "covariances",
    "The density of a Cholesky factor that is used there alone becomes that of the covariance.",
    by_covariance,
)
SPLIT_NORMALISERS = Pass(
    "split-normalisers",
    "A density over rows becomes its kernel and the terms that were prepared.",
    split_normalisers,
)
FUSE = Pass(
    "fuse-regressions",
    "A linear predictor and the density it stands in become one generalised linear model.",
    fuse_regressions,
)
SOLVER_FUNCTIONS = Pass(
    "solver-functions",
    "The functions that solvers work on are laid out along the points where they are asked for.",
    solver_functions,
    required="solvers ask for many points at once",
)
STRUCTURED_JUMPS = Pass(
    "structured-jumps",
    "Jumps and early returns that parameters decide become branches.",
    jumps_to_branches,
)
DRAWS_AXIS = Pass(
    "draws-axis",
    "Every value of the log density that may differ from draw to draw gets an axis of the draws.",
    draws_axis,
    required="it is what the form is for",
)
VARIABLES_OF_DRAWS = Pass(
    "variables-of-draws",
    "Transformed parameters and generated quantities get an axis of the draws.",
    variables_of_draws,
    required="it is what the form is for",
)


def row_terms_of(size: str) -> Pass:
    """The pass that keeps the terms of the target that depend on rows, which the variable `size` counts."""
    return Pass(
        "row-terms",
        "Only the terms of the target that depend on rows are kept, for any subset of rows.",
        lambda p: row_terms(p, size),
        required="it is what the form is for",
    )


def rest_terms_of(size: str) -> Pass:
    """The pass that keeps the other terms."""
    return Pass(
        "rest-terms",
        "Only the terms of the target that depend on no row are kept.",
        lambda p: rest_terms(p, size),
        required="it is what the form is for",
    )


PASSES: tuple[Pass, ...] = (
    INLINE,
    INDUCTION,
    PRIVATISE,
    COUNTERS,
    VECTORISE,
    VECTORISE_WITH_MASKS,
    VECTORISE_VARIABLES,
    WHOLE_ARRAYS,
    OUTER_BROADCAST,
    DEAD_CODE,
    DEAD_STORES,
    ZERO_BASED,
    STEP_INVARIANTS,
    HOIST,
    SHARE,
    PREPARE_NORMALISERS,
    COVARIANCES,
    SPLIT_NORMALISERS,
    FUSE,
    SOLVER_FUNCTIONS,
    STRUCTURED_JUMPS,
    DRAWS_AXIS,
    VARIABLES_OF_DRAWS,
    row_terms_of(""),
    rest_terms_of(""),
)
"""Every pass."""
