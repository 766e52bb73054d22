"""The terms that sum to the target, each with the loops around it and the discrete entries it touches."""

from collections.abc import Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.walk import children, heads
from ppl.programs.rewriting import bound_in, mentions, rewrite, text_of
from ppl.records import dataclass, field
from ppl.structure.discrete.affine import tidy
from ppl.structure.discrete.normal import dependent_names
from ppl.structure.discrete.parameters import Discrete

Parameters = dict[str, Discrete]


@dataclass(frozen=True)
class Ref:
    """An entry of a discrete parameter, as a term names it; `indices` is None for one that is not known."""

    name: str
    indices: tuple[ast.Expr, ...] | None = field(compare=False)
    text: str

    @property
    def known(self) -> tuple[ast.Expr, ...]:
        assert self.indices is not None
        return self.indices


@dataclass(frozen=True, eq=False)
class Term:
    """A statement that adds to the target, the loops around it, outermost first, and whether under an if."""

    statement: ast.Statement
    loops: tuple[ast.For | ast.ForEach, ...]
    guarded: bool
    refs: tuple[Ref, ...]
    parameters: Parameters = field(repr=False)

    def of(self, name: str) -> tuple[Ref, ...]:
        return tuple(r for r in self.refs if r.name == name)


def terms(body: Sequence[ast.Statement], parameters: Parameters) -> list[Term]:
    """The terms that touch discrete parameters, in order."""
    all_terms: list[Term] = []
    names = set(parameters)

    def visit(s: ast.Statement, loops: tuple[ast.For | ast.ForEach, ...], guarded: bool) -> None:
        if not mentions(s, names):
            return
        if is_whole(s, names):
            all_terms.append(Term(s, loops, guarded, refs(s, parameters), parameters))
            return
        inside = (*loops, s) if isinstance(s, ast.For | ast.ForEach) else loops
        for part in children(s):
            visit(part, inside, guarded or isinstance(s, ast.If))

    for s in body:
        visit(s, (), False)
    return all_terms


def is_whole(s: ast.Statement, names: set[str]) -> bool:
    """Whether a statement is one term, as what it does is decided by a discrete value."""
    match s:
        case ast.For() | ast.ForEach() | ast.If():
            return mentions(heads(s), names)
        case ast.Block(statements=inner):
            own = {x.name for x in inner if isinstance(x, ast.Declaration)}
            return bool(own & (dependent_names(inner, names) - names))
        case _:
            return True


def refs(s: ast.Statement, parameters: Parameters) -> tuple[Ref, ...]:
    """The entries that a statement touches, each once."""
    own = bound_in(s)
    references: dict[Ref, None] = {}

    def look(n: ast.Node) -> ast.Node | None:
        match n:
            case ast.Indexed(base=ast.Variable(name=name), indices=indices) if name in parameters:
                rewrite(indices, look)
                references[ref(parameters[name], indices, own, parameters)] = None
                return n
            case ast.Variable(name=name) if name in parameters:
                d = parameters[name]
                references[Ref(name, () if not d.dims else None, name if not d.dims else f"{name}[?]")] = None
                return n
            case _:
                return None

    rewrite(s, look)
    return tuple(references)


def ref(d: Discrete, indices: tuple[ast.Index, ...], own: set[str], parameters: Parameters) -> Ref:
    values = [i.value for i in indices if isinstance(i, ast.SingleIndex)]
    unknown = len(values) != len(indices) or len(values) != len(d.dims) or any(map(is_several, values))
    if unknown or mentions(tuple(values), own | set(parameters)):
        return Ref(d.name, None, f"{d.name}[?]")
    values = [tidy(v) for v in values]
    return Ref(d.name, tuple(values), f"{d.name}[{', '.join(map(text_of, values))}]")


def is_several(index: ast.Expr) -> bool:
    """Whether an index picks several entries, as normal.py writes it."""
    ranges = isinstance(index, ast.Indexed) and any(isinstance(i, ast.RangeIndex) for i in index.indices)
    return ranges or isinstance(index, ast.ArrayLiteral)


def with_values(s: ast.Statement, parameters: Parameters, values: dict[str, ast.Expr]) -> ast.Statement:
    """The statement with entries, by the text of their Ref, replaced by their values."""
    own = bound_in(s)

    def value(n: ast.Node) -> ast.Node | None:
        match n:
            case ast.Indexed(base=ast.Variable(name=name), indices=indices) if name in parameters:
                return values.get(ref(parameters[name], indices, own, parameters).text)
            case ast.Variable(name=name) if name in parameters and not parameters[name].dims:
                return values.get(name)
            case _:
                return None

    return rewrite(s, value)
