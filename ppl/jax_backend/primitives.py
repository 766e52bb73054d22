"""Operations of JAX as text: the expression of `jax.numpy` or `jax.lax` that computes each."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

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


@dataclass(frozen=True)
class Text:
    """An expression of a value of this shape; `scalar` is one of which it is so many copies."""

    text: str
    shape: tuple[int, ...]
    binds: int = Precedence.ATOM
    scalar: "Text | None" = None

    def within(self, binds: int) -> str:
        return self.text if self.binds <= binds else f"({self.text})"


Written = str | tuple[str, int]
"""An expression, and how tightly it binds where it is no atom."""
Writer = Callable[[Sequence[Text], Mapping[str, Any], Any], Written]
"""(operands, parameters, the answer's type) to an expression."""


def infix(sign: str, binds: int, right: int) -> Writer:
    def write(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
        a, b = broadcast(operands, out.shape)
        if sign in "+-" and b.text == "0.0" and a.shape == out.shape:
            return a.text, a.binds
        if sign == "+" and a.text == "0.0" and b.shape == out.shape:
            return b.text, b.binds
        return f"{a.within(min(binds, Precedence.SUM))} {sign} {b.within(right)}", binds

    return write


def broadcast(operands: Sequence[Text], shape: tuple[int, ...]) -> list[Text]:
    """The operands, of copies of a scalar the scalar, where another operand has the whole shape."""
    wide = [x.scalar is None and x.shape == shape for x in operands]
    return [x.scalar if x.scalar and any(wide) else x for x in operands]


def call(name: str, *order: int) -> Writer:
    """A function of the operands alone, in this order."""

    def write(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
        chosen = [operands[k] for k in order] if order else operands
        return f"{name}({', '.join(x.text for x in chosen)})"

    return write


def with_settings(name: str, *names: str) -> Writer:
    """A function of the operands and of settings that JAX calls as its parameters."""

    def write(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
        settings = [f"{key}={literal(params[key])}" for key in names]
        return f"{name}({', '.join([*(x.text for x in operands), *settings])})"

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


def reduction(name: str) -> Writer:
    def write(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
        (x,) = operands
        axes = params["axes"]
        every = len(axes) == len(x.shape)
        return f"jnp.{name}({x.text}{'' if every else f', axis={axes}'})"

    return write


def _position(name: str) -> Writer:
    def write(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
        return f"jnp.{name}({operands[0].text}, axis={params['axes'][0]})"

    return write


def _power(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    return f"{operands[0].within(Precedence.ATOM)} ** {params['y']}", Precedence.POWER


def _select(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    if len(operands) != 3:
        raise NotTraceable("it selects among more than two values")
    where, otherwise, value = broadcast(operands, out.shape)
    if where.text in ("True", "False"):
        chosen = value if where.text == "True" else otherwise
        return chosen.text, chosen.binds
    return f"jnp.where({where.text}, {value.text}, {otherwise.text})"


def _broadcast(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    (x,), at, shape = operands, params["broadcast_dimensions"], params["shape"]
    if at != tuple(range(len(shape) - len(x.shape), len(shape))):
        between = tuple(x.shape[at.index(k)] if k in at else 1 for k in range(len(shape)))
        reshaped = f"jnp.reshape({x.text}, {between})"
        return reshaped if between == shape else f"jnp.broadcast_to({reshaped}, {shape})"
    return f"jnp.broadcast_to({x.text}, {shape})"


def _reshape(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    (x,) = operands
    entry = re.fullmatch(r"(\w+)\[(\d+):\d+\]", x.text)
    if entry and not out.shape:  # of a slice of one entry, that entry
        return f"{entry[1]}[{entry[2]}]"
    return f"jnp.reshape({x.text}, {out.shape})"


def _slice(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    (x,) = operands
    strides = params["strides"] or (1,) * len(x.shape)
    bounds = zip(params["start_indices"], params["limit_indices"], strides, x.shape, strict=True)
    parts = [":" if (a, b, s) == (0, n, 1) else f"{a}:{b}" + f":{s}" * (s != 1) for a, b, s, n in bounds]
    return f"{x.within(Precedence.ATOM)}[{', '.join(parts)}]"


def _dot(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    a, b = operands
    (left, right), batched = params["dimension_numbers"]
    if batched == ((), ()) and left == (len(a.shape) - 1,) and right == (0,) and len(b.shape) <= 2:
        return f"{a.within(Precedence.POWER)} @ {b.within(Precedence.POWER)}", Precedence.SUM
    return f"lax.dot_general({a.text}, {b.text}, {params['dimension_numbers']})"


def _convert(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    return f"lax.convert_element_type({operands[0].text}, jnp.{np.dtype(params['new_dtype']).name})"


def _concatenate(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    return f"jnp.concatenate([{', '.join(x.text for x in operands)}], axis={params['dimension']})"


def _stack(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    return f"jnp.stack([{', '.join(x.text for x in operands)}], axis={params['axis']})"


def _gather(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
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


def _scatter(name: str) -> Writer:
    def write(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
        x, at, values = operands
        settings = ", ".join(
            f"{key}={literal(params[key])}" for key in ("indices_are_sorted", "unique_indices", "mode")
        )
        d = literal(params["dimension_numbers"])
        return f"lax.{name}({x.text}, {at.text}, {values.text}, {d}, {settings})"

    return write


def _dynamic_slice(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    x, *starts = operands
    places = ", ".join(s.text for s in starts)
    return f"lax.dynamic_slice({x.text}, ({places},), {params['slice_sizes']})"


def _dynamic_update_slice(operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> Written:
    x, part, *starts = operands
    return f"lax.dynamic_update_slice({x.text}, {part.text}, ({', '.join(s.text for s in starts)},))"


_INFIX = {
    "add": infix("+", Precedence.SUM, Precedence.SUM),
    "add_any": infix("+", Precedence.SUM, Precedence.SUM),
    "sub": infix("-", Precedence.SUM, Precedence.PRODUCT),
    "mul": infix("*", Precedence.PRODUCT, Precedence.PRODUCT),
    "div": infix("/", Precedence.PRODUCT, Precedence.UNARY),
    **{
        name: infix(sign, Precedence.ANY, Precedence.SUM)
        for name, sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items()
    },
    "and": infix("&", Precedence.ANY, Precedence.SUM),
    "or": infix("|", Precedence.ANY, Precedence.SUM),
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
_REDUCTIONS = {"sum": "sum", "max": "max", "min": "min", "prod": "prod", "and": "all", "or": "any"}

WRITERS: Mapping[str, Writer] = {
    **_INFIX,
    **{name: call(f"jnp.{numpys}") for name, numpys in _NUMPY.items()},
    **{name: call(f"lax.{its}") for name, its in _LAX.items()},
    **{f"reduce_{short}": reduction(name) for short, name in _REDUCTIONS.items()},
    "neg": lambda operands, params, out: (f"-{operands[0].within(Precedence.UNARY)}", Precedence.UNARY),
    "logistic": call("jax.nn.sigmoid"),
    "stop_gradient": call("lax.stop_gradient"),
    "clamp": call("jnp.clip", 1, 0, 2),
    "integer_pow": _power,
    "select_n": _select,
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "transpose": with_settings("lax.transpose", "permutation"),
    "rev": with_settings("lax.rev", "dimensions"),
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "dot_general": _dot,
    "convert_element_type": _convert,
    "concatenate": _concatenate,
    "stack": _stack,
    "gather": _gather,
    "scatter": _scatter("scatter"),
    "scatter-add": _scatter("scatter_add"),
    "pad": with_settings("lax.pad", "padding_config"),
    **{
        name: with_settings(f"lax.{name}", "axis", "reverse")
        for name in ("cumsum", "cumprod", "cumlogsumexp")
    },
    "argmax": _position("argmax"),
    "argmin": _position("argmin"),
    "cholesky": lambda operands, params, out: (
        f"lax.linalg.cholesky({operands[0].text}, symmetrize_input=False)"
    ),
    "triangular_solve": with_settings(
        "lax.linalg.triangular_solve", "left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal"
    ),
}
"""By the name that JAX gives an operation; what is not here is refused by that name."""


def written(name: str, operands: Sequence[Text], params: Mapping[str, Any], out: Any) -> tuple[str, int]:
    """The expression of an operation, and how tightly it binds."""
    found = WRITERS[name](operands, params, out)
    return (found, Precedence.ATOM) if isinstance(found, str) else found
