"""A posterior as a function of JAX that stands alone: its log density and transforms, as text.

The program is traced as before JAX compiles it, and every operation of the trace becomes an expression. What
belongs to one statement stands under a comment with its line in the program.
"""

import builtins
import keyword
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
import scipy.special
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import ClosedJaxpr, Literal, Var

from ppl.arrays import Node
from ppl.density.log_density import LogDensity
from ppl.jax_backend.data import is_argument, split
from ppl.jax_backend.density import log_joint_of, prepared
from ppl.jax_backend.incomplete import VALUES
from ppl.jax_backend.namespace import JAX, OWN_SPECIAL, UNTRACEABLE, TracedModule
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.primitives import WRITERS, OperandText, written
from ppl.jax_backend.target import UNTRACEABLE as CANNOT_TRACE
from ppl.jax_backend.target import reason
from ppl.kernel.emit.library import of_every_program
from ppl.kernel.emit.load import Code
from ppl.kernel.emit.runtime import ParameterPlace
from ppl.kernel.emit.text import tuple_text
from ppl.optimise.forms import FOR_JAX
from ppl.programs.fresh_names import FreshNames
from ppl.records import dataclass, field, replace

LONGEST = 70
"""Characters of an expression that stands within another one."""
INLINED = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_vmap_call": "call"}
INLINED |= {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}
"""Operations that are a function of their own, and the parameter that holds it."""
RESERVED = ("u", "data", "jax", "jnp", "lax", "inf", "nan", "log_density", *keyword.kwlist, *dir(builtins))
SAME = ("optimization_barrier", "copy", "copy_p")
Arrays = Mapping[str, np.ndarray]


def standalone(posterior: LogDensity) -> str:
    """Text with the dict `data` and the function `log_density(u, data=data)`, for `jax.grad`.

    Raises:
        NotTraceable: the program does what JAX cannot, or needs an operation that has no short form in JAX.
    """
    code, d = posterior.model.code(FOR_JAX), prepared(posterior.model, posterior.prepared)
    shape, arguments = split(d, code.emitted.reads, "biu")
    read = {name: vars(d)[name] for name in code.emitted.reads}
    leaves = jax.tree_util.tree_flatten_with_path(read)[0]
    names = ["_".join(str(_key(k)) for k in path) for path, leaf in leaves if is_argument(leaf, "biu")]

    names_of = {place.order: name for name, place in d.places.items()}
    named = {
        name: _named(function, names_of)
        for name, function in of_every_program(PLAIN, code.softplus).items()
        if name.startswith("constrain_")
    }

    def density(given: list[Any], u: Any) -> Any:
        return log_joint_of(code, PLAIN, shape.with_arguments(given), u, True, **named)

    with jax.enable_x64(True):
        try:
            traced = jax.make_jaxpr(density)(arguments, np.zeros(posterior.param_unc_num()))
        except CANNOT_TRACE as error:
            raise NotTraceable(reason(error)) from None
        known = {name: np.asarray(value) for name, value in posterior.observed.items()}
        used = dict(zip(names, arguments, strict=True))
        lines = _Lines(code, posterior.source.text.split("\n"), used, known)
        given = [OperandText(name, np.shape(x)) for name, x in used.items()]
        body, (answer,) = lines.function(
            traced, [*given, OperandText("u", (posterior.param_unc_num(),))], "    "
        )
        reads = [f'    {name} = data["{name}"]' for name in lines.data]
        text = _definitions(posterior, lines.data, [*reads, *body, f"    return {answer}"])
        _require_gradient(posterior, text)
    return HEADER.format(name=posterior.source.name) + text


def _require_gradient(posterior: LogDensity, text: str) -> None:
    """NotTraceable where JAX's gradient of the text is not the program's."""
    u = np.random.default_rng(0).uniform(-0.5, 0.5, posterior.param_unc_num())
    expected = posterior.log_density_gradient(u)[1]
    names: dict[str, Any] = {"jax": jax, "jnp": jnp, "lax": jax.lax, "inf": np.inf, "nan": np.nan}
    exec(text, names)
    found = np.asarray(jax.jit(jax.grad(names["log_density"]))(u))
    if np.isfinite(expected).all() and not np.allclose(found, expected, rtol=1e-6, atol=1e-6):
        raise NotTraceable("JAX's derivative is not finite, or differs from the program's at a test point")


