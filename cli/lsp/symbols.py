"""The names in a checked program: what each means, where it is declared and where else it stands.

Tools for people read this: editors, and whatever else looks a program over.
"""

from collections.abc import Iterator, Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.calls import CUMULATIVE_SUFFIXES, DENSITY_SUFFIXES, name_of, normalised, suffix_of
from ppl.kernel.language.facts import Facts, UserMatch
from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import LAPLACE
from ppl.kernel.language.printer import argument, declared, unsized
from ppl.kernel.language.scope import BlockName, Symbol, UserFunction
from ppl.kernel.language.walk import children, walk
from ppl.records import dataclass
from ppl.source import Span

FAMILY = (*DENSITY_SUFFIXES, *CUMULATIVE_SUFFIXES)
"""The endings of functions that `y ~ name(...)` may stand for."""


@dataclass(frozen=True, eq=False)
class Name:
    """A name where it is written, at the node it belongs to.

    `meaning` is None for a word of the library, and for what the checker refused.
    """

    text: str
    span: Span
    node: ast.Node
    meaning: Symbol | UserFunction | None
    declares: bool = False


# --- Every name ----------------------------------------------------------------------------------


def names(program: ast.Program, facts: Facts) -> tuple[Name, ...]:
    """Every name of variables and functions, in the order of the text, declarations and uses alike."""
    own = {f.name: f for f in facts.functions.values()}
    by_place: dict[tuple[str, int, int], Name] = {}
    for node in walk(program):
        if (name := name_at_node(node, facts, own)) is not None:
            by_place.setdefault(place(name.span), name)  # the type of `real x, y;` belongs to both
    return tuple(by_place.values())


def name_at_node(node: ast.Node, facts: Facts, own: dict[str, UserFunction]) -> Name | None:
    match node:
        case ast.Declaration() | ast.Argument():
            return Name(node.name, node.name_span, node, facts.symbols.get(node), True)
        case ast.For() | ast.ForEach():
            return Name(node.variable, node.name_span, node, facts.symbols.get(node), True)
        case ast.FunctionDef():
            return Name(node.name, node.name_span, node, facts.functions.get(node), True)
        case ast.Variable():
            symbol = facts.symbols.get(node)
            return Name(node.name, node.span, node, symbol or own.get(normalised(node.name)))
        case ast.Call():
            takes_function = node.name in (*HIGHER_ORDER, *LAPLACE)
            return Name(node.name, name_of(node), node, None if takes_function else called(node, facts))
        case ast.Tilde():
            integrated = f"{node.distribution}_lpmf" in LAPLACE
            return Name(node.distribution, node.name_span, node, None if integrated else called(node, facts))
        case _:
            return None


def called(node: ast.Node, facts: Facts) -> UserFunction | None:
    callee = facts.calls.get(node)
    return callee.function if isinstance(callee, UserMatch) else None


def place(span: Span) -> tuple[str, int, int]:
    """File, line and column where a span begins."""
    return span.source.name, span.line, span.column


def name_at(all_names: Sequence[Name], file: str, line: int, column: int) -> Name | None:
    """The name at a place of a file, or that ends there."""
    return next((n for n in all_names if n.span.source.name == file and n.span.holds(line, column)), None)


# --- What belongs together -----------------------------------------------------------------------


def same(all_names: Sequence[Name], name: Name) -> list[Name]:
    """Every place where a variable, or a function of the program, is named.

    Functions that overload each other go together, and so do those of one distribution: `f_lpdf`, `f_lcdf`
    and the `f` of `y ~ f(...)`.
    """
    match name.meaning:
        case Symbol(span=at):
            return [
                n for n in all_names if isinstance(n.meaning, Symbol) and place(n.meaning.span) == place(at)
            ]
        case UserFunction(name=text):
            return [
                n
                for n in all_names
                if isinstance(n.meaning, UserFunction) and stem(n.meaning.name) == stem(text)
            ]
        case _:
            return []


def stem(name: str) -> str:
    """`f` of `f_lpdf`; any other name as it is."""
    suffix = suffix_of(name)
    return name[: -len(suffix) - 1] if suffix in FAMILY else name


