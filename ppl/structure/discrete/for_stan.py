"""A summed program as Stan differentiates it: a product whose factor is the integer zero is zero.

Where a discrete value makes an outcome impossible, as in `bernoulli_lpmf(1 | z * p)` at z = 0, the derivative
of the density is infinite in Stan and that of the product zero times it, which is nan.
"""

from dataclasses import replace

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import walk
from ppl.programs.rewriting import expr, mentions, rewrite
from ppl.types import INT, REAL


def with_zero_products(p: ast.Program, facts: Facts) -> ast.Program:
    """`n * x` as `(n == 0 ? 0 : n * x)` where the int n depends on the variable of a loop."""
    loops = {s.variable for part in p.model for s in walk(part) if isinstance(s, ast.For)}

    def guarded(n: ast.Node) -> ast.Node | None:
        match n:
            case ast.Binary(op="*", left=left, right=right) if facts.types[n] == REAL:
                for factor in (left, right):
                    if facts.types[factor] == INT and mentions(factor, loops):
                        product = replace(n, left=rewrite(left, guarded), right=rewrite(right, guarded))
                        return expr("(n == 0 ? 0 : x)", n.span, n=factor, x=product)
        return None

    return replace(p, model=rewrite(p.model, guarded))
