"""The target with the terms of each row of data as often as data have the row.

Rows are as in split_rows.py. Where many are alike, as answers to a survey, the program is run with one of
each, the size made smaller, and the number of rows that each stands for beside.
"""

from collections.abc import Mapping, Set
from typing import Any, NamedTuple

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.lower_expr import library_apply
from ppl.kernel.ir.rows import row_axes
from ppl.kernel.ir.walk import Fresh, binary, fresh_names, used_names, with_parts
from ppl.optimise.passes.inline import inline_calls
from ppl.optimise.passes.split_rows import counted_by, depends_on, has_effect, total_of, with_total
from ppl.records import replace
from ppl.types import INT, MATRIX, REAL, VECTOR, indexed_type, rank


def counts_of(size: str) -> str:
    """The name of how often rows that a size counts occur."""
    return f"{size}_counts__"


GLMS: Mapping[str, tuple[str, int]] = {
    "normal_id_glm_lpdf": ("normal_lpdf", 1),
    "bernoulli_logit_glm_lpmf": ("bernoulli_logit_lpmf", 1),
    "poisson_log_glm_lpmf": ("poisson_log_lpmf", 1),
    "neg_binomial_2_log_glm_lpmf": ("neg_binomial_2_log_lpmf", 1),
    "binomial_logit_glm_lpmf": ("binomial_logit_lpmf", 2),
}
"""Densities of generalised linear models by name: that of their family, and which argument is x."""


class NotCounted(Exception):
    """A term of rows is no sum of one for each row that can be told from the program."""


def counted_rows(p: ir.Program, size: str) -> ir.Program:
    """A lowered program in which a row that `size` counts has its terms as often as its count says.

    Raises NotCounted.
    """
    p = inline_calls(p)
    data = {name for name, _ in row_axes((*p.data, *p.transformed_data_names), size)}
    touched = depends_on(p.log_density, data | counted_by(p.log_density, size))
    rows, total = RowsOf(size, touched, fresh_names(f"_{size}")), total_of(size)

    def of_block(body: ir.Stmts) -> ir.Stmts:
        return tuple(with_total(s, size, total) for s in rows.with_counts(body))

    return replace(
        p.without_generated,
        transformed_parameters=of_block(p.transformed_parameters),
        model=of_block(p.model),
        extra_data=(*p.extra_data, total, counts_of(size)),
    )


class RowsOf(NamedTuple):
    """The rows that a size counts, the variables that depend on them, and new names. All raise NotCounted."""

    size: str
    touched: Set[str]
    fresh: Fresh

    def with_counts(self, body: ir.Stmts) -> ir.Stmts:
        """The statements, with counts where terms of rows are."""
        return tuple(each for s in body for each in self.counted(s))

    def counted(self, s: ir.Stmt) -> ir.Stmts:
        """Those that a statement becomes."""
        if not has_effect(s) or self.touched.isdisjoint(used_names(s)):
            return (s,)
        match s:
            case ir.For(variable=row, lower=ir.Const(value=1), upper=ir.Var(name=name)) if name == self.size:
                return (self.times(s, row),)
            case ir.If(condition=condition) if self.touched.isdisjoint(used_names(condition)):
                then, otherwise = map(self.with_counts, (s.then, s.otherwise))
                return (replace(s, then=then, otherwise=otherwise),)
            case ir.Profile(body=body):
                return (replace(s, body=self.with_counts(body)),)
            case ir.Increment(value=ir.Apply() as sum_):
                sum_ = by_predictor(sum_)
                if sums_entries(sum_):
                    return self.by_entry(s, sum_)
        raise NotCounted

    def by_entry(self, s: ir.Increment, sum_: ir.Apply) -> ir.Stmts:
        """A sum as a loop over the entries, each times its count."""
        size, row = ir.Var(self.size, INT), ir.Var(self.fresh("n"), INT)
        variables, entries = list[ir.Stmt](), list[ir.Expr]()
        for a in sum_.args:
            if rank(a.type) and not isinstance(a, ir.Var):
                variable = ir.Var(self.fresh("x"), a.type)
                variables.append(ir.Assign(variable.name, a, s.span, True, (size,)))
                a = variable
            entries.append(ir.Index(a, (ir.At(row),), indexed_type(a.type, [False])) if rank(a.type) else a)
        term = self.times(replace(s, value=replace(sum_, args=tuple(entries))), row.name)
        return (*variables, ir.For(row.name, ir.Const(1, INT), size, (term,), s.span))

    def times(self, node: Any, row: str) -> Any:
        """A statement inside a loop over rows, with its terms as often as the row counts."""
        match node:
            case ir.Increment(what="target", value=value):
                counts = ir.Var(counts_of(self.size), VECTOR)
                count = ir.Index(counts, (ir.At(ir.Var(row, INT)),), REAL)
                return replace(node, value=binary("*", count, value, REAL))
            case ir.For() | ir.If() | ir.Profile():
                return with_parts(node, lambda part: self.times(part, row))
        if has_effect(node):
            raise NotCounted
        return node


def by_predictor(call: ir.Apply) -> ir.Apply:
    """The density of a generalised linear model as that of its family with the linear predictor."""
    family, k = GLMS.get(call.callee.name, ("", 0))
    if not family or call.args[k].type != MATRIX:
        return call
    before, (x, alpha, beta), after = call.args[:k], call.args[k : k + 3], call.args[k + 3 :]
    eta = library_apply("add", [alpha, library_apply("multiply", [x, beta], VECTOR)], VECTOR)
    own = library_apply(family, [*before, eta, *after], REAL)
    known = call.data_if
    return replace(own, data_if=known and (*known[:k], known[k + 2], *known[k + 3 :]))


def sums_entries(call: ir.Apply) -> bool:
    """Whether a call is the sum of one for each entry of its arguments, of which some have entries."""
    callee, ranks = call.callee, set(call.ranks)
    alone = callee.batch == "elementwise" and not any(callee.cores)
    return callee.reduce == "sum" and alone and 1 in ranks and ranks <= {0, 1}
