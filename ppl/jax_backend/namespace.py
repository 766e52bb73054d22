"""The namespace of JAX: emitted code and the standard library, traced once and compiled.

Import this file late: it imports jax, which only the extra "jax" installs and which takes a second.

What is computed from numbers known while tracing stays NumPy, so that sizes and data that were not made
arguments can steer control flow.  A `Node` keeps its own derivatives; what it computes in plain NumPy, a
series summed until it is exact, runs on the host.
"""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.special
import numpy as np
import scipy.linalg
import scipy.special

from ppl.arrays import NUMPY, Array, Namespace, Node, ScanState, ScanStep, Slope, inexact, without_share
from ppl.jax_backend import special
from ppl.jax_backend.hosted import hosted
from ppl.jax_backend.incomplete import VALUES
from ppl.jax_backend.lapack import in_turn
from ppl.triangular import solve_lower

UNTRACEABLE = (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError, AttributeError)
"""Exceptions of functions of plain NumPy for a tracer; the last, where JAX lacks a function."""


def is_traced(x: Any) -> bool:
    """Whether a value, or something in a list of them, is known only when the compiled code runs."""
    if isinstance(x, list | tuple):
        return any(map(is_traced, x))
    return isinstance(x, jax.Array)


def is_float(x: Any) -> bool:
    """Whether a value can have derivatives."""
    return bool(jnp.issubdtype(jnp.result_type(x), jnp.inexact))


class TracedModule:
    """A module of JAX beside the one of NumPy or SciPy, which computes what is not traced."""

    def __init__(self, traced: Any, plain: Any, own: dict[str, Callable[..., Array]] | None = None):
        self._traced, self._plain, self._own = traced, plain, own or {}

    def __getattr__(self, name: str) -> Any:
        plain = getattr(self._plain, name)
        if isinstance(plain, ModuleType):
            setattr(self, name, TracedModule(getattr(self._traced, name), plain))
            return getattr(self, name)
        if not callable(plain) or isinstance(plain, type):
            return plain
        traced = self._own.get(name) or getattr(self._traced, name)

        def call(*args: Any, **settings: Any) -> Any:
            known = not any(map(is_traced, (*args, *settings.values())))
            return plain(*args, **settings) if known else traced(*args, **settings)

        setattr(self, name, call)
        return call


def _cholesky(a: Array) -> Array:
    """From the lower triangle alone, as LAPACK reads it."""
    return jnp.linalg.cholesky(a, symmetrize_input=False)


@partial(in_turn, products=1)
def _traced_solve_lower(lower: Array, b: Array, *, transposed: bool = False) -> Array:
    return jax.scipy.linalg.solve_triangular(lower, b, lower=True, trans=int(transposed))


def _solve_lower(lower: Array, b: Array, transposed: bool = False) -> Array:
    solve = _traced_solve_lower if is_traced(lower) or is_traced(b) else solve_lower
    return solve(lower, b, transposed=transposed)


def _matmul(a: Array, b: Array) -> Array:
    """The product; XLA's own of a vector and a tall matrix takes three times as long as that of the parts."""
    parts = _parts(jnp.shape(b)[0]) if jnp.ndim(a) == 1 and jnp.ndim(b) == 2 else 1
    if parts == 1:
        return jnp.matmul(a, b)
    vectors, matrices = a.reshape(parts, -1), b.reshape(parts, -1, b.shape[1])
    return jnp.sum(jnp.einsum("pn,pnk->pk", vectors, matrices), axis=0)


def _parts(rows: int) -> int:
    """A number of equal parts, none of more than 2^14 rows; 1 where there is none."""
    return next((k for k in range(-(-rows >> 14), rows >> 11) if rows % k == 0), 1)


def _expit(x: Array) -> Array:
    """1 / (1 + exp(-x)), of the exponential that log_add.softplus takes too, so that it is taken once."""
    ratio = jnp.exp(-jnp.abs(x))
    return jnp.where(x >= 0.0, 1.0, ratio) / (1.0 + ratio)


def _put(x: Array, index: Any, value: Array) -> Array:
    if is_traced((x, value, index)):
        x = jnp.asarray(x)
        return x.at[index].set(_each_last(x, index, value) if _holds_arrays(index) else value)
    out = np.array(x)
    out[index] = value
    return out


