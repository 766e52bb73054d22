"""Typed AST to IR."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.lower_expr import Lowering, implicit_arguments, lower_expr
from ppl.kernel.ir.lower_stmt import lower_statements, own_sizes
from ppl.kernel.ir.rejections import count_rejections
from ppl.kernel.ir.sizes import size_checks
from ppl.kernel.language import ast
from ppl.kernel.language.declarations import CONSTRAINED
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.scope import UserFunction
from ppl.source import Span
from ppl.types import INT, NAMED, REAL, Tuple, Type, array_of, element_type, is_complex


def lower(program: ast.Program, facts: Facts) -> ir.Program:
    """The resolved program."""
    data = (s for s in (*program.data, *program.transformed_data) if isinstance(s, ast.Declaration))
    c = Lowering(facts, data_if={s.name: frozenset() for s in data})
    name_functions(c, program.functions)
    lowered = ir.Program(
        functions=tuple(lower_function(c, f) for f in program.functions if f.body is not None),
        data=tuple(declared_names(c, program.data)),
        transformed_data=lower_block(c, program.transformed_data),
        parameters=tuple(declared_names(c, program.parameters)),
        transformed_parameters=lower_block(c, program.transformed_parameters),
        model=lower_statements(c, program.model),
        generated_quantities=lower_block(c, program.generated_quantities),
        transformed_data_names=tuple(declared_names(c, program.transformed_data)),
        transformed_parameter_names=tuple(declared_names(c, program.transformed_parameters)),
        generated_names=tuple(declared_names(c, program.generated_quantities)),
    )
    return count_rejections(size_checks(lowered))


def lower_block(c: Lowering, statements: Sequence[ast.Statement]) -> ir.Stmts:
    """The statements, then the checks of what the block declares with constraints."""
    checked = [d for d in declared_names(c, statements) if not d.allows_all or d.items]
    return (*lower_statements(c, statements), *(ir.CheckDeclared(d.name, d, d.span) for d in checked))


# --- Functions -----------------------------------------------------------------------------------


def name_functions(c: Lowering, definitions: Sequence[ast.FunctionDef]) -> None:
    """Overloads get emitted names of their own; neither programs, passes nor the emitter use `f___`."""
    taken: set[str] = set()
    for f in definitions:
        if f.body is None:
            continue
        name, k = f"{f.name}___", 1
        while name in taken:
            k += 1
            name = f"{f.name}_{k}___"
        taken.add(name)
        c.functions[c.facts.functions[f]] = name
    for f in definitions:
        if f.body is None:  # a call may have been resolved to the forward declaration
            ahead = c.facts.functions[f]
            c.functions[ahead] = next(
                name for g, name in c.functions.items() if g.name == ahead.name and g.args == ahead.args
            )


def lower_function(c: Lowering, f: ast.FunctionDef) -> ir.Function:
    assert f.body is not None
    declared = c.facts.functions[f]
    names = tuple(a.name for a in f.args)
    body = lower_statements(inside(c, names, declared), f.body.statements, declared.returns)
    return ir.Function(c.functions[declared], names, implicit_arguments(f.name), body, f.span)


def inside(c: Lowering, names: Sequence[str], f: UserFunction) -> Lowering:
    """Within a function: its locals have a gradient as soon as one of its arguments has."""
    real = [not data and element_type(t) != INT for data, t in zip(f.data_only, f.args, strict=True)]
    data_if = {name: frozenset({name} if free else ()) for name, free in zip(names, real, strict=True)}
    return replace(c, data_if=data_if, local=frozenset().union(*data_if.values()))


# --- Declarations --------------------------------------------------------------------------------


def declared_names(c: Lowering, statements: Iterable[ast.Statement]) -> Iterable[ir.Declared]:
    for s in statements:
        if isinstance(s, ast.Declaration):
            yield declared(c, s.name, s.type, s.span)


def declared(c: Lowering, name: str, t: ast.DeclaredType, span: Span) -> ir.Declared:
    dims = tuple(lower_expr(c, d) for d in t.dims)
    if isinstance(t, ast.SizedTuple):
        items = tuple(declared(c, f"{name}.{k}", item, span) for k, item in enumerate(t.items, 1))
        whole = array_of(Tuple(tuple(i.type for i in items)), len(dims))
        return ir.Declared(name, whole, "identity", (), dims, (), span, items)
    constraint, arguments = lower_constraint(c, t)
    plain: Type = {**NAMED, **CONSTRAINED}[t.keyword]
    return ir.Declared(
        name, array_of(plain, len(dims)), constraint, arguments, dims, own_sizes(c, t), span
    )  # fmt: skip


def lower_constraint(c: Lowering, t: ast.SizedType) -> tuple[str, tuple[ir.Expr, ...]]:
    """The constraint's keyword in stdlib/constraints, and its arguments in the order it takes them."""
    if t.keyword in CONSTRAINED:
        return t.keyword, ()
    if is_complex(NAMED[t.keyword]):
        return "complex", ()
    bounds = {name: lower_expr(c, value) for name, value in ast.limits(t).items()}
    match sorted(bounds):
        case []:
            return "identity", ()
        case ["lower" | "upper" as side]:
            return side, (bounds[side],)
        case ["lower", "upper"]:
            return "lower_upper", (bounds["lower"], bounds["upper"])
        case _:
            zero, one = ir.Const(0.0, REAL), ir.Const(1.0, REAL)
            return "offset_multiplier", (bounds.get("offset", zero), bounds.get("multiplier", one))
