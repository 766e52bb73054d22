"""AST -> canonical program text: two spaces, one statement a line, only the parentheses that are needed."""

from collections.abc import Iterable, Iterator, Mapping

from ppl.kernel.language import ast
from ppl.kernel.language.scope import blocks_of

TERNARY_LEVEL, UNARY_LEVEL, POSTFIX_LEVEL = 1, 9, 11
"""How strongly operators bind beside those of PRECEDENCE: `a ? b : c`; signs and `!`; indices, calls, `'`."""
PRECEDENCE = {
    "||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6,
    "*": 7, "/": 7, "%": 7, ".*": 7, "./": 7, "%/%": 8, "\\": 8, "^": 10, ".^": 10,
}  # fmt: skip
BOUND = PRECEDENCE["+"]


def print_program(program: ast.Program) -> str:
    """The program as text that parses to the same tree.

    Example:
        >>> from ppl.kernel.language.parser import parse
        >>> from ppl.source import SourceText
        >>> print(print_program(parse(SourceText("parameters{real mu;}"))))
        parameters {
          real mu;
        }
    """
    blocks = {block.value: statements(body) for block, body in blocks_of(program).items()}
    return print_blocks({"functions": functions(program.functions), **blocks})


def print_blocks(blocks: Mapping[str, Iterable[str]]) -> str:
    """The text of blocks by name, without empty ones."""
    written = ((name, lines) for name, body in blocks.items() if (lines := list(body)))
    return "".join(f"{line}\n" for name, lines in written for line in braces(name, lines))


def braces(head: str, lines: Iterable[str]) -> Iterator[str]:
    """`head { lines }`."""
    yield f"{head} {{".lstrip()
    yield from (f"  {line}" for line in lines)
    yield "}"


# --- Functions and types -------------------------------------------------------------------------


def functions(definitions: Iterable[ast.FunctionDef]) -> Iterator[str]:
    for function in definitions:
        args = ", ".join(map(argument, function.args))
        head = f"{annotated(function)}{unsized(function.returns)} {function.name}({args})"
        if function.body is None:
            yield f"{head};"
        else:
            yield from nested(head, function.body)


def annotated(node: ast.FunctionDef | ast.Declaration) -> str:
    return "".join(f"@{annotation.text} " for annotation in node.annotations)


def argument(arg: ast.Argument) -> str:
    return f"{'data ' if arg.data_only else ''}{unsized(arg.type)} {arg.name}"


def unsized(type: ast.UnsizedType) -> str:
    array = f"array[{',' * (type.dims - 1)}] " if type.dims else ""
    items = in_tuple(map(unsized, type.items)) if type.items else ""
    return f"{array}{type.keyword}{items}"


def declared(type: ast.DeclaredType) -> str:
    array = f"array[{commas(type.dims)}] " if type.dims else ""
    match type:
        case ast.SizedTuple(items=items):
            return f"{array}tuple{in_tuple(map(declared, items))}"
        case ast.SizedType(keyword=keyword, sizes=sizes):
            bounds = ", ".join(f"{name}={tight(e, BOUND)}" for name, e in ast.limits(type).items())
            return f"{array}{keyword}{f'<{bounds}>' if bounds else ''}{f'[{commas(sizes)}]' if sizes else ''}"


# --- Statements ----------------------------------------------------------------------------------


def statements(body: Iterable[ast.Statement]) -> Iterator[str]:
    return (line for statement in body for line in lines_of(statement))


def nested(head: str, body: ast.Statement) -> Iterator[str]:
    """A head with the statement it governs, always in braces."""
    return braces(head, statements(body.statements if isinstance(body, ast.Block) else (body,)))


def lines_of(statement: ast.Statement) -> Iterator[str]:
    match statement:
        case ast.Block(statements=body):
            yield from braces("", statements(body))
        case ast.Profile(name=name, statements=body):
            yield from braces(f'profile("{name}")', statements(body))
        case ast.For(variable=variable, lower=lower, upper=upper, body=body):
            yield from nested(f"for ({variable} in {expression(lower)} : {expression(upper)})", body)
        case ast.ForEach(variable=variable, iterable=iterable, body=body):
            yield from nested(f"for ({variable} in {expression(iterable)})", body)
        case ast.While(condition=condition, body=body):
            yield from nested(f"while ({expression(condition)})", body)
        case ast.If():
            yield from conditional(statement)
        case _:
            yield f"{simple(statement)};"


def conditional(statement: ast.If) -> Iterator[str]:
    """`if`, with a chain of `else if` kept flat."""
    *then, close = nested(f"if ({expression(statement.condition)})", statement.then)
    yield from then
    match statement.otherwise:
        case None:
            yield close
        case ast.If() as chained:
            first, *rest = conditional(chained)
            yield from [f"{close} else {first}", *rest]
        case otherwise:
            yield from nested(f"{close} else", otherwise)