def definition(all_names: Sequence[Name], name: Name) -> Name | None:
    """Where it is declared; of a function where its body is."""
    if isinstance(name.meaning, Symbol):
        return next((n for n in same(all_names, name) if n.declares), None)
    if not isinstance(name.meaning, UserFunction):
        return None
    meaning = name.meaning
    alike = [
        n for n in all_names
        if isinstance(n.node, ast.FunctionDef)
        and isinstance(n.meaning, UserFunction)
        and (n.meaning.name, n.meaning.args) == (meaning.name, meaning.args)
    ]  # fmt: skip
    return next((n for n in alike if isinstance(n.node, ast.FunctionDef) and n.node.body), None) or next(
        iter(alike), None
    )


# --- In words ------------------------------------------------------------------------------------


def declaration(name: Name) -> str:
    """The declaration as program text: `vector<lower=0>[J] theta;`, `real f(vector x);`."""
    match name.node:
        case ast.Declaration(type=t, name=text):
            return f"{declared(t)} {text};"
        case ast.Argument() as arg:
            return argument(arg)
        case ast.FunctionDef():
            return signature(name.node)
        case _:
            symbol = name.meaning
            return f"{symbol.type if isinstance(symbol, Symbol) else ''} {name.text}".strip()


def signature(f: ast.FunctionDef) -> str:
    """`real f_lpdf(real y | real mu)`."""
    args = [*map(argument, f.args)]
    bar = " | " if suffix_of(f.name) in FAMILY and len(args) > 1 else ", "
    return (
        f"{unsized(f.returns)} {f.name}({bar.join([*args[:1], ', '.join(args[1:])] if args[1:] else args)})"
    )


# --- Scope ---------------------------------------------------------------------------------------

Frames = tuple[ast.Node | BlockName, ...]
"""Where a name may be used: the node, or the block of the program, and those around it, outermost first."""


def frames(program: ast.Program) -> Iterator[tuple[ast.Node, Frames]]:
    """Every node that declares a variable, with the frames it is visible in."""
    for f in program.functions:
        yield from ((a, (f,)) for a in f.args)
        if f.body is not None:
            yield from inside(f.body, (f,))
    for s in (*program.data, *program.transformed_data, *program.parameters, *program.transformed_parameters):
        yield from inside(s, (program,))
    for s in program.model:
        yield from inside(s, (program, BlockName.MODEL))
    for s in program.generated_quantities:
        yield from inside(s, (program,))


def inside(s: ast.Statement, around: Frames) -> Iterator[tuple[ast.Node, Frames]]:
    if isinstance(s, ast.For | ast.ForEach | ast.Block | ast.Profile):
        around = (*around, s)
    if isinstance(s, ast.Declaration | ast.For | ast.ForEach):
        yield s, around
    for part in children(s):
        yield from inside(part, around)


ORDER = tuple(BlockName)
"""The blocks as they stand in a program."""


def visible(
    program: ast.Program, facts: Facts, block: BlockName, file: str, line: int, column: int
) -> list[tuple[Symbol, ast.Node]]:
    """The variables that may be used at a place in a block of the program, with what declares them."""
    in_scope = []
    for node, around in frames(program):
        symbol = facts.symbols.get(node)
        if symbol is None or not before(symbol, block, file, line, column):
            continue
        if all(reaches(frame, block, file, line, column) for frame in around):
            in_scope.append((symbol, node))
    return in_scope


def before(symbol: Symbol, block: BlockName, file: str, line: int, column: int) -> bool:
    """Whether it is declared above."""
    if symbol.block is not block:
        return ORDER.index(symbol.block) < ORDER.index(block)
    return symbol.span.source.name != file or (symbol.span.line, symbol.span.column) < (line, column)


def reaches(frame: ast.Node | BlockName, block: BlockName, file: str, line: int, column: int) -> bool:
    """Whether what is visible in a frame is so at a place."""
    if isinstance(frame, BlockName):
        return frame is block
    if isinstance(frame, ast.Program):
        return block is not BlockName.FUNCTIONS
    return frame.span.source.name == file and frame.span.holds(line, column)