def _value(node: Node, args: tuple[Any, ...]) -> Any:
    """The function itself, whose derivative JAX finds, in place of one with formulas for derivatives."""
    try:
        return node.reduced(JAX, VALUES.get(node.value, node.value)(PLAIN, *args))
    except UNTRACEABLE:
        raise NotTraceable(f"`{node.__name__}` is computed outside of JAX") from None


ITS_OWN = ("expit", "gammaln", "digamma")
"""Special functions as JAX has them, of which ours differ in speed alone."""
SPECIAL = {name: function for name, function in OWN_SPECIAL.items() if name not in ITS_OWN}
PLAIN = replace(JAX, node=_value, special=TracedModule(jax.scipy.special, scipy.special, SPECIAL))
"""JAX without derivatives of the library's own."""


def _named(constrain: Callable[..., Any], names: Mapping[int, str]) -> Callable[..., Any]:
    """A constraint whose value has the parameter's name in the trace; `names` are by the order of places."""

    def with_name(u: Any, place: ParameterPlace, *args: Any) -> Any:
        x, log_jacobian = constrain(u, place, *args)
        return checkpoint_name(x, names[place.order]), log_jacobian

    return with_name


def _key(k: Any) -> Any:
    """A name of data, or a place in a tuple of them, counted from 1."""
    return k.key if hasattr(k, "key") else k.idx + 1


HEADER = '''"""The log density of {name}, by JAX alone."""

import jax
import jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)
inf, nan = jnp.inf, jnp.nan

'''


def _definitions(posterior: LogDensity, data: Arrays, body: Sequence[str]) -> str:
    entries = [f'    "{name}": {_array(x)},' for name, x in data.items()]
    dim, named = posterior.param_unc_num(), [*posterior.param_unc_names()]
    free = ", ".join(named if dim < 5 else [*named[:3], "...", named[-1]])
    text = [
        "data = {",
        *entries,
        "}",
        "",
        "",
        "def log_density(u, data=data):",
        f'    """At the unconstrained u, shape ({dim},): {free}; Jacobians included."""',
        *body,
    ]
    return "\n".join(text) + "\n"


def _array(x: np.ndarray) -> str:
    values = f"jnp.array({x.tolist()!r}" if x.size else f"jnp.zeros({x.shape}"
    if x.size > 1 and (x == x.flat[0]).all():
        values = f"jnp.full({x.shape}, {x.flat[0].item()!r}"
    return f"{values}, dtype=jnp.{x.dtype.name})"


@dataclass(eq=False)
class _Operation:
    """One operation of the trace, or a value at hand (`text`) where it has no name."""

    shape: tuple[int, ...]
    name: str = ""
    operands: "tuple[Known, ...]" = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    types: tuple[Any, ...] = ()
    line: int = 0
    text: OperandText | None = None
    uses: int = 0
    called: str = ""
    """The parameter that it is, where it is one."""
    names_line: bool = False
    """Whether it is the last of the emitted line, so that it is called as the line calls its answer."""
    outside: bool = False
    """Whether a value of another line, or code of its own, uses it."""


@dataclass(frozen=True, eq=False)
class _Value:
    """An answer of an operation."""

    of: _Operation
    at: int = 0


Known = _Value | np.ndarray