def _holds_arrays(index: Any) -> bool:
    return any(map(np.ndim, index if isinstance(index, tuple) else (index,)))


def _each_last(x: Array, index: Any, value: Array) -> Array:
    """The value that is set last at every place: of a place that is set twice, a GPU sets either.

    On a CPU, where XLA sets them in order, it is the value as it is.
    """
    whole = jnp.broadcast_to(value, jax.eval_shape(lambda: x[index]).shape)
    return jax.lax.platform_dependent(cpu=lambda: whole, default=lambda: last_of_each(x, index, whole))


def last_of_each(x: Array, index: Any, value: Array) -> Array:
    """At each of the places of `x` the last of the values for it."""
    order = jnp.arange(value.size).reshape(value.shape)
    last = jnp.zeros(x.shape, order.dtype).at[index].max(order)
    return value.ravel()[last[index]]


def _flip(x: Array, *, axis: int) -> Array:
    """The reverse of a value that XLA does not look into: it aborts on that of a scatter made a map."""
    return jnp.flip(jax.lax.optimization_barrier(x), axis=axis)


def _bincount(x: Array, *, weights: Array, minlength: int) -> Array:
    return jnp.bincount(x, weights=weights, length=minlength)


def _plain(x: Array) -> Array:
    return jax.lax.stop_gradient(x) if is_traced(x) else x


def _add_all(*scalars: Array) -> Array:
    total = sum(scalars)
    is_real = jnp.issubdtype(jnp.result_type(total), jnp.floating)
    return total if is_real else 1.0 * total  # both sides of a branch have values of one type


# --- Functions with known derivatives -----------------------------------------------------------------


def _apply(node: Node, args: tuple[Array, ...]) -> Array:
    """The function as JAX sees it: its derivatives are the node's."""
    traced = [i for i, a in enumerate(args) if is_traced(a)]
    if not traced:
        return NUMPY.node(node, args)
    vjps = {i: vjp for i in traced if i < len(node.vjps) and (vjp := node.vjps[i]) and is_float(args[i])}

    def whole(primals: Sequence[Array]) -> list[Array]:
        filled = list(args)
        for i, a in zip(traced, primals, strict=True):
            filled[i] = a
        return filled

    def value(*primals: Array) -> Array:
        return _traced_or_hosted(VALUES.get(node.value, node.value), whole(primals))

    def forward(*primals: Array) -> tuple[Array, Any]:
        each, filled = value(*primals), whole(primals)
        partials = {i: vjp.partial for i, vjp in vjps.items() if isinstance(vjp, Slope)}
        slopes = {i: _traced_or_hosted(partial, [each, *filled]) for i, partial in partials.items()}
        return each, (slopes, primals, each)

    def backward(saved: Any, g: Array) -> tuple[Array | None, ...]:
        slopes, primals, each = saved
        filled = whole(primals)

        def adjoint(i: int, vjp: Any) -> Array:
            if i in slopes:
                share = vjp.spread(JAX, g)
                return without_share(JAX, share, share * slopes[i])
            return _traced_or_hosted(vjp, [g, each, *filled])

        adjoints = {i: _summed_to(filled[i], adjoint(i, vjp)) for i, vjp in vjps.items()}
        return tuple(adjoints.get(i) for i in traced)

    function = jax.custom_vjp(value)
    function.defvjp(forward, backward)
    return node.reduced(JAX, function(*(args[i] for i in traced)))


def _summed_to(target: Array, adjoint: Array) -> Array:
    """The adjoint summed over the axes along which `target` was broadcast."""
    shape, own = jnp.shape(target), jnp.shape(adjoint)
    if not shape and own:
        # A product with ones: of a plain sum XLA computes the terms anew for every sum of them.
        return jnp.dot(jnp.ravel(adjoint), jnp.ones(adjoint.size))
    if len(own) < len(shape) or any(a < t for a, t in zip(own[::-1], shape[::-1], strict=False)):
        return jnp.broadcast_to(adjoint, shape)
    extra = len(own) - len(shape)
    narrow = [k + extra for k, size in enumerate(shape) if size == 1 and own[k + extra] != 1]
    return jnp.reshape(jnp.sum(adjoint, axis=(*range(extra), *narrow)), shape)


