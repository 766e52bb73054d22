"""Statements in an order in which each is drawn after what it reads."""

from collections.abc import Callable, Iterator, Sequence

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.kernel.language.calls import DENSITIES
from ppl.kernel.language.walk import assigned_variables, variables
from ppl.kernel.language.walk import statements as statements_in
from ppl.programs.rewriting import rewrite
from ppl.structure.definitions import name_of


def as_tilde(s: ast.Statement) -> ast.Statement:
    """`target += normal_lpdf(y | m, s)` as `y ~ normal(m, s)`, inside other statements too."""

    def tilde(n: ast.Node) -> ast.Statement | None:
        match n:
            case ast.TargetIncrement(value=ast.Call(args=(left, *args)) as e) if e.name.endswith(DENSITIES):
                return ast.Tilde(n.span, left, e.name.rpartition("_")[0], e.span, tuple(args))
            case ast.Profile(statements=body):
                return ast.Block(n.span, rewrite(body, tilde))
        return None

    return rewrite(s, tilde)


def in_order(
    body: Sequence[ast.Statement], cyclic: Callable[[Sequence[ast.Statement]], ModelError]
) -> Iterator[ast.Statement]:
    """Statements, each as soon as all that it reads has been drawn or computed, otherwise as written.

    Raises the error that `cyclic` gives of those that are left, if none of them is ready.
    """
    pending, shadows = list(body), list(map(as_tilde, body))
    while pending:
        at = next((k for k in range(len(pending)) if is_ready(shadows, k)), None)
        if at is None:
            raise cyclic(shadows)
        shadows.pop(at)
        yield pending.pop(at)


def is_ready(pending: Sequence[ast.Statement], k: int) -> bool:
    """Whether no other pending statement sets what this one reads, and no earlier one what it sets."""
    own, touched = names_set_by(pending[k]), names_in(pending[k])
    waits = any(names_set_by(earlier) & (touched | own) for earlier in pending[:k])
    return not waits and not any((names_set_by(later) & touched) - own for later in pending[k + 1 :])


def names_set_by(s: ast.Statement) -> set[str]:
    """The names that a statement draws, assigns to or gives a value."""
    assigned = set[str]()
    for n in statements_in([s]):
        match n:
            case ast.Tilde(left=left):
                assigned |= {name_of(left)} - {""}
            case ast.Assignment(target=target):
                assigned |= {v.name for v in assigned_variables(target)}
            case ast.Declaration(name=name):
                assigned |= {name}
    return assigned


def names_in(s: ast.Node) -> set[str]:
    """The names that are read, or written in part."""
    return {v.name for v in variables(s)}