class _Lines:
    """The lines of functions, with the data that they read and the names that are taken."""

    def __init__(self, code: Code, program: Sequence[str], data: Arrays, known: Arrays):
        self.file, self.spans = code.compiled.co_filename, code.emitted.spans
        self.emitted, self.program, self.known = code.emitted.text.split("\n"), program, known
        self.data = dict(data)
        self.names = FreshNames({*RESERVED, *data, *known})

    # --- A trace as operations ---

    def function(
        self, traced: ClosedJaxpr, given: Sequence[OperandText], indent: str
    ) -> tuple[list[str], list[str]]:
        """The lines of a trace, whose arguments are called as given, and the expressions of its answers."""
        made: list[_Operation] = []
        answers = self._run(traced, [_Value(_Operation(x.shape, text=x)) for x in given], made, 0)
        needed = {x.of for x in answers if isinstance(x, _Value)}
        for operation in reversed(made):
            if operation in needed:
                needed.update(x.of for x in operation.operands if isinstance(x, _Value))
        made = [operation for operation in made if operation in needed]
        last = {operation.line: operation for operation in made}
        for operation in made:
            operation.names_line = last[operation.line] is operation
            for value in operation.operands:
                if isinstance(value, _Value):
                    value.of.uses += 1
                    value.of.outside |= value.of.line != operation.line or operation.name in CONTROL
        lines: list[str] = []
        last_line = 0
        texts: dict[Any, OperandText] = {}
        for operation in made:
            span = self.spans[operation.line - 1] if operation.line else None
            before = len(lines)
            self._write(operation, texts, lines, indent)
            if len(lines) > before and span is not None and span.line != last_line:
                lines.insert(before, f"{indent}# {span.line}: {self.program[span.line - 1].strip()}")
                last_line = span.line
        return lines, [self._text(x, texts).text for x in answers]

    def _run(
        self, traced: ClosedJaxpr, args: Sequence[Known], made: list[_Operation], line: int
    ) -> list[Known]:
        """The answers of a trace, its operations added to `made`; what is known now is computed now."""
        env: dict[Var, Known] = dict(zip(traced.jaxpr.invars, args, strict=True))
        env |= dict(zip(traced.jaxpr.constvars, map(np.asarray, traced.consts), strict=True))

        def read(atom: Any) -> Known:
            return np.asarray(atom.val, atom.aval.dtype) if isinstance(atom, Literal) else env[atom]

        for eqn in traced.jaxpr.eqns:
            operands = [read(x) for x in eqn.invars]
            name, at = eqn.primitive.name, self._line(eqn) or line
            if name in INLINED:
                inner = eqn.params[INLINED[name]]
                answers = self._run(inner, operands, made, at)
            elif name == "cond" and not isinstance(operands[0], _Value):
                answers = self._run(eqn.params["branches"][int(operands[0])], operands[1:], made, at)
            elif name == "name":
                answers = operands
                if isinstance(operands[0], _Value):
                    operands[0].of.called = eqn.params["name"]
            elif name in SAME or (name.startswith("reduce_") and eqn.params.get("axes") == ()):
                answers = operands
            elif not any(isinstance(x, _Value) for x in operands) and name not in CONTROL:
                found = eqn.primitive.bind(*operands, **eqn.params)
                answers = [*map(np.asarray, found if eqn.primitive.multiple_results else [found])]
            else:
                types = tuple(x.aval for x in eqn.outvars)
                shape = tuple(types[0].shape)
                made.append(_Operation(shape, name, tuple(operands), eqn.params, types, at))
                answers = [_Value(made[-1], k) for k in range(len(types))]
            env |= dict(zip(eqn.outvars, answers, strict=True))
        return [read(x) for x in traced.jaxpr.outvars]

    def _line(self, eqn: Any) -> int:
        """The emitted line that an operation comes from."""
        traceback = eqn.source_info.traceback
        frames = traceback.frames if traceback else ()
        return next((f.line_num for f in frames if f.file_name == self.file), 0)

    # --- Operations as text ---

    def _text(self, value: Known, texts: Mapping[Any, OperandText]) -> OperandText:
        if isinstance(value, _Value):
            return value.of.text or texts[(value.of, value.at)]
        return self._constant(value)

    def _constant(self, x: np.ndarray) -> OperandText:
        if not x.shape:
            text = repr(x.item())
            return OperandText(text, (), 2 if text.startswith("-") else 0)
        if not x.size:
            return OperandText(f"jnp.zeros({x.shape})", x.shape)
        if np.array_equal(x, np.full(x.shape, x.flat[0]), equal_nan=x.dtype.kind == "f"):
            one = self._constant(x.flat[0].reshape(()))
            return OperandText(f"jnp.full({x.shape}, {one.text})", x.shape, scalar=one)
        at_hand = {**self.known, **self.data}.items()
        same = [key for key, v in at_hand if v.dtype == x.dtype and np.array_equal(v, x)]
        name = same[0] if same else self.names.fresh("constant")
        self.data[name] = x
        self.names.taken.add(name)
        return OperandText(name, x.shape)

    def _stem(self, operation: _Operation) -> str:
        """The variable that the emitted line assigns, or `term` where it adds to the target."""
        if operation.called.isidentifier():
            return operation.called
        if not operation.line or not operation.names_line:
            return "v"
        text = self.emitted[operation.line - 1].strip()
        name = text.split(" = ")[0]
        if name.isidentifier() and not name.endswith("__"):
            return name
        return "term" if text.startswith("target.append") else "v"

    def _write(self, op: _Operation, texts: dict[Any, OperandText], lines: list[str], indent: str) -> None:
        operands = [self._text(x, texts) for x in op.operands]
        if op.name in CONTROL:
            names = [self.names.fresh("v") for _ in op.types]
            for k, (name, kind) in enumerate(zip(names, op.types, strict=True)):
                texts[(op, k)] = OperandText(name, tuple(kind.shape))
            lines += CONTROL[op.name](self, op, operands, names, indent)
            return
        if op.name not in WRITERS:
            raise NotTraceable(f"it needs `{op.name}`, which cannot be written as JAX code")
        text, binds = written(op.name, operands, op.params, op.types[0])
        scalar = operands[0] if op.name == "broadcast_in_dim" and not operands[0].shape else None
        if scalar or (not op.outside and not op.called and op.uses < 2 and len(text) < LONGEST):
            texts[(op, 0)] = OperandText(text, op.shape, binds, scalar)
            return
        name = self.names.fresh(self._stem(op))
        lines.append(f"{indent}{name} = {text}")
        texts[(op, 0)] = OperandText(name, op.shape)

    def scan(
        self, op: _Operation, operands: Sequence[OperandText], names: Sequence[str], indent: str
    ) -> list[str]:
        fixed, carried = _constants_and_state(op.params)
        step, inner = self.names.fresh("step"), op.params["jaxpr"]
        types = [tuple(v.aval.shape) for v in inner.jaxpr.invars]
        after = fixed + carried
        own = [OperandText(self.names.fresh("c" if k < after else "x"), s) for k, s in enumerate(types)]
        state, entries = own[fixed:after], own[after:]
        body, answers = self.function(inner, [*operands[:fixed], *own[fixed:]], indent + "    ")
        first, scanned = [x.text for x in operands[fixed:after]], [x.text for x in operands[after:]]
        settings = f"length={op.params['length']}, reverse={op.params['reverse']}"
        return [
            f"{indent}def {step}(state, entries):",
            f"{indent}    {tuple_text(x.text for x in state)} = state",
            f"{indent}    {tuple_text(x.text for x in entries)} = entries",
            *body,
            f"{indent}    return {tuple_text(answers[:carried])}, {tuple_text(answers[carried:])}",
            f"{indent}{tuple_text(names[:carried])}, {tuple_text(names[carried:])} = "
            f"lax.scan({step}, {tuple_text(first)}, {tuple_text(scanned)}, {settings})",
        ]

    def cond(
        self, op: _Operation, operands: Sequence[OperandText], names: Sequence[str], indent: str
    ) -> list[str]:
        chosen, *given = operands
        lines, branches = [], []
        for inner in op.params["branches"]:
            branches.append(self.names.fresh("branch"))
            body, answers = self.function(inner, given, indent + "    ")
            lines += [f"{indent}def {branches[-1]}():", *body, f"{indent}    return {tuple_text(answers)}"]
        return [*lines, f"{indent}{tuple_text(names)} = lax.switch({chosen.text}, [{', '.join(branches)}])"]


def _constants_and_state(params: Mapping[str, Any]) -> tuple[int, int]:
    """How many operands of a scan are constants, and how many the state; JAX 0.12 has trees of them."""
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    constants, state, _ = params["ft_in"].unpack()
    return len([*constants]), len([*state])


CONTROL = {"scan": _Lines.scan, "cond": _Lines.cond}
"""Operations with functions of their own."""
