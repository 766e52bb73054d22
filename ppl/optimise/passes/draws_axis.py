"""The values of many draws at once: the draws are one more loop, around all others.

Parameters have an entry for each draw, and what is made of them is lifted along that axis as the body of a
loop is along its own (lift.py, iterations.py), loops along both at once.  What all draws share lacks it.
"""

from collections.abc import Collection

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import unknown_in, varies, varying_names
from ppl.kernel.ir.walk import in_branches, used_names, walk_statements
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.passes.batch import Batch, Dependent, DrawAxis, Lifting, LiftOptions, OneAxis, helper
from ppl.optimise.passes.inline import NotInlinable, has_return, returns_as_assignments
from ppl.optimise.passes.iterations import declared, run
from ppl.optimise.passes.jumps import has_exit, with_exit_flags
from ppl.optimise.passes.loop_body import set_once, without_continue
from ppl.optimise.passes.vectorise_loops import Vectorise, small_entries
from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.stdlib import batching
from ppl.types import INT, Type, is_tuple, over_axes, rank

DRAW = ir.Var(ir.DRAW, over_axes(INT, ir.DRAW))
"""The numbers of the draws, which the emitted functions are given."""
Mask = tuple[bool, ...]
"""Which arguments of a function vary from draw to draw."""


def draws_axis(p: ir.Program, shared: Collection[str] = ()) -> ir.Program:
    """Every value of the log density that may differ from draw to draw gets an axis of the draws.

    Raises DrawByDraw as `lifted_density` does.
    """
    return lifted_density(p, shared)[0]


def lifted_density(p: ir.Program, shared: Collection[str] = ()) -> "tuple[ir.Program, Functions]":
    """Parameters, transformed parameters and the target lifted over the draws, and the functions so lifted.

    Of the `shared` parameters all draws have the same value.

    Raises:
        DrawByDraw: a statement cannot be lifted over them; the message says why.
    """
    own_functions = functions_of(p)
    start = {d.name for d in p.parameters if d.name not in shared}
    if any(used_names(d.arguments) & start for d in p.parameters if d.name in shared):
        raise DrawByDraw("the bounds of a parameter that draws share differ between them")
    names = varying_names(p.log_density, start)
    before, after = (left_together(own_functions, b, names) for b in (p.transformed_parameters, p.model))
    c = lifting(own_functions, (*before, *after), start, p.types)
    try:
        parameters = tuple(parameter(c, d) if d.name in start else d for d in p.parameters)
        transformed = c.aside(lambda: run(c, root_of(c), before))
        model = c.aside(lambda: run(c, root_of(c), after))
    except (Dependent, NotInlinable, OneAxis) as why:
        raise DrawByDraw(str(why)) from None
    functions = (*own_functions.vectorise.of_functions(p.functions), *own_functions.lifted.values())
    lifted = replace(p.without_generated, functions=functions, parameters=parameters)
    return replace(lifted, transformed_parameters=transformed, model=model), own_functions


# --- What is known -------------------------------------------------------------------------------


@dataclass
class Functions:
    """The functions of a program, and those lifted over the draws, by which arguments vary.

    `parts` are the branches that a subset of the draws takes; `draw_by_draw` are calls made once for each
    draw, with the reason.
    """

    plain: dict[str, ir.Function]
    vectorise: Vectorise
    lifted: dict[tuple[str, Mask], ir.Function] = field(default_factory=dict)
    parts: list[Span] = field(default_factory=list)
    draw_by_draw: list[tuple[Span, str]] = field(default_factory=list)

    def over(self, name: str, mask: Mask) -> str:
        """The name of the function for such arguments; its answer varies.

        Raises:
            Dependent: it cannot be lifted over the draws.
        """
        if (name, mask) not in self.lifted:
            f = self.plain[name]
            new = replace(f, name=f"{name}{''.join('nd'[m] for m in mask)}__")
            self.lifted[name, mask] = new  # found by calls of itself
            try:
                self.lifted[name, mask] = replace(new, body=function_body(self, f, mask))
            except (Dependent, NotInlinable, OneAxis) as why:
                del self.lifted[name, mask]
                raise Dependent(str(why)) from None
        return self.lifted[name, mask].name

    def note(self, span: Span, reason: str) -> None:
        """Record a call that is made once for each draw."""
        self.draw_by_draw.append((span, reason))


