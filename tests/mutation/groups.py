"""Which files are changed, and which tests are to notice."""

import ast
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.operators import Mutant, mutants

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Group:
    """Of files that say what they are `calling`, the functions that call it and those that these use."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    calling: tuple[str, ...] = ()

    def mutants(self, source: str) -> list[Mutant]:
        every = mutants(source)
        if not self.calling:
            return every
        functions = {f.name: f for f in ast.parse(source).body if isinstance(f, ast.FunctionDef)}
        names = {name: _names(f) for name, f in functions.items()}
        first = {name for name in functions if names[name] & set(self.calling)}
        chosen = first | {other for name in first for other in names[name] & set(functions)}
        ranges = [range(functions[name].lineno, (functions[name].end_lineno or 0) + 1) for name in chosen]
        return [mutant for mutant in every if any(mutant.first in lines for lines in ranges)]


def _names(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def _calling(folder: str, *names: str) -> tuple[str, ...]:
    files = sorted(ROOT.glob(f"{folder}/**/*.py"))
    return tuple(
        str(file.relative_to(ROOT)) for file in files if any(f"{n}(" in file.read_text() for n in names)
    )


def _inference(*names: str) -> tuple[str, ...]:
    return tuple(f"ppl/inference/{name}.py" for name in names)


def _stdlib(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/stdlib/test_{name}.py" for name in names)


STDLIB = (
    *_stdlib(
        "arrays", "constraint_functions", "constraints", "discrete", "distribution_laws", "distributions"
    ),
    *_stdlib("function_laws", "functions", "incomplete_functions", "linear_algebra", "log_gamma_ratio"),
    *_stdlib("parts", "reductions"),
    "tests/stdlib/distributions",
)
DERIVATIVES = ("with_partials", "with_vjps")
GROUPS = {
    "psis": Group(_inference("psis"), ("tests/inference/test_psis.py",)),
    "verdict": Group(
        _inference("verdict"), ("tests/inference/test_verdict.py", "tests/inference/test_verdict_levels.py")
    ),
    "annealing": Group(
        _inference("annealing"), tuple(f"tests/inference/test_{name}.py" for name in ("annealing", "verdict"))
    ),
    "refining": Group(_inference("refining"), ("tests/inference/test_refining.py",)),
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
}
