"""A resolved program as a Python module.

The module of `emit` has one function for each thing a posterior can be asked, those of other forms have a
few of them; `lib` is the standard library bound to a namespace, `d` holds the data and what was computed
from them:

    read_data(d, read)          declares each variable of the data block, in order
    transform_data(d, rng)      runs transformed data
    prepare(d)                  what the passes moved out of the gradient
    layout(d, place)            declares each parameter, in order
    log_joint(d, u, with_jacobian)
    constrained(d, u)           -> values of parameters and of transformed parameters
    unconstrained(d, x)         -> the blocks of u
    generated(d, x, rng)        -> values of generated quantities
    shapes(d, declare)          declares each transformed parameter and generated quantity
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress

from ppl.kernel.emit.emit_expr import expr, names_in, tuple_of
from ppl.kernel.emit.emit_stmt import leaves, whole_body
from ppl.kernel.emit.load import Emitted
from ppl.kernel.emit.text import Writer, python_name, tuple_text
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.varying import unknown_names
from ppl.kernel.ir.walk import functions_where, known_data, prepared_names, used_names, walk
from ppl.types import is_complex


def emit(p: ir.Program) -> Emitted:
    """The module of a program."""
    w = Writer()
    density = emit_read_data, emit_transform_data, emit_prepare, emit_layout, emit_log_joint, emit_variants
    variables = emit_constrained, emit_unconstrained, emit_generated, emit_shapes
    for write in (emit_functions, *density, *variables):
        write(w, p)
    return emitted_density(w, p)


def emit_density(
    p: ir.Program, propto: bool = False, by_functions: bool = False, draws: bool = False
) -> Emitted:
    """The module of a program that is asked for its log density alone: `prepare` and `log_joint`.

    With `propto`, densities that may drop constants do; `by_functions`, branches of the log joint that
    parameters decide are functions (see emit_branches). With `draws`, passes/draws_axis.py made the program:

    log_joint(d, u, with_jacobian, draw__)  -> the log joint of every draw, or one number for all

    Then `u` is a list of the blocks of the parameters, each with the axis of the draws, which `draw__`
    numbers.
    """
    readers = functions_where(p.functions, lambda n: isinstance(n, ir.TargetSoFar))
    w = Writer(by_functions=by_functions, target_readers=readers)
    emit_functions(w, p)
    emit_prepare(w, p)
    w.propto = propto
    emit_log_joint(w, p, draws)
    emit_variants(w, p)
    return emitted_density(w, p)


def emitted_density(w: Writer, p: ir.Program) -> Emitted:
    """The emitted module, and the names that the log joint reads."""
    return replace(emitted(w, p), reads=log_joint_reads(p), loads=data_reads(p))


def emitted(w: Writer, p: ir.Program) -> Emitted:
    """The emitted module, from its first line to its last."""
    text = "\n".join(w.lines).strip("\n") + "\n"
    return Emitted(text, tuple(w.spans), dict(w.bindings), at_points=p.at_points, packs=p.packs)


def emit_functions(w: Writer, p: ir.Program) -> None:
    for f in p.functions:
        emit_function(w, f)


def emit_variants(w: Writer, p: ir.Program) -> None:
    """The functions that the target calls without their constants; writing one may ask for another."""
    functions = {f.name: f for f in p.functions}
    written = 0
    while written < len(w.variants):
        (name, data), new_name = list(w.variants.items())[written]
        f = functions[name]
        with w.having(data_arguments=frozenset(compress(f.args, data))):
            emit_function(w, replace(f, name=new_name))
        written += 1


def emit_function(w: Writer, f: ir.Function) -> None:
    unknown = unknown_names(f.body, f.args) if w.by_functions else None
    header = f"def {f.name}({', '.join([*map(python_name, f.args), *f.gets])}):"
    inside = w.having(unknown=unknown, has_target="target" in f.gets, span=f.span)
    with inside, w.block(header), w.knowing(f.args):
        whole_body(w, f.body)


# --- Data ----------------------------------------------------------------------------------------


def log_joint_reads(p: ir.Program) -> frozenset[str]:
    """The names that the log joint reads from `d`, the numbers of its rows included."""
    used = body_names(p, p.log_density) & known_data(p)
    return frozenset({*map(python_name, used), *(["rows"] if p.row_axes else [])})


def data_reads(p: ir.Program) -> frozenset[str]:
    """The names that `prepare` and the log joint read from `d`, less those that `prepare` sets."""
    used = frozenset(map(python_name, used_names(p.prepared) & known_data(p)))
    return (used | log_joint_reads(p)) - frozenset(map(python_name, prepared_names(p)))


def load(w: Writer, names: Iterable[str], used: set[str]) -> None:
    """Bring what a function uses of the data into local variables."""
    read = [python_name(n) for n in names if n in used]
    if read:
        w.line(f"{', '.join(read)} = {', '.join(f'd.{name}' for name in read)}")


def store(w: Writer, names: Iterable[str]) -> None:
    for name in map(python_name, names):
        w.line(f"d.{name} = {name}")


def declaration(w: Writer, d: ir.Declared) -> str:
    """name, dims, sizes, arguments of a declaration as the arguments of a call."""
    dims, sizes = tuple_of(w, d.dims), tuple_of(w, d.sizes)
    return f"{d.name!r}, {dims}, {sizes}" + "".join(f", {expr(w, a)}" for a in d.arguments)


def emit_read_data(w: Writer, p: ir.Program) -> None:
    with w.block("def read_data(d, read):"):
        for d in p.data:
            with w.at(d.span):
                declare_data(w, d)


def declare_data(w: Writer, d: ir.Declared) -> None:
    """Each leaf is read by itself; the sizes of one may use the values of those before."""
    name = python_name(d.name)
    for leaf, _ in leaves(d, name):
        w.line(f"{python_name(leaf.name)} = read({declaration(w, leaf)})")
    if d.items:
        w.line(f"{name} = {tuple_value(d)}")
    w.line(f"d.{name} = {name}")


def tuple_value(d: ir.Declared, outer: int = 0, draws: bool = False) -> str:
    """A tuple, or an array of them, made of its leaves, each in a variable of its own."""
    if not d.items:
        return python_name(d.name)
    axes = outer + len(d.dims)
    items = [tuple_value(item, axes, draws) for item in d.items]
    return f"lib.tuples({axes}, {int(draws)}, {', '.join(items)})" if axes else tuple_text(items)


def emit_transform_data(w: Writer, p: ir.Program) -> None:
    with w.block("def transform_data(d, rng):"):
        load(w, [d.name for d in p.data], used_names(p.transformed_data))
        whole_body(w, p.transformed_data)
        store(w, [d.name for d in p.transformed_data_names])


def emit_prepare(w: Writer, p: ir.Program) -> None:
    with w.block("def prepare(d):"):
        names = prepared_names(p)
        load(w, sorted(known_data(p) - names), used_names(p.prepared))
        whole_body(w, p.prepared)
        store(w, sorted(names))


# --- Parameters ----------------------------------------------------------------------------------


def parameter_leaves(p: ir.Program) -> list[ir.Declared]:
    return [leaf for d in p.parameters for leaf, _ in leaves(d, d.name)]


def size_names(declared: Iterable[ir.Declared]) -> set[str]:
    return used_names(tuple(e for d in declared for e in (*d.dims, *d.sizes)))


def emit_layout(w: Writer, p: ir.Program) -> None:
    with w.block("def layout(d, place):"):
        load(w, sorted(known_data(p)), size_names(parameter_leaves(p)))
        for d in p.parameters:
            with w.at(d.span):
                w.line(f"place({place_text(w, d)})")


def place_text(w: Writer, d: ir.Declared) -> str:
    """name, constraint, array dims, own sizes, and the same for each item of a tuple."""
    items = "".join(f", ({place_text(w, item)})" for item in d.items)
    return f"{d.name!r}, {d.constraint!r}, {tuple_of(w, d.dims)}, {tuple_of(w, d.sizes)}{items}"


def emit_parameters(w: Writer, p: ir.Program, jacobian: bool, draws: bool = False) -> None:
    """Each parameter from its place in `u`, of every draw or one; its log-Jacobian too where it counts.

    Where it does, in the log joint, a pack is taken as a whole.
    """
    packed = {d: (name, k) for name, members in p.packs for k, d in enumerate(members)} if jacobian else {}
    alone = read_alone(p) if packed else set()
    for d in p.parameters:
        with w.at(d.span):
            if d.name in packed:
                name, k = packed[d.name]
                if not k:
                    constrain(w, replace(d, name=name), jacobian)
                if d.name in alone:
                    w.line(f"{python_name(d.name)} = {name}[{':, ' * draws}{k}]")
                continue
            for leaf, _ in leaves(d, d.name):
                constrain(w, leaf, jacobian)
            if d.items:
                w.line(f"{python_name(d.name)} = {tuple_value(d, draws=draws)}")
            for axis in (axis for name, axis in p.row_axes if name == d.name):
                where = ":, " * (axis + int(draws)) + "d.rows"
                w.line(f"{python_name(d.name)} = {python_name(d.name)}[{where}]")


def read_alone(p: ir.Program) -> set[str]:
    """The names that the log joint reads otherwise than in a pack."""
    packs = {members for _, members in p.packs}
    whole = (tuple(d.arguments for d in parameter_leaves(p)), p.log_density)
    count = Counter(n.name for n in walk(whole) if isinstance(n, ir.Var))
    for n in walk(whole):
        if isinstance(n, ir.MakeArray) and (names := names_in(n)) in packs:
            count.subtract(names)
    return {*(+count)}


def constrain(w: Writer, d: ir.Declared, jacobian: bool) -> None:
    name, place = python_name(d.name), f"u, d.{'' if jacobian else 'own_'}places[{d.name!r}]"
    if d.constraint == "identity":
        w.line(f"{name} = lib.take({place})")
        return
    args = "".join(f", {expr(w, a)}" for a in d.arguments)
    w.line(f"{name}, j__ = lib.constrain_{d.constraint}({place}{args})")
    if jacobian and d.constraint != "complex":
        w.line("jacobian.append(j__)")


def body_names(p: ir.Program, body: ir.Stmts = ()) -> set[str]:
    """The names that statements and the bounds of the parameters read."""
    return used_names((tuple(d.arguments for d in parameter_leaves(p)), body))


def emit_log_joint(w: Writer, p: ir.Program, draws: bool = False) -> None:
    parameters, body = {d.name for d in (*p.parameters, *parameter_leaves(p))}, p.log_density
    unknown = unknown_names(body, parameters) if w.by_functions else None
    header = f"def log_joint(d, u, with_jacobian{', draw__' if draws else ''}):"
    packs = {members: name for name, members in p.packs}
    with w.having(unknown=unknown, has_target=True, packs=packs), w.block(header):
        load(w, sorted(known_data(p)), body_names(p, body))
        w.line("target = lib.terms()")  # which target() reads, Jacobian and all
        w.line("jacobian = target if with_jacobian else lib.terms()")
        emit_parameters(w, p, jacobian=True, draws=draws)
        with w.knowing(known_data(p) | parameters):
            whole_body(w, body)
        w.line("return lib.sum_terms(target)")


def emit_over_draws(p: ir.Program) -> Emitted:
    """The module of a program that passes/draws_variables.py made, with two functions:

    constrained(d, u, draw__)     -> values of parameters and of transformed parameters
    generated(d, x, rng, draw__)  -> values of generated quantities

    `u` has a row for each of the draws, which `draw__` numbers from 1.
    """
    w = Writer()
    emit_functions(w, p)
    emit_constrained(w, p, draws=True)
    emit_generated(w, p, draws=True)
    return emitted(w, p)


def emit_constrained(w: Writer, p: ir.Program, draws: bool = False) -> None:
    with w.block(f"def constrained(d, u{', draw__' if draws else ''}):"):
        load(w, sorted(known_data(p)), body_names(p, p.transformed_parameters))
        w.line("target = jacobian = lib.terms()")
        emit_parameters(w, p, jacobian=False, draws=draws)
        w.line(f"values = {dict_text(p.parameters)}")
        w.line("yield values")
        whole_body(w, p.transformed_parameters)
        w.line(f"yield {dict_text(p.transformed_parameter_names)}")


def dict_text(declared: Sequence[ir.Declared]) -> str:
    return "{" + ", ".join(f"{d.name!r}: {python_name(d.name)}" for d in declared) + "}"


def emit_unconstrained(w: Writer, p: ir.Program) -> None:
    flat = parameter_leaves(p)
    with w.block("def unconstrained(d, x):"):
        load(w, sorted(known_data(p)), body_names(p))
        for d in flat:
            with w.at(d.span):
                args = "".join(f", {expr(w, a)}" for a in d.arguments)
                w.line(f"{python_name(d.name)} = x[{d.name!r}]")
                arguments = f"{d.name!r}, {python_name(d.name)}, d.own_places[{d.name!r}]{args}"
                w.line(f"yield lib.free_{d.constraint}({arguments})")
        if not flat:
            w.line("yield from ()")


# --- Generated quantities ------------------------------------------------------------------------


def emit_generated(w: Writer, p: ir.Program, draws: bool = False) -> None:
    declared = [*p.parameters, *p.transformed_parameter_names]
    used = used_names(p.generated_quantities)
    with w.block(f"def generated(d, x, rng{', draw__' if draws else ''}):"):
        load(w, sorted(known_data(p)), used)
        for d in declared:
            if d.name in used:
                w.line(f"{python_name(d.name)} = x[{d.name!r}]")
        whole_body(w, p.generated_quantities)
        w.line(f"return {dict_text(p.generated_names)}")


def emit_shapes(w: Writer, p: ir.Program) -> None:
    groups = (
        ("parameters", p.parameters),
        ("transformed", p.transformed_parameter_names),
        ("generated", p.generated_names),
    )
    flat = [leaf for _, group in groups for d in group for leaf in all_leaves(d)]
    with w.block("def shapes(d, declare):"):
        load(w, sorted(known_data(p)), size_names(flat))
        for group, declared in groups:
            for d in declared:
                with w.at(d.span):
                    w.line(f"declare({group!r}, {shape_text(w, d)})")


def all_leaves(d: ir.Declared) -> list[ir.Declared]:
    return [d, *(leaf for item in d.items for leaf in all_leaves(item))]


def shape_text(w: Writer, d: ir.Declared) -> str:
    """name, array dims, own sizes, the same for each item of a tuple, and whether it is complex."""
    items = tuple_text(f"({shape_text(w, item)})" for item in d.items)
    pairs = ", True" if is_complex(d.type) else ""
    return f"{d.name!r}, {tuple_of(w, d.dims)}, {tuple_of(w, d.sizes)}, {items}{pairs}"
