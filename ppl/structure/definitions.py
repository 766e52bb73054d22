"""Definitions of the variables of a program, and the values that these read."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.scope import BlockName, Symbol
from ppl.kernel.language.walk import children, heads, parts, variables, walk
from ppl.records import dataclass
from ppl.types import INT

Exprs = tuple[ast.Expr, ...]
AstLoop = ast.For | ast.ForEach | ast.While
DATA_BLOCKS = (BlockName.DATA, BlockName.TRANSFORMED_DATA)
SIZES = ("rows", "cols", "size", "num_elements", "dims")


@dataclass(frozen=True)
class Definition:
    """`value` goes into entry `at` of a variable, inside `loops`; `decided` by conditions and iterables."""

    value: ast.Expr
    at: Exprs
    loops: tuple[AstLoop, ...]
    decided: Exprs


Definitions = Mapping[Symbol, list[Definition]]


def definitions_of(body: Sequence[ast.Statement], facts: Facts) -> Definitions:
    """Every value that the statements give to a variable."""
    definitions = defaultdict[Symbol, list[Definition]](list)

    def read(s: ast.Statement, loops: tuple[AstLoop, ...], decided: Exprs) -> None:
        match s:
            case ast.Declaration(value=value) if value is not None:
                definitions[facts.symbols[s]].append(Definition(value, (), loops, decided))
            case ast.Assignment(target=target, value=value):
                for variable, at in targets(target, facts):
                    definitions[facts.symbols[variable]].append(Definition(value, at, loops, decided))
            case _:
                loops = (*loops, s) if isinstance(s, AstLoop) else loops
                if isinstance(s, ast.ForEach):
                    definitions[facts.symbols[s]].append(Definition(s.iterable, (), loops, decided))
                within = decided if isinstance(s, ast.For) else (*decided, *heads(s))
                for part in children(s):
                    read(part, loops, within)

    for s in body:
        read(s, (), ())
    return definitions


def targets(target: ast.Expr, facts: Facts) -> Iterator[tuple[ast.Variable, Exprs]]:
    """The variables that an assignment changes, and the entry as far as single indices tell."""
    match target:
        case ast.Variable():
            yield target, ()
        case ast.Indexed(base=base, indices=indices):
            at = [i.value for i in indices if isinstance(i, ast.SingleIndex)]
            plain = len(at) == len(indices) and all(facts.types[e] == INT for e in at)
            for variable, before in targets(base, facts):
                yield variable, (*before, *at) if plain else before
        case ast.Projection(base=base):
            yield from ((variable, ()) for variable, _ in targets(base, facts))
        case ast.TupleLiteral(items=items):
            for item in items:
                yield from targets(item, facts)


def readings(e: ast.Expr, facts: Facts) -> Iterator[ast.Expr]:
    """The variables, or entries of them, whose values are read: not indices, nor single ints (sizes)."""
    match e:
        case ast.Variable():
            if e in facts.symbols and facts.types[e] != INT:  # a function's name is no variable
                yield e
        case ast.Indexed():
            yield from [e] if isinstance(root(e), ast.Variable) else readings(root(e), facts)
        case ast.Call(name=name) if name in SIZES:
            return
        case _:
            for part in parts(e):
                yield from readings(part, facts)


def root(e: ast.Expr) -> ast.Expr:
    """The variable that is indexed."""
    while isinstance(e, ast.Indexed):
        e = e.base
    return e


def symbols_read(e: ast.Expr, facts: Facts) -> set[Symbol]:
    """The variables whose values are read."""
    return {facts.symbols[v] for x in readings(e, facts) if isinstance(v := root(x), ast.Variable)}


def symbols_in(node: ast.Node | Sequence[ast.Node], facts: Facts) -> set[Symbol]:
    """The variables that are mentioned."""
    return {facts.symbols[v] for v in variables(node) if v in facts.symbols}


def leaving(s: ast.Statement) -> Iterator[ast.If]:
    """The branches inside a statement that leave an iteration of a loop around it."""
    match s:
        case ast.If() if has_jump(s):
            yield s
        case ast.Block(statements=body) | ast.Profile(statements=body):
            for each in body:
                yield from leaving(each)


def has_jump(s: ast.Statement) -> bool:
    """Whether a branch decides whether a loop goes on."""
    return isinstance(s, ast.If) and any(isinstance(n, ast.Break | ast.Continue) for n in walk(s))


def name_of(left: ast.Expr) -> str:
    """The variable of which a density is, or of entries of which."""
    base = root(left)
    if isinstance(base, ast.Call) and base.args:
        base = root(base.args[0])
    return base.name if isinstance(base, ast.Variable) else ""
