"""The namespace `TRACING`: that of autograd, whose functions record what they are given tracers of.

What is on a tape of autograd's, as in the steps of a recurrence that are differentiated by it, stays there.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import autograd.numpy as anp
import autograd.numpy.linalg as anp_linalg
import numpy as np

from ppl import arrays
from ppl.arrays import AUTOGRAD, Array, Namespace, with_vjps
from ppl.late import LateModule
from ppl.optimise.tracing.tracer import (
    Tracer,
    applied,
    applied_node,
    applied_together,
    checking,
    refuse,
    traced_in,
)
from ppl.triangular import solve_lower

OF_SHAPES = {
    "ndim": np.ndim,
    "shape": np.shape,
    "size": np.size,
    "iscomplexobj": lambda x: not isinstance(x, Tracer) and np.iscomplexobj(x),
}


class _Recorded:
    """A module of autograd, each function of which records what it is given tracers of."""

    def __init__(self, module: Any):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        member = OF_SHAPES.get(name) or getattr(self._module, name)
        if callable(member) and not isinstance(member, type) and name not in OF_SHAPES:
            member = _recording(member)
        setattr(self, name, member)
        return member


def _recording(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **keywords: applied(function, *args, **keywords)


class _RecordedNumpy(_Recorded):
    """NumPy's functions, those of arrays.py in place of autograd's where it has its own."""

    def where(self, condition: Array, x: Array, y: Array) -> Array:
        return applied_node(arrays.where, (condition, x, y))

    def broadcast_to(self, x: Array, shape: tuple[int, ...]) -> Array:
        return applied_node(arrays.broadcast, (x, shape))

    def concatenate(self, items: Sequence[Array], axis: int = 0) -> Array:
        return applied(arrays.concatenate, axis % np.ndim(items[0]), *items)

    def stack(self, items: Sequence[Array], axis: int = 0) -> Array:
        return applied(arrays.stack, axis % (np.ndim(items[0]) + 1), *items)

    def clip(self, x: Array, lower: Array, upper: Array) -> Array:
        return self.minimum(self.maximum(x, lower), upper)

    def array(self, x: Any) -> Array:
        if isinstance(x, Tracer) or not traced_in(x):
            return x if isinstance(x, Tracer) else AUTOGRAD.np.array(x)
        return self.stack([self.array(item) for item in x])


@with_vjps(None)
def detached(xp: Namespace, x: Array) -> Array:
    """The same value, without a derivative."""
    return x


def _plain(x: Array) -> Array:
    """A value without its derivative, whose numbers are still not shown to Python."""
    return applied_node(detached, (x,)) if traced_in(x) else AUTOGRAD.plain(x)


def same_mask(x: Array) -> Array:
    """The truth values at the point of the trace, compared with those at every other."""
    if not isinstance(x, Tracer):
        return x
    checking(partial(must_be, x.value))(x)
    return x.value


def must_be(mask: Array, values: Array) -> None:
    if not np.array_equal(mask, values):
        refuse()


TRACING = Namespace(
    "tracing",
    _RecordedNumpy(anp),
    _Recorded(LateModule("autograd.scipy.special")),
    _Recorded(anp_linalg),
    _Recorded(LateModule("autograd.scipy.linalg")),
    _recording(solve_lower),
    lambda x, index, value: applied(arrays.put_copy, x, index, value),
    lambda x: x,
    _plain,
    _recording(arrays.add_all),
    applied_node,
    refuse,
    refuse,
    joint_vjp=applied_together,
    mask=same_mask,
)
