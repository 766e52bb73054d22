"""The log density of each prior statement, as a program: its terms in generated quantities."""

from typing import Any

from ppl.kernel.language import ast
from ppl.kernel.language.walk import walk
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, integer, rewrite
from ppl.records import dataclass, replace
from ppl.structure.definitions import root
from ppl.structure.factors import Factors
from ppl.structure.observed.densities import is_mass
from ppl.structure.observed.quantities import with_quantities

EFFECTS = (ast.Tilde, ast.TargetIncrement, ast.CallStatement, ast.JacobianIncrement, ast.Print)


@dataclass(frozen=True)
class Priors:
    """`program` has the same parameters; entry k of its `quantity` is the log density of the k-th
    of `statements`, a prior of the k-th of `names` with arguments that are constants or data.
    """

    program: ast.Program
    quantity: str
    statements: tuple[ast.Tilde, ...]
    names: tuple[str, ...]


def priors_of(factors: Factors) -> Priors | None:
    """The `~` statements of parameters whose arguments are known before the fit; None if there is none.

    Priors of effects, whose scale is estimated, are part of the likelihood of that scale (Kallioinen,
    Paananen, Bürkner and Vehtari 2024, Statistics and Computing 34:57). Truncations are constants and
    left out.
    """
    program, facts = factors.program, factors.facts
    parameters = {d.name for d in program.parameters}
    statements = {
        n: v.name
        for n in walk(program.model)
        if isinstance(n, ast.Tilde)
        and isinstance(v := root(n.left), ast.Variable)
        and v.name in parameters
        and not any(map(factors.depends, n.args))
        and n.distribution in facts.library.families
    }
    if not statements:
        return None
    quantity = FreshNames.of(program).fresh("log_prior")
    numbers = {s: integer(k, s.span) for k, s in enumerate(statements, 1)}

    def added(n: Any) -> Stmts | None:
        if n in statements:
            suffix = "lpmf" if is_mass(n.distribution, n, facts) else "lpdf"
            density = ast.Call(n.span, f"{n.distribution}_{suffix}", (n.left, *n.args), bool(n.args))
            return code("a[k] += b;", n.span, a=quantity, k=numbers[n], b=density)
        return () if isinstance(n, EFFECTS) else None

    size = integer(len(statements), program.span)
    declared = code("vector[n] v = rep_vector(0, n);", program.span, v=quantity, n=size)
    body = rewrite(program.model, added)
    extended = with_quantities(replace(program, model=()), declared, [quantity], body)
    return Priors(extended, quantity, tuple(statements), tuple(statements.values()))
