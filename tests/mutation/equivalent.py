"""Mutants that no test can notice, each with the reason; they are not counted.

A key is the file of the package, the function or the name in which the change is, and the change.
"""

import ast

ROUNDING = "a bound on rounding errors, whose exact value no result depends on"
EDGE = "both sides give the same value at the edge itself"
WORK = "how much work is done; with either value the answer is the same or as good"
SAME = "the same number for every input"
MASKED = "a stand-in for a value that is not used"
CANCELS = "a constant that cancels when the weights are normalised"
_SHARED = "rank(entry(a.type)) or ir.loops_of(a.type) for a in shared"
ONE_OTHER = "a density in two parts has at most one argument beside y in the second: any of one is all of it"

OUTERMOST = "those that leave it out have no loop around theirs, where it makes no difference"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("methods/diagnose/psis.py", "flat_tail", "4 -> 5"): ROUNDING,
    ("methods/diagnose/psis.py", "psis", "cutoff >= -PSIS.flat_tail -> cutoff > -PSIS.flat_tail"): EDGE,
    (
        "methods/diagnose/psis.py",
        "fit_pareto",
        "np.log(-theta / shapes) - shapes - 1 -> np.log(-theta / shapes) - shapes + 1",
    ): CANCELS,
    ("methods/diagnose/psis.py", "pareto_survival", "abs(shape) < 1e-12 -> abs(shape) <= 1e-12"): EDGE,
    ("methods/diagnose/psis.py", "pareto_survival", "1e-12 -> 2e-12"): ROUNDING,
    ("stdlib/constraints/ordered.py", "_increasing_adjoint", "0.0 -> 1.0"): MASKED,
    ("stdlib/distributions/multi_normal.py", "_factor_adjoint", "-1 -> 1"): SAME,
    (
        "stdlib/distributions/multi_normal.py",
        "_factor_adjoint",
        "lower * eye + (1.0 - eye) -> lower * eye - (1.0 - eye)",
    ): SAME,
    ("stdlib/distributions/double_exponential.py", "_weight", "(z < 0) * 1.0 -> (z < 0) / 1.0"): SAME,
    ("stdlib/special/mills.py", "inverse_mills", "t < 0.0 -> t <= 0.0"): EDGE,
    ("stdlib/functions/elementary.py", "_by_base", "1.0 -> 2.0"): MASKED,
    ("kernel/advi/estimators/stochastic_search.py", "PILOT_DRAWS", "20 -> 21"): WORK,
    ("kernel/advi/estimators/stochastic_search.py", "MOST_DRAWS_A_GRADIENT", "10000 -> 10001"): WORK,
    ("methods/correct/correction.py", "proposals", "8192 -> 8193"): WORK,
    ("methods/correct/correction.py", "enough_ess", "2000 -> 2001"): WORK,
    ("system/freed_memory.py", "largest_learnt", "32 -> 33"): WORK,
    ("system/freed_memory.py", "largest_learnt", "20 -> 21"): WORK,
    ("system/freed_memory.py", "head", "1 -> 2"): WORK,
    ("system/freed_memory.py", "head", "16 -> 17"): WORK,
    ("optimise/passes/iterations.py", "nest", "False -> True"): OUTERMOST,
    ("system/threads.py", "as_many_threads_as_pay", "0 -> 1"): EDGE,
    (
        "optimise/passes/split_normalisers.py",
        "by_value",
        f"any(({_SHARED})) -> all(({_SHARED}))",
    ): ONE_OTHER,
}


def names_by_line(tree: ast.Module) -> dict[int, str]:
    """The function, or the constant or field outside of functions, that each line belongs to."""
    names: dict[int, str] = {}
    for node in ast.walk(tree):  # from the outside in
        match node:
            case ast.FunctionDef(name=name):
                names |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                for line in range(node.lineno, (node.end_lineno or 0) + 1):
                    names.setdefault(line, name)
    return names
