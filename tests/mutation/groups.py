"""Which files are changed, and which tests are to notice."""

import ast
from pathlib import Path

from ppl.records import dataclass
from tests.mutation.operators import Mutant, mutants

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Group:
    """Files and their tests; with `calling`, of each file only what it gives to such calls, by name too.

    A mutant meets the tests that run its line, golden ones and those that have its file's name first, then
    the quickest; where `by_line` is False, all tests in the order of the group instead.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]
    calling: tuple[str, ...] = ()
    by_line: bool = True

    def mutants(self, source: str) -> list[Mutant]:
        every = mutants(source)
        if not self.calling:
            return every
        tree = ast.parse(source)
        calls = [
            node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in self.calling
        ]
        inside = [node for call in calls for node in ast.walk(call)]
        names = {n.id for n in inside if isinstance(n, ast.Name)} - {
            n.arg for n in inside if isinstance(n, ast.arg)
        }
        given = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and f.name in names]
        ranges = [range(node.lineno, (node.end_lineno or 0) + 1) for node in (*calls, *given)]
        return [mutant for mutant in every if any(mutant.first in lines for lines in ranges)]


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _folder(folder: str) -> tuple[str, ...]:
    files = sorted(ROOT.glob(f"{folder}/*.py"))
    return tuple(str(file.relative_to(ROOT)) for file in files if file.name != "__init__.py")


def _calling(folder: str, *names: str) -> tuple[str, ...]:
    files = sorted(ROOT.glob(f"{folder}/**/*.py"))
    return tuple(
        str(file.relative_to(ROOT))
        for file in files
        for calls in [[n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.Call)]]
        if any(_called(call) in names for call in calls)
    )


def _methods(*names: str) -> tuple[str, ...]:
    return tuple(f"ppl/methods/{name}.py" for name in names)


def _tests(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/test_{name}.py" for name in names.split())


STDLIB = (
    *_tests("stdlib", "arrays batching bessel_ratio constraint_functions constraints discrete hmm"),
    *_tests("stdlib", "distribution_laws distributions function_laws functions incomplete_functions"),
    *_tests("stdlib", "linear_algebra log_gamma_ratio parts reductions slopes"),
    "tests/stdlib/distributions",
)
_LOOPS = "tests/optimise/test_vectorise_loops.py"
_GENERATED = tuple(
    f"tests/generator/test_generated.py::test_every_form_agrees[{number}]" for number in range(1, 200, 7)
)
_MANY = "tests/test_many_draws.py"
_SOLVERS = "tests/language/test_solvers.py::test_gradients_and_draws_together"
PASSES = (
    *_tests("optimise", "golden draws_plan hoist_data covariances common_subexpressions"),
    *_tests(
        "optimise",
        "contractions linear_recurrences counters definite_assignment step_invariants invariant_calls",
    ),
    *_tests("optimise", "branches_for_jax dead_code dead_stores draws_variables solver_functions"),
    "tests/optimise/test_verify.py::test_every_pass_leaves_a_program_that_is_well_formed",
    *_tests("kernel/ir", "zero_based sizes"),
    *_tests("kernel/emit", "scan scan_draws loops_over_draws"),
    *(f"{_SOLVERS}[program{number}-data{number}]" for number in (0, 8, 9)),
    f"{_MANY}::test_draws_that_go_together",
    f"{_MANY}::test_draws_that_go_different_ways",
    f"{_LOOPS}::test_a_loop_goes_or_says_why_not",
    f"{_LOOPS}::test_a_loop_means_the_same_as_arrays_and_with_a_pass_left_out",
    "tests/test_propto.py",
    "tests/test_minibatch.py::test_an_epoch_of_batches_averages_to_the_full_gradient",
    *_tests("optimise", "privatise split_normalisers without_prior"),
    *_tests("optimise", "fission inline jumps lift scan tuple_parts widths"),
    "tests/optimise/test_whole_arrays.py::test_a_predictor_has_no_index_sets",
    "tests/optimise/test_whole_arrays.py::test_a_part_is_not_the_whole",
    *_GENERATED,
    f"{_LOOPS}::test_a_wrong_size_or_index_is_refused_in_a_batch_too",
    *_tests("optimise", "rectangles ragged split_rows for_each axes stores"),
    "tests/test_minibatch.py",
)
_TOGETHER = ("containers", "jacobian", "entries beside a tuple", "shards")
_LIMITS = "tests/hostile/test_limits.py"
EMIT = (
    *_tests("kernel/emit", "advice scan scan_draws places"),
    f"{_MANY}::test_draws_that_go_different_ways[branch]",
    *(f"{_MANY}::test_draws_that_go_together[{which}]" for which in _TOGETHER),
    f"{_LIMITS}::test_memory_that_cannot_be_had_all_the_same_has_its_place",
    "tests/language/test_regressions.py::test_tuples_are_printed_as_tuples",
    "tests/kernel/emit/test_emit_expr.py",
    "tests/language/test_tuple_arrays.py",
    "tests/language/test_regressions.py::test_arrays_of_tuples_in_every_block",
    *_tests("optimise", "draws_plan split_normalisers draws_variables"),
    "tests/test_propto.py",
    "tests/kernel/emit/test_loops_over_draws.py",
    f"{_SOLVERS}[program0-data0]",
    *_GENERATED,
    f"{_LOOPS}::test_a_loop_means_the_same_as_arrays_and_with_a_pass_left_out",
    "tests/test_minibatch.py::test_an_epoch_of_batches_averages_to_the_full_gradient",
)
_SOLVER_FILES = tuple(f"ppl/optimise/{name}.py" for name in ("solver_functions", "solve"))
DERIVATIVES = ("with_partials", "with_vjps")
GROUPS = {
    "psis": Group(_methods("diagnose/psis"), _tests("methods", "psis")),
    "verdict": Group(_methods("diagnose/verdict"), _tests("methods", "verdict verdict_levels")),
    "moves": Group(
        _methods("moves/batch", "moves/ending", "moves/mixing", "moves/sampler", "moves/trajectories"),
        ("tests/methods/moves",),
    ),
    "correction": Group(_methods("correct/correction"), _tests("methods", "correction")),
    "estimators": Group(
        _folder("ppl/kernel/advi/estimators"),
        ("tests/kernel/advi/estimators",),
    ),
    "derivatives": Group(
        _calling("ppl/stdlib", *DERIVATIVES),
        STDLIB,
        DERIVATIVES,
    ),
    "passes": Group(_folder("ppl/optimise/passes"), PASSES),
    "emit": Group(_folder("ppl/kernel/emit"), EMIT, by_line=False),
    "solvers": Group(_SOLVER_FILES, _tests("language", "odes solvers")),
}