def simple(statement: ast.Statement) -> str:
    """A statement of one line, without its semicolon."""
    match statement:
        case ast.Declaration(type=type, name=name, value=value):
            given = "" if value is None else f" = {expression(value)}"
            return f"{annotated(statement)}{declared(type)} {name}{given}"
        case ast.Assignment(target=target, op=op, value=value):
            return f"{expression(target)} {op} {expression(value)}"
        case ast.Tilde(left=left, distribution=name, args=args, truncation=truncation):
            return f"{expression(left)} ~ {name}({commas(args)}){truncated(truncation)}"
        case ast.TargetIncrement(value=value):
            return f"target += {expression(value)}"
        case ast.JacobianIncrement(value=value):
            return f"jacobian += {expression(value)}"
        case ast.CallStatement(call=call):
            return expression(call)
        case ast.Return(value=value):
            return f"return {expression(value)}" if value is not None else "return"
        case ast.Print(args=args):
            return f"print({commas(args)})"
        case ast.Reject(args=args, fatal=fatal):
            return f"{'fatal_error' if fatal else 'reject'}({commas(args)})"
        case ast.Break() | ast.Continue():
            return statement.__class__.__name__.lower()
        case ast.Skip():
            return ""
        case _:
            raise AssertionError(statement)


def truncated(truncation: ast.Truncation | None) -> str:
    if truncation is None:
        return ""
    return f" T[{optional(truncation.lower)}, {optional(truncation.upper)}]"


# --- Expressions ---------------------------------------------------------------------------------


def expression(expr: ast.Expr) -> str:
    """An expression on one line, with the parentheses that its tree needs and no others."""
    match expr:
        case ast.IntLiteral(value=value):
            return str(value)
        case ast.RealLiteral(text=text) | ast.ImaginaryLiteral(text=text):
            return text
        case ast.StringLiteral(value=text):
            return f'"{text}"'
        case ast.Variable(name=name):
            return name
        case ast.Call(name=name, args=(first, *rest), bar=True):
            return f"{name}({expression(first)} | {commas(rest)})"
        case ast.Call(name=name, args=args):
            return f"{name}({commas(args)})"
        case ast.ArrayLiteral(items=items):
            return f"{{{commas(items)}}}"
        case ast.RowVectorLiteral(items=items):
            return f"[{commas(items)}]"
        case ast.TupleLiteral(items=items):
            return in_tuple(map(expression, items))
        case _:
            return compound(expr)


def compound(expr: ast.Expr) -> str:
    """An expression made with operators."""
    match expr:
        case ast.Binary(op="^" | ".^" as op, left=left, right=right):
            return f"{tight(left, POSTFIX_LEVEL)} {op} {tight(right, UNARY_LEVEL)}"
        case ast.Binary(op=op, left=left, right=right):
            level = PRECEDENCE[op]
            return f"{tight(left, level)} {op} {tight(right, level + 1)}"
        case ast.Unary(op=op, operand=operand):
            return f"{op}{tight(operand, UNARY_LEVEL)}"
        case ast.Ternary(condition=condition, then=then, otherwise=otherwise):
            return f"{tight(condition, TERNARY_LEVEL + 1)} ? {expression(then)} : {expression(otherwise)}"
        case ast.Transpose(operand=operand):
            return f"{tight(operand, POSTFIX_LEVEL)}'"
        case ast.Indexed(base=base, indices=indices):
            return f"{tight(base, POSTFIX_LEVEL)}[{', '.join(map(index, indices))}]"
        case ast.Projection(base=base, item=item):
            return f"{tight(base, POSTFIX_LEVEL)}.{item}"
        case _:
            raise AssertionError(expr)


def tight(expr: ast.Expr, level: int) -> str:
    """An expression as an operand that must bind at least as tightly as `level`."""
    text = expression(expr)
    return text if binding(expr) >= level else f"({text})"


def binding(expr: ast.Expr) -> int:
    match expr:
        case ast.Binary(op=op):
            return PRECEDENCE[op]
        case ast.Unary():
            return UNARY_LEVEL
        case ast.Ternary():
            return TERNARY_LEVEL
        case _:
            return POSTFIX_LEVEL


def index(index: ast.Index) -> str:
    match index:
        case ast.SingleIndex(value=value):
            return expression(value)
        case ast.RangeIndex(lower=None, upper=None):
            return ":"
        case ast.RangeIndex(lower=lower, upper=upper):
            return f"{optional(lower)}:{optional(upper)}"


def commas(items: Iterable[ast.Expr]) -> str:
    return ", ".join(map(expression, items))


def in_tuple(items: Iterable[str]) -> str:
    """The items in parentheses; a comma follows the only one."""
    first, *rest = items
    return f"({', '.join([first, *rest])})" if rest else f"({first},)"


def optional(expr: ast.Expr | None) -> str:
    return "" if expr is None else expression(expr)
