"""The posterior without some rows, as a program: which rows is data."""

from collections.abc import Mapping
from typing import NamedTuple

from ppl.kernel.language import ast
from ppl.programs.fresh_names import FreshNames
from ppl.programs.rewriting import Stmts, code, copied, indexed, variable
from ppl.records import replace
from ppl.structure.factors import Factors
from ppl.structure.observed.log_lik import LogLikReader
from ppl.structure.observed.terms import Around


class LeftOut(NamedTuple):
    """`program` has the same parameters. Of each outcome it takes the likelihood of as many rows as `counts`
    names to a `power`, which at 0 leaves them out; their indices, from 1, are those that `places` names, an
    array for each axis.
    """

    program: ast.Program
    power: str
    counts: Mapping[str, str]
    places: Mapping[str, tuple[str, ...]]


class PriorKeepingReader(LogLikReader):
    """The terms of data by row, and every other term as it stands."""

    def of_prior(self, term: ast.Tilde | ast.CallStatement | ast.Expr) -> Stmts:
        return (
            term if isinstance(term, ast.Tilde | ast.CallStatement) else ast.TargetIncrement(term.span, term),
        )

    def of_unread(self, s: ast.Statement) -> Stmts:
        return (s,)


def without_rows(factors: Factors) -> LeftOut:
    """The program of the posterior without some rows of each outcome, by the terms of `log_lik_of`.

    Raises:
        ModelError: as `log_lik_of`.
    """
    program, names = factors.program, FreshNames.of(factors.program)
    reader = PriorKeepingReader(factors, names)
    body = reader.body(program.model, Around())
    summed = reader.terms.summed(body, factors.sizes, names, program.span)
    span, k, power = program.span, names.fresh("k"), names.fresh("power_of_left_out")
    counts, places = dict[str, str](), dict[str, tuple[str, ...]]()
    data, added = [*code("real p;", span, p=power)], list[ast.Statement]()
    for group, quantity in summed.quantities.items():
        counts[group] = n = names.fresh(f"left_out_of_{quantity}")
        places[group] = tuple(names.fresh(f"{n}_axis_{axis + 1}") for axis in range(summed.axes[group]))
        data += code("int n;", span, n=n)
        data += (d for v in places[group] for d in code("array[n] int v;", span, n=n, v=v))
        entry = indexed(quantity, tuple(indexed(v, (variable(k, span),), span) for v in places[group]), span)
        added += code("for (k in 1 : n) a = p == 0 ? 0 : p * a;", span, k=k, n=n, a=entry, p=power)
        added += code("target += q;", span, q=quantity)
    block = ast.Block(span, (*summed.declared, *summed.body, *added))
    declared = (*program.data, *(d for d in data if isinstance(d, ast.Declaration)))
    own = replace(program, data=declared, model=(block,), generated_quantities=())
    return LeftOut(copied(own), power, counts, places)
