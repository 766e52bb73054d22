"""The log density of one value that a statement draws, written out."""

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts, ResolvedCall, UserMatch
from ppl.kernel.language.laplace import LAPLACE
from ppl.programs.entries import DistributedEntry
from ppl.programs.rewriting import expr
from ppl.types import INT


def log_density(d: DistributedEntry, s: ast.Tilde | ast.Call, facts: Facts) -> ast.Expr:
    """The log density of one value, less the log probability of what a truncation leaves.

    Reference manual, "Truncated distributions".
    """
    name = f"{d.name}_lpmf" if is_mass(d.name, s, facts) else f"{d.name}_lpdf"
    density: ast.Expr = ast.Call(s.span, name, (d.left, *d.args), bool(d.args))
    t = d.truncation
    if t is None or (t.lower is None and t.upper is None):
        return density
    whole = facts.types[d.left] == INT if d.left in facts.types else name.endswith("_lpmf")

    def log_probability(bound: ast.Expr, at: ast.Expr) -> ast.Expr:
        return ast.Call(s.span, word_of(facts.cumulative[bound]), (at, *d.args), bool(d.args))

    parts = {"d": density, "y": d.left}
    if t.lower:
        below = expr("a - 1", s.span, a=t.lower) if whole else t.lower
        parts |= {"a": t.lower, "p": log_probability(t.lower, below)}
        outside, left = "y < a", "p"
    if t.upper:
        parts |= {"b": t.upper, "q": log_probability(t.upper, t.upper)}
        outside, left = ("y < a || y > b", "log_diff_exp(q, p)") if t.lower else ("y > b", "q")
    return expr(f"{outside} ? negative_infinity() : d - {left}", s.span, **parts)


def word_of(called: ResolvedCall) -> str:
    """The name of a function that is called."""
    return called.function.name if isinstance(called, UserMatch) else called.callee.name


def is_mass(name: str, s: ast.Node, facts: Facts) -> bool:
    """Whether a distribution is of ints."""
    family = facts.library.families.get(name)
    if family is not None:
        return family.discrete
    word = word_of(facts.calls[s])
    return word.endswith(("_lpmf", "_lupmf")) or f"{name}_lpmf" in LAPLACE