def _traced_or_hosted(f: Callable[..., Array], args: Sequence[Array]) -> Array:
    """f(xp, *args) traced where it is written against `xp` throughout, else computed on the host."""
    try:
        return jnp.asarray(f(JAX, *args))
    except UNTRACEABLE:
        return hosted(lambda *plain: inexact(f(NUMPY, *plain)), args)


STEPS_AT_A_TIME = 4
"""Of what is repeated until it has settled; of more XLA computes the same terms many times over."""

# --- Branches and recurrences ------------------------------------------------------------------------------


def _rarely(condition: Array, value: Callable[[], Array], otherwise: Array) -> Array:
    if not is_traced(condition):
        return value() if np.any(condition) else otherwise
    otherwise = jnp.asarray(otherwise)
    return jax.lax.cond(jnp.any(condition), lambda: jnp.asarray(value(), otherwise.dtype), lambda: otherwise)


def _settle(steps: Sequence[ScanStep], start: ScanState, most: int) -> ScanState:
    """Some rounds at a time, which XLA makes one piece of code: what has settled is looked at after them."""
    rounds = -(-STEPS_AT_A_TIME // len(steps))

    def some(m: Array, state: ScanState) -> tuple[ScanState, Array]:
        unsettled: Array = True
        for k in range(rounds):
            for step in steps:
                state, unsettled = step(m + k, *state)
        return state, jnp.any(unsettled)

    def after(at: tuple[Array, Array, ScanState]) -> tuple[Array, Array, ScanState]:
        m, _, state = at
        state, unsettled = some(m, state)
        return m + rounds, unsettled, tuple(map(jnp.asarray, state))

    def goes_on(at: tuple[Array, Array, ScanState]) -> Array:
        m, unsettled, _ = at
        return unsettled & (m * len(steps) < most)

    zero = jnp.asarray(0)
    ends = jax.eval_shape(lambda: some(zero, start)[0])
    wide = tuple(jnp.broadcast_to(jnp.asarray(x, e.dtype), e.shape) for x, e in zip(start, ends, strict=True))
    return jax.lax.while_loop(goes_on, after, (zero, jnp.asarray(True), wide))[2]


def _scan(
    step: Callable[..., tuple[Array, ...]], start: Sequence[Array], entries: Sequence[Array]
) -> tuple[Array, ...]:
    """Every state after each step, the step compiled once."""

    def one(state: tuple[Array, ...], entry: tuple[Array, ...]) -> tuple[Any, Any]:
        after = tuple(jnp.asarray(x, dtype=float) for x in step(*state, *entry))
        return after, after

    first = tuple(jnp.asarray(x, dtype=float) for x in start)
    return jax.lax.scan(one, first, tuple(map(jnp.asarray, entries)))[1]


_LAPACK = (
    *(jnp.linalg.solve, jnp.linalg.inv, jnp.linalg.det, jnp.linalg.slogdet),
    *(jnp.linalg.eigh, jnp.linalg.eigvalsh, jnp.linalg.qr, jnp.linalg.svd),
)
LINALG = {"cholesky": in_turn(_cholesky, products=1), **{f.__name__: in_turn(f) for f in _LAPACK}}

OWN_SPECIAL: dict[str, Callable[..., Array]] = {
    "expit": special.with_slope(_expit, lambda x: _expit(x) * _expit(-x)),
    "log_ndtr": special.log_ndtr,
    "erfcx": special.erfcx,
    "erfcinv": special.erfcinv,
    "ndtri_exp": special.ndtri_exp,
    "owens_t": special.owens_t,
    "gammaln": special.gammaln,
    "digamma": special.digamma,
}
"""Special functions in place of those of JAX, or that it lacks."""

JAX = Namespace(
    "jax",
    TracedModule(jnp, np, {"bincount": _bincount, "flip": _flip, "matmul": _matmul}),
    TracedModule(jax.scipy.special, scipy.special, OWN_SPECIAL),
    TracedModule(jnp.linalg, np.linalg, LINALG),
    TracedModule(jax.scipy.linalg, scipy.linalg),
    _solve_lower,
    _put,
    lambda x: x,
    _plain,
    _add_all,
    _apply,
    _rarely,
    _settle,
    _scan,
)
