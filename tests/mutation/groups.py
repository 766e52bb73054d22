"""Which files are changed, and which tests are to notice."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    files: tuple[str, ...]
    tests: tuple[str, ...]


def _inference(*names: str) -> tuple[str, ...]:
    return tuple(f"ppl/inference/{name}.py" for name in names)


GROUPS = {
    "psis": Group(_inference("psis"), ("tests/inference/test_psis.py",)),
    "verdict": Group(
        _inference("verdict"), ("tests/inference/test_verdict.py", "tests/inference/test_verdict_levels.py")
    ),
    "annealing": Group(_inference("annealing"), ("tests/inference/test_annealing.py",)),
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
}