def functions_of(p: ir.Program, options: LiftOptions | None = None, scans: bool = True) -> Functions:
    """Its functions, none lifted yet."""
    plain = {f.name: f for f in p.functions}
    unknown, of_few = unknown_in(p, True), small_entries(p)
    v = Vectorise(plain, unknown, options or LiftOptions(), scans=scans, of_few=of_few)
    return Functions(plain, v)


def lifting(
    functions: Functions, body: ir.Stmts, start: set[str], types: dict[str, Type], v: Vectorise | None = None
) -> Lifting:
    """A lifting of statements over the draw axis; the variables of `start` have one value for each draw."""
    root = Batch({ir.DRAW: DRAW}, {}, dict.fromkeys(start, (ir.DRAW,)), draws=ir.DRAW)
    v = v or functions.vectorise
    types = types | {s.name: s.type for s in walk_statements(body) if isinstance(s, ir.Declare)}
    types |= {s.name: s.value.type for s in walk_statements(body) if isinstance(s, ir.Assign) and s.declares}
    draws = DrawAxis(root, varying_names(body, {*start}), functions, types, v.loops)
    span = body[0].span if body else next(iter(functions.plain.values())).span if functions.plain else None
    return Lifting(span, v.options, once=set_once(body), draws=draws)  # type: ignore[arg-type]


def root_of(c: Lifting) -> Batch:
    assert c.draws is not None
    return c.draws.root


def parameter(c: Lifting, d: ir.Declared) -> ir.Declared:
    """A declaration with its bounds lifted over the draws."""
    parts: list[ir.Declared] = []
    c.bounds = True
    if c.aside(lambda: parts.append(declared(c, root_of(c), d, (ir.DRAW,)))):
        raise Dependent("the bounds of a parameter are not one expression")
    c.bounds = False
    return parts[0]


# --- Jumps and functions -------------------------------------------------------------------------


def left_together(functions: Functions, body: ir.Stmts, start: set[str]) -> ir.Stmts:
    """The statements, where some draws would leave a loop before others with flags; `start` varies before."""
    names = varying_names(body, {*start})

    def diverges(s: ir.Loop) -> bool:
        decides = s.condition if isinstance(s, ir.While) else (s.lower, s.upper)
        conditions = (n.condition for n in walk_statements(s.body) if isinstance(n, ir.If))
        return has_exit(s) and any(varies(e, names) for e in (decides, *conditions))

    return with_exit_flags(body, functions.vectorise.options.fresh, diverges)


def function_body(functions: Functions, f: ir.Function, mask: Mask) -> ir.Stmts:
    """The statements of a function some of whose arguments vary."""
    varying = {a for a, m in zip(f.args, mask, strict=True) if m}
    body = left_together(functions, f.body, varying)
    body = one_exit(replace(f, body=body), varying_names(body, {*varying}))
    first = next(a for a in f.args if a in varying)
    numbers = helper(batching.positions, (ir.Var(first, DRAW.type),), DRAW.type)
    begin = ir.Assign(DRAW.name, numbers, f.span, declares=True)
    c = lifting(functions, body, varying, {}, functions.vectorise.inside(f))
    return (begin, *c.aside(lambda: run(c, root_of(c), body)))


def one_exit(f: ir.Function, names: set[str]) -> ir.Stmts:
    """The body, with one return at its end where draws would leave it at different places."""
    parting = any(
        isinstance(s, ir.If | ir.While) and varies(s.condition, names) and has_return(s)
        for s in walk_statements(f.body)
    )
    if not parting:
        return f.body
    value = next(s.value for s in walk_statements(f.body) if isinstance(s, ir.Return))
    if value is None:
        return without_continue(in_branches(f.body, left_early))
    if rank(value.type) or is_tuple(value.type):
        raise Dependent("a function returns from different places")
    result = ir.Var("returned__", value.type)
    body = returns_as_assignments(f.body, result.name)
    return (ir.Declare(result.name, result.type, (), f.span), *body, ir.Return(result, f.span))


def left_early(s: ir.Stmt) -> ir.Stmts:
    """A `return` without a value as the `continue` of a loop that is run once."""
    if isinstance(s, ir.Return):
        return (ir.Jump("continue", s.span),)
    if has_return(s):
        raise Dependent("a function returns from inside a loop")
    return (s,)
