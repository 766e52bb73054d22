"""The IR as text, for `ppl show --stage ir` and golden tests."""

from collections.abc import Sequence

from ppl.kernel.ir import nodes as ir
from ppl.types import Type, axes_of, is_complex

INDENT = "  "


def print_program(p: ir.Program) -> str:
    """Every block that is not empty, one statement a line."""
    parts = [function(f) for f in p.functions]
    blocks = (
        ("data", [*map(declaration, p.data)]),
        ("transformed data", body(p.transformed_data)),
        ("prepared", body(p.prepared)),
        ("parameters", [*map(declaration, p.parameters)]),
        ("transformed parameters", body(p.transformed_parameters)),
        ("model", body(p.model)),
        ("generated quantities", body(p.generated_quantities)),
    )
    parts += [f"{name}\n" + indented(lines) for name, lines in blocks if lines]
    return "\n".join(parts) + "\n"


def indented(lines: Sequence[str]) -> str:
    return "\n".join(INDENT + line for line in lines)


def function(f: ir.Function) -> str:
    return f"function {f.name}({', '.join([*f.args, *f.gets])})\n" + indented(body(f.body))


def declaration(d: ir.Declared) -> str:
    sizes = ", ".join(map(expr, (*d.dims, *d.sizes)))
    args = ", ".join(map(expr, d.arguments))
    constraint = "" if d.constraint in ("identity", "complex") else f" {d.constraint}({args})"
    return f"{d.name}: {d.type}" + (f" [{sizes}]" if sizes else "") + constraint


def body(statements: Sequence[ir.Stmt]) -> list[str]:
    return [line for s in statements for line in statement(s)]


def nested(header: str, statements: Sequence[ir.Stmt]) -> list[str]:
    return [header, *(INDENT + line for line in body(statements))]


def statement(s: ir.Stmt) -> list[str]:
    match s:
        case ir.Declare(name=name, type=t, shape=shape):
            sizes = "" if isinstance(shape, ir.TupleShape) else f" [{', '.join(map(expr, shape))}]"
            return [f"declare {name}: {t}{sizes}"]
        case ir.Assign(name=name, value=value):
            return [f"{name}{over(value.type)} = {expr(value)}"]
        case ir.Update(name=name, path=path, value=value):
            return [f"{name}{''.join(map(step, path))} = {expr(value)}"]
        case ir.Scatter(name=name, items=items, value=value, type=t, picks=picks):
            return [f"scatter {name}[{indices(axes_of(t), picks, items)}] = {expr(value)}"]
        case ir.Increment(what=what, value=value):
            return [f"{what} += {expr(value)}"]
        case ir.CallVoid(call=call):
            return [expr(call)]
        case ir.For(variable=v, lower=lower, upper=upper, body=inner):
            return nested(f"for {v} in {expr(lower)}:{expr(upper)}", inner)
        case ir.Scan():
            return scan(s)
        case ir.While(condition=condition, body=inner):
            return nested(f"while {expr(condition)}", inner)
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            first = nested(f"if {expr(condition)}", then)
            return first + (nested("else", otherwise) if otherwise else [])
        case ir.Profile(name=name, body=inner):
            return nested(f"profile {name!r}", inner)
        case ir.Return(value=value):
            return ["return" if value is None else f"return {expr(value)}"]
        case ir.Jump(word=word):
            return [word]
        case ir.Message(what=what, args=args):
            texts = (repr(a.value) if isinstance(a, ir.Text) else expr(a) for a in args)
            return [f"{what}({', '.join(texts)})"]
        case ir.CheckDeclared(declared=declared):
            return [f"check {declaration(declared)}"]


def scan(s: ir.Scan) -> list[str]:
    """The inputs and one step; the same for the batch."""
    inputs = (
        f"{name}: {expr(value)}"
        for name, value in zip((*s.carried, *s.inputs), (*s.start, *s.entries), strict=True)
    )
    last = f"next {', '.join(map(expr, s.next))}"
    return [
        f"scan {', '.join(s.after)} with {', '.join(inputs)}",
        *(INDENT + x for x in (*body(s.step), last)),
    ]


def step(s: ir.PathStep) -> str:
    return f".{s}" if isinstance(s, int) else f"[{', '.join(map(item, s))}]"


def item(i: ir.IndexItem) -> str:
    match i:
        case ir.At(index=index):
            return expr(index)
        case ir.Between(lower=lower, upper=upper):
            return ":".join("" if b is None else expr(b) for b in (lower, upper))


def over(t: Type) -> str:
    """The axes that a value varies over."""
    return f" over {', '.join(axes_of(t))}" if axes_of(t) else ""


def indices(axes: Sequence[str], picks: Sequence[ir.Expr | None], items: Sequence[ir.IndexItem]) -> str:
    """Indices along axes that have a name, `n=...`, and those of the type's own."""
    named = (f"{axis}={expr(at)}" for axis, at in zip(axes, picks, strict=True) if at is not None)
    return ", ".join([*named, *map(item, items)])


def expr(e: ir.Expr) -> str:
    """One expression; what it varies over is said where its value is given a name."""
    match e:
        case ir.Const(value=value):
            return repr(value)
        case ir.Var(name=name):
            return name
        case ir.Apply(callee=callee, args=args):
            return f"{callee.name}({', '.join(map(expr, args))})"
        case ir.CallUser(name=name, args=args, implicit=implicit):
            return f"{name}({', '.join([*map(expr, args), *implicit])})"
        case ir.Solve(solver=solver, function=function, args=args, settings=settings):
            return f"{solver}({', '.join([function, *map(expr, (*args, *settings))])})"
        case ir.Logical(op=op, left=left, right=right):
            return f"({expr(left)} {op} {expr(right)})"
        case ir.Select(condition=condition, then=then, otherwise=otherwise):
            return f"({expr(condition)} ? {expr(then)} : {expr(otherwise)})"
        case ir.Index(base=base, items=items):
            return f"{expr(base)}[{', '.join(map(item, items))}]"
        case ir.Gather(base=base, items=items, picks=picks):
            return f"{expr(base)}[{indices(axes_of(base.type), picks, items)}]"
        case ir.MakeArray(items=parts):
            return "{" + ", ".join(map(expr, parts)) + "}"
        case ir.MakeTuple(items=parts):
            return "(" + ", ".join(map(expr, parts)) + ")"
        case ir.Item(base=base, number=number):
            return f"{expr(base)}.{number}"
        case ir.Promote(value=value):
            return f"{'complex' if is_complex(e.type) else 'real'}({expr(value)})"
        case ir.TargetSoFar():
            return "target()"
