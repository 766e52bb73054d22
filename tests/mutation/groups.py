"""Which files are changed, and which tests are to notice."""

import ast
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.operators import Mutant, mutants

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Group:
    """Files and their tests; with `calling`, of each file only what it gives to such calls, by name too."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    calling: tuple[str, ...] = ()

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
        str(file.relative_to(ROOT)) for file in files if any(f"{n}(" in file.read_text() for n in names)
    )


def _inference(*names: str) -> tuple[str, ...]:
    return tuple(f"ppl/inference/{name}.py" for name in names)


def _tests(folder: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{folder}/test_{name}.py" for name in names.split())


STDLIB = (
    *_tests("stdlib", "arrays batching bessel_ratio constraint_functions constraints discrete hmm"),
    *_tests("stdlib", "distribution_laws distributions function_laws functions incomplete_functions"),
    *_tests("stdlib", "linear_algebra log_gamma_ratio parts reductions slopes"),
    "tests/stdlib/distributions",
)
_GENERATED = "tests/generator/test_generated.py::test_every_form_agrees"
# Of the generated programs a few: more find more, and take longer.
COMPILER = (
    *_tests("ir", "apart covariances draws_plan fills fuse golden hoist_data pairs privatise share"),
    *_tests("ir", "vectorise_loops zero_based"),
    *_tests("backend", "advice loops_over_draws places scan"),
    *(f"{_GENERATED}[{number}]" for number in range(40)),
)
DERIVATIVES = ("with_partials", "with_vjps")
GROUPS = {
    "psis": Group(_inference("psis"), _tests("inference", "psis")),
    "verdict": Group(_inference("verdict"), _tests("inference", "verdict verdict_levels")),
    "annealing": Group(_inference("annealing"), _tests("inference", "annealing verdict")),
    "refining": Group(_inference("refining"), _tests("inference", "refining")),
    "estimators": Group(
        _inference(
            "estimators/control_variates",
            "estimators/reparameterised",
            "estimators/score_function",
            "estimators/sticking_the_landing",
            "estimators/stochastic_search",
        ),
        ("tests/inference/estimators",),
    ),
    "derivatives": Group(
        _calling("ppl/stdlib", *DERIVATIVES),
        STDLIB,
        DERIVATIVES,
    ),
    "passes": Group(_folder("ppl/ir/passes"), COMPILER),
    "backend": Group(_folder("ppl/backend"), COMPILER),
}
