"""Data of a program with more rows: those that there are, repeated along the axes that sizes count.

Index arrays of repeated groups go on counting: the next copy of the rows belongs to the next copy of the
groups.  What shapes and bounds the data must have, the program itself says, by the `read` of `read_data`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ppl.density.compiled_program import CompiledProgram
from ppl.kernel.density.layout import Data
from ppl.kernel.density.reading import leaves
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.rows import row_sizes
from ppl.records import dataclass
from ppl.types import INT, core

Values = Mapping[str, Any]


def rows_of(model: CompiledProgram, data: Values) -> tuple[str, ...]:
    """The size that counts most, of those that data are declared with."""
    sizes = [name for name in row_sizes(model.lowered) if name in data]
    return (max(sizes, key=lambda name: data[name]),) if sizes else ()


def groups_of(model: CompiledProgram, rows: Sequence[str]) -> tuple[str, ...]:
    """The sizes of parameters that bound index arrays along the rows."""
    p = model.lowered
    sizes = {a.name for d in p.parameters for a in (*d.dims, *d.sizes) if isinstance(a, ir.Var)}
    along = [d for d in p.data if any(isinstance(a, ir.Var) and a.name in rows for a in d.dims)]
    bounds = dict.fromkeys(name for d in along if (name := bound_of(d)))
    return tuple(name for name in bounds if name in sizes and name not in rows)


def bound_of(d: ir.Declared) -> str | None:
    """The size that is the upper bound of an index array."""
    if core(d.type) != INT or d.constraint not in ("upper", "lower_upper"):
        return None
    return d.arguments[-1].name if isinstance(d.arguments[-1], ir.Var) else None


@dataclass(frozen=True)
class Repeated:
    """The data of a model with other sizes: larger ones repeat them, smaller ones are their first rows."""

    model: CompiledProgram
    data: Values
    sizes: Mapping[str, int]

    @cached_property
    def values(self) -> Values:
        """By name, as `condition` takes them."""
        found: dict[str, Any] = {}
        declared = {d.name: d for d in leaves(self.model.lowered.data)}

        def read(name: str, dims: Sequence[int], sizes: Sequence[int], *bounds: Any) -> Any:
            found[name] = self.value(declared[name], (*dims, *sizes))
            return found[name]

        self.model.plain.read_data(Data(seed__=0), read)
        return found

    def value(self, d: ir.Declared, shape: Sequence[int]) -> Any:
        """One of them in its new shape."""
        if d.name in self.sizes:
            return self.sizes[d.name]
        bound = bound_of(d)
        value = np.asarray(self.data[d.name])
        step = self.data[bound] if bound in self.sizes and value.ndim else 0
        for axis, (old, new) in enumerate(zip(value.shape, shape, strict=True)):
            if old != new:
                at = np.arange(new)
                copy = np.expand_dims(at // old, tuple(range(1, value.ndim - axis)))
                value = np.take(value, at % old, axis) + step * copy
        return (value - 1) % self.sizes[bound] + 1 if step else value if value.ndim else self.data[d.name]
