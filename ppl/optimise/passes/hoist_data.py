"""Hoist expressions of data alone: they are computed once, not in every gradient.

The statements of transformed parameters and model are walked in order.  A variable set once, outside any
loop, from data alone becomes data itself, and so do those that loops and branches set from data alone;
elsewhere the largest data-only expressions that cost anything get names.  Both move to `prepared`, which
runs in plain NumPy when the data arrive.  Under an `if` on data they move together with the `if`; under any
other condition, and in loops that are left, nothing moves that could fail, since it might never have run.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import (
    EXPRESSIONS,
    Fresh,
    Rewriter,
    assigned_names,
    changing_names,
    declared_names,
    fresh_names,
    functions_where,
    names_after,
    used_names,
    walk,
    with_parts,
    with_sure_parts,
)
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib.functions.operators import OPERATORS
from ppl.types import INT, is_tuple

Names = frozenset[str]
EFFECTS = (
    *(ir.Increment, ir.Message, ir.CallVoid, ir.Solve, ir.TargetSoFar),
    *(ir.Profile, ir.Return, ir.CheckDeclared),
)
MAY_FAIL = (ir.Index, ir.Gather, ir.Apply, ir.CallUser)
NAMED = (ir.Var, ir.Declare, ir.Assign, ir.Update, ir.Scatter, ir.CheckDeclared)
COMPARISONS = frozenset(OPERATORS[op].name for op in ("==", "!=", "<", "<=", ">", ">="))


def hoist_data(p: ir.Program) -> ir.Program:
    """Expressions that depend on data only are computed once, when the data are read."""
    body, outputs = p.log_density, frozenset(d.name for d in p.transformed_parameter_names)
    pure = pure_functions(p.functions)
    from_data = made_from_data(body, p.data_names, outputs, pure)
    h = Hoist({*p.data_names}, changing_names(body) | outputs, pure, from_data, mentions(body))
    parameters = tuple(h.declared(d) for d in p.parameters)
    left = replace(p, parameters=parameters).with_density(h.statements)
    return replace(left, prepared=(*p.prepared, *h.prepared))


@dataclass
class Hoist(Rewriter):
    """`known` names hold data, `changing` ones never do; `prepared` collects what moved."""

    known: set[str]
    changing: Names
    pure: Names = frozenset()
    """Functions that may be called early."""
    from_data: Names = frozenset()
    """Variables whose every statement moves."""
    mentions: Mapping[str, int] = field(default_factory=dict)
    """How often the program names each variable."""
    prepared: list[ir.Stmt] = field(default_factory=list)
    names: dict[ir.Expr, str] = field(default_factory=dict)
    fresh: Fresh = field(default_factory=fresh_names)
    certain: bool = True
    """Whether the code being walked is sure to run."""
    branches: int = 0
    """How many `if`s on data stand around it."""

    def statement(self, s: ir.Stmt) -> ir.Stmts:
        match s:
            case ir.Assign() if self.hoistable(s):
                self.prepared.append(s)
                self.known.add(s.name)
                return ()
            case _ if self.certain and names_after((s,)) & self.from_data:
                self.prepared.append(s)
                self.known |= names_after((s,))
                return ()
            case ir.If(condition=condition) if self.certain and self.movable(condition):
                return (self.data_branches(s),)
            case ir.If() | ir.For() | ir.Scan() | ir.While():
                return (self.uncertain(s),)
            case ir.Profile(body=body):
                return (replace(s, body=self.statements(body)),)
            case _:
                return (with_parts(s, lambda part: self.shrink(part, s.span)),)

    def hoistable(self, s: ir.Assign) -> bool:
        parts = (s.value, *s.shape)
        return self.certain and s.name not in self.changing and all(map(self.movable, parts))

    def data_branches(self, s: ir.If) -> ir.If:
        """Each branch prepares its own; names that the other would have set are 0 and never read."""
        condition = self.shrink(s.condition, s.span)
        then, then_prepared = self.branch(s.then)
        otherwise, otherwise_prepared = self.branch(s.otherwise)
        if not self.branches:  # the outermost `if` speaks for those inside it
            for name in sorted(assigned_names((*then_prepared, *otherwise_prepared))):
                self.prepared.append(ir.Assign(name, ir.Const(0, INT), s.span))
        if then_prepared or otherwise_prepared:
            self.prepared.append(ir.If(condition, tuple(then_prepared), tuple(otherwise_prepared), s.span))
        return replace(s, condition=condition, then=then, otherwise=otherwise)

    def branch(self, body: Sequence[ir.Stmt]) -> tuple[ir.Stmts, list[ir.Stmt]]:
        outer, self.prepared, names = self.prepared, [], dict(self.names)
        before, self.from_data = self.from_data, self.made_in_branch(body)
        self.branches += 1
        rest = self.statements(body)
        self.branches -= 1
        inner, self.prepared, self.names, self.from_data = self.prepared, outer, names, before
        return rest, inner

    def made_in_branch(self, body: Sequence[ir.Stmt]) -> Names:
        """Variables that the branch makes from data alone; what is named outside it keeps its statements."""
        own = mentions(body)
        elsewhere = frozenset(name for name in own if own[name] < self.mentions[name])
        return made_from_data(body, self.known, elsewhere, self.pure)

    def uncertain(self, s: ir.Stmt) -> ir.Stmt:
        """A statement whose parts may never run."""
        before, self.certain = self.certain, False
        names = dict(self.names)
        shrunk: ir.Stmt = with_parts(s, lambda part: self.inside(part, s.span))
        self.certain, self.names = before, names
        return shrunk

    def inside(self, part: Any, span: Span) -> Any:
        if isinstance(part, EXPRESSIONS):
            return self.shrink(part, span)
        return self.statement(part)[0]

    def declared(self, d: ir.Declared) -> ir.Declared:
        return replace(d, arguments=tuple(self.shrink(a, d.span) for a in d.arguments))

    def shrink(self, node: Any, span: Span) -> Any:
        """The node with its largest costly data-only expressions replaced by names."""
        if isinstance(node, EXPRESSIONS) and is_costly(node) and self.movable(node):
            return ir.Var(self.name(node, span), node.type)
        return with_sure_parts(node, lambda part: self.shrink(part, span))

    def name(self, e: ir.Expr, span: Span) -> str:
        """One name for equal expressions, however often they stand."""
        if e not in self.names:
            self.names[e] = self.fresh("data")
            self.prepared.append(ir.Assign(self.names[e], e, span, declares=True))
        return self.names[e]

    def movable(self, e: ir.Expr) -> bool:
        """Data alone go in, and evaluating it early does no harm."""
        nodes = list(walk(e))
        safe = self.certain or not any(isinstance(n, MAY_FAIL) for n in nodes)
        return safe and all(is_early(n, (self.known,), self.pure) for n in nodes)


def mentions(body: Sequence[ir.Stmt]) -> Counter[str]:
    """How often statements set or read each variable."""
    counts: Counter[str] = Counter()
    for n in walk(tuple(body)):
        match n:
            case ir.Scan(after=after, carried=carried, inputs=inputs):
                counts.update((*after, *carried, *inputs))
            case ir.For(variable=name):
                counts[name] += 1
            case _ if isinstance(n, NAMED):
                counts[n.name] += 1
    return counts


def pure_functions(functions: Sequence[ir.Function]) -> Names:
    """Those that neither print nor reject, and call none that do."""
    names = {f.name for f in functions}
    effects = ir.Message | ir.CallVoid | ir.Solve | ir.Increment
    given = {f.name for f in functions if f.gets}

    def has_effect(n: Any) -> bool:
        return isinstance(n, effects) or (
            isinstance(n, ir.CallUser) and (n.data_if is not None or n.name in given)
        )

    return frozenset(names - given - functions_where(functions, has_effect))


def made_from_data(body: Sequence[ir.Stmt], data: Collection[str], outputs: Names, pure: Names) -> Names:
    """Variables that statements set from data alone, all of these before any that stays reads them."""
    sets = [names_after((s,)) for s in body]
    names = names_after(body) - outputs
    last = {name: k for k, these in enumerate(sets) for name in these}
    stays, count = [False] * len(body), -1
    while sum(stays) > count:  # what a statement leaves to the gradient, those after it cannot read
        count = sum(stays)
        for k, s in enumerate(body):
            if not stays[k] and not (sets[k] <= names and depends_on_data(s, data, names, pure)):
                stays[k] = True
                names -= sets[k]
                names -= {name for name in used_names(s) if k < last.get(name, 0)}
    return frozenset(names)


def depends_on_data(s: ir.Stmt, data: Collection[str], names: Collection[str], pure: Names) -> bool:
    """Whether a statement reads nothing else, and has no effect but on its variables."""
    own = declared_names(s)
    return all(is_early(n, (data, names, own), pure) for n in walk(s))


def is_early(n: Any, known: Iterable[Collection[str]], pure: Names) -> bool:
    """Whether a node, what is inside it aside, can be evaluated when the data arrive."""
    match n:
        case ir.Var(name=name):
            return any(name in names for names in known)
        case ir.CallUser():
            return n.name in pure and n.data_if is None
        case ir.Apply(callee=callee, data_if=data_if):
            return not callee.implicit and data_if is None
        case _:
            return not isinstance(n, EFFECTS)


def is_costly(e: ir.Expr) -> bool:
    """Worth a name: it calls something, or picks something out of a container; not a plain `kind == 2`."""
    if is_tuple(e.type) or is_comparison(e):
        return False
    costly = ir.Apply | ir.CallUser | ir.Index | ir.Gather | ir.Promote
    return any(isinstance(n, costly) for n in walk(e))


def is_comparison(e: ir.Expr) -> bool:
    """Whether names and numbers are compared, and nothing else; so `else if` stays `elif`."""
    match e:
        case ir.Apply(callee=ir.Callee(name=name), args=args, type=t) if name in COMPARISONS and t == INT:
            return all(isinstance(a, ir.Var | ir.Const) for a in args)
        case ir.Logical(left=left, right=right):
            return is_comparison(left) and is_comparison(right)
        case _:
            return False
