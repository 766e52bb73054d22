"""Operations of JAX as text: the expression of `jax.numpy` or `jax.lax` that computes each."""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from ppl.jax_backend.not_traceable import NotTraceable


class Precedence(IntEnum):
    """How tightly expressions bind, the tightest first."""

    ATOM = 0
    POWER = 1
    UNARY = 2
    PRODUCT = 3
    SUM = 4
    ANY = 9


class OperandText(NamedTuple):
    """An expression of a value of this shape; `scalar` is one of which it is so many copies."""

    text: str
    shape: tuple[int, ...]
    binds: int = Precedence.ATOM
    scalar: "OperandText | None" = None

    def within(self, binds: int) -> str:
        return self.text if self.binds <= binds else f"({self.text})"


Written = str | tuple[str, int]
"""An expression, and how tightly it binds where it is no atom."""
PrimitiveWriter = Callable[[Sequence[OperandText], Mapping[str, Any], Any], Written]
"""(operands, parameters, the answer's type) to an expression."""


def infix(sign: str, binds: int, right: int) -> PrimitiveWriter:
    def write(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
        a, b = broadcast(operands, out.shape)
        if sign in "+-" and b.text == "0.0" and a.shape == out.shape:
            return a.text, a.binds
        if sign == "+" and a.text == "0.0" and b.shape == out.shape:
            return b.text, b.binds
        return f"{a.within(min(binds, Precedence.SUM))} {sign} {b.within(right)}", binds

    return write


def broadcast(operands: Sequence[OperandText], shape: tuple[int, ...]) -> list[OperandText]:
    """The operands, of copies of a scalar the scalar, where another operand has the whole shape."""
    wide = [x.scalar is None and x.shape == shape for x in operands]
    return [x.scalar if x.scalar and any(wide) else x for x in operands]


def template(text: str) -> PrimitiveWriter:
    """The format `text` of Python: {0}, {1}, ... or {all} are operands, {name} is a parameter."""

    def write(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
        texts, settings = [x.text for x in operands], {key: literal(value) for key, value in params.items()}
        return text.format(*texts, all=", ".join(texts), **settings)

    return write


def literal(value: Any) -> str:
    """A setting as Python reads it."""
    if isinstance(value, tuple) and type(value) is not tuple:  # a record of dimensions
        return f"lax.{value!r}"
    if type(value).__name__ == "GatherScatterMode":
        return f"lax.GatherScatterMode.{value.name}"
    if isinstance(value, np.dtype):
        return f"jnp.{value.name}"
    return repr(value)


def reduction(name: str) -> PrimitiveWriter:
    def write(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
        (x,), axes = operands, params["axes"]
        return f"jnp.{name}({x.text}{'' if len(axes) == len(x.shape) else f', axis={axes}'})"

    return write


def _position(name: str) -> PrimitiveWriter:
    def write(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
        return f"jnp.{name}({operands[0].text}, axis={params['axes'][0]})"

    return write


def _power(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    return f"{operands[0].within(Precedence.ATOM)} ** {params['y']}", Precedence.POWER


def _select(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    if len(operands) != 3:
        raise NotTraceable("it selects among more than two values")
    where, otherwise, value = broadcast(operands, out.shape)
    if where.text in ("True", "False"):
        chosen = value if where.text == "True" else otherwise
        return chosen.text, chosen.binds
    return f"jnp.where({where.text}, {value.text}, {otherwise.text})"


def _broadcast(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    (x,), at, shape = operands, params["broadcast_dimensions"], params["shape"]
    if at != tuple(range(len(shape) - len(x.shape), len(shape))):
        between = tuple(x.shape[at.index(k)] if k in at else 1 for k in range(len(shape)))
        reshaped = f"jnp.reshape({x.text}, {between})"
        return reshaped if between == shape else f"jnp.broadcast_to({reshaped}, {shape})"
    return f"jnp.broadcast_to({x.text}, {shape})"


def _reshape(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    (x,) = operands
    entry = re.fullmatch(r"(\w+)\[(\d+):\d+\]", x.text)
    if entry and not out.shape:  # of a slice of one entry, that entry
        return f"{entry[1]}[{entry[2]}]"
    return f"jnp.reshape({x.text}, {out.shape})"


def _slice(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    (x,) = operands
    strides = params["strides"] or (1,) * len(x.shape)
    bounds = zip(params["start_indices"], params["limit_indices"], strides, x.shape, strict=True)
    parts = [":" if (a, b, s) == (0, n, 1) else f"{a}:{b}" + f":{s}" * (s != 1) for a, b, s, n in bounds]
    return f"{x.within(Precedence.ATOM)}[{', '.join(parts)}]"


def _dot(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    a, b = operands
    (left, right), batched = params["dimension_numbers"]
    if batched == ((), ()) and left == (len(a.shape) - 1,) and right == (0,) and len(b.shape) <= 2:
        return f"{a.within(Precedence.POWER)} @ {b.within(Precedence.POWER)}", Precedence.SUM
    return f"lax.dot_general({a.text}, {b.text}, {params['dimension_numbers']})"


def _gather(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    """Entries along the first axis where that is all, else the general gather."""
    x, at = operands
    d = params["dimension_numbers"]
    rows = (1, *x.shape[1:])
    plain = d.start_index_map == d.collapsed_slice_dims == (0,) and params["slice_sizes"] == rows
    last = tuple(range(len(out.shape) - len(rows) + 1, len(out.shape)))
    if plain and d.offset_dims == last and not d.operand_batching_dims:
        return f"{x.within(Precedence.ATOM)}[{at.within(Precedence.ATOM)}[..., 0]]"
    settings = ", ".join(f"{key}={literal(params[key])}" for key in ("slice_sizes", "mode"))
    return f"lax.gather({x.text}, {at.text}, {literal(d)}, {settings})"


def _dynamic_slice(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    x, *starts = operands
    places = ", ".join(s.text for s in starts)
    return f"lax.dynamic_slice({x.text}, ({places},), {params['slice_sizes']})"


def _dynamic_update_slice(operands: Sequence[OperandText], params: Mapping[str, Any], out: Any) -> Written:
    x, part, *starts = operands
    return f"lax.dynamic_update_slice({x.text}, {part.text}, ({', '.join(s.text for s in starts)},))"


_LOOSE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "and": "&", "or": "|"}
_INFIX = {
    "add": infix("+", Precedence.SUM, Precedence.SUM),
    "add_any": infix("+", Precedence.SUM, Precedence.SUM),
    "sub": infix("-", Precedence.SUM, Precedence.PRODUCT),
    "mul": infix("*", Precedence.PRODUCT, Precedence.PRODUCT),
    "div": infix("/", Precedence.PRODUCT, Precedence.UNARY),
    **{name: infix(sign, Precedence.ANY, Precedence.SUM) for name, sign in _LOOSE.items()},
}


def _same(*names: str) -> dict[str, str]:
    """Operations that are called as the functions are."""
    return {name: name for name in names}


_NUMPY = {
    **{"max": "maximum", "min": "minimum", "is_finite": "isfinite", "pow": "power", "not": "logical_not"},
    **{"atan2": "arctan2", "asin": "arcsin", "acos": "arccos", "atan": "arctan"},
    **{"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"},
    **_same("exp", "exp2", "log", "log1p", "expm1", "sqrt", "cbrt", "square", "abs"),
    **_same("sin", "cos", "tan", "sinh", "cosh", "tanh", "sign", "floor", "ceil"),
    **_same("copy", "real", "imag"),
}
_LAX = {
    "regularized_incomplete_beta": "betainc",
    **_same("lgamma", "digamma", "polygamma", "zeta", "igamma", "igammac", "erf", "erfc"),
    **_same("erf_inv", "bessel_i0e", "bessel_i1e", "rsqrt", "rem", "nextafter"),
    **_same("complex", "conj"),
}
_SCATTERED = (
    "({all}, {dimension_numbers}, indices_are_sorted={indices_are_sorted}, unique_indices={unique_indices}, "
    "mode={mode})"
)
_CUMULATED = "({0}, axis={axis}, reverse={reverse})"
_REDUCTIONS = {"sum": "sum", "max": "max", "min": "min", "prod": "prod", "and": "all", "or": "any"}

WRITERS: Mapping[str, PrimitiveWriter] = {
    **_INFIX,
    **{name: template(f"jnp.{numpys}({{all}})") for name, numpys in _NUMPY.items()},
    **{name: template(f"lax.{its}({{all}})") for name, its in _LAX.items()},
    **{f"reduce_{short}": reduction(name) for short, name in _REDUCTIONS.items()},
    "neg": lambda operands, params, out: (f"-{operands[0].within(Precedence.UNARY)}", Precedence.UNARY),
    "logistic": template("jax.nn.sigmoid({0})"),
    "stop_gradient": template("lax.stop_gradient({0})"),
    "clamp": template("jnp.clip({1}, {0}, {2})"),
    "integer_pow": _power,
    "select_n": _select,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "transpose": template("lax.transpose({0}, permutation={permutation})"),
    "rev": template("lax.rev({0}, dimensions={dimensions})"),
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "dot_general": _dot,
    "convert_element_type": template("lax.convert_element_type({0}, {new_dtype})"),
    "concatenate": template("jnp.concatenate([{all}], axis={dimension})"),
    "stack": template("jnp.stack([{all}], axis={axis})"),
    "gather": _gather,
    "scatter": template(f"lax.scatter{_SCATTERED}"),
    "scatter-add": template(f"lax.scatter_add{_SCATTERED}"),
    "pad": template("lax.pad({all}, padding_config={padding_config})"),
    **{name: template(f"lax.{name}{_CUMULATED}") for name in ("cumsum", "cumprod", "cumlogsumexp")},
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "cholesky": template("lax.linalg.cholesky({0}, symmetrize_input=False)"),
    "triangular_solve": template(
        "lax.linalg.triangular_solve({all}, left_side={left_side}, lower={lower}, transpose_a={transpose_a}, "
        "conjugate_a={conjugate_a}, unit_diagonal={unit_diagonal})"
    ),
}
"""By the name that JAX gives an operation; what is not here is refused by that name."""


def written(
    name: str, operands: Sequence[OperandText], params: Mapping[str, Any], out: Any
) -> tuple[str, int]:
    """The expression of an operation, and how tightly it binds."""
    found = WRITERS[name](operands, params, out)
    return (found, Precedence.ATOM) if isinstance(found, str) else found
