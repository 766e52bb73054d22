"""Which variables have an entry for each row of data."""

from collections.abc import Iterable

from ppl.kernel.ir import nodes as ir

Axes = tuple[tuple[str, int], ...]


def row_sizes(p: ir.Program) -> list[str]:
    """Names of sizes that data have along an axis, in order of declaration."""
    known = (*p.data, *p.transformed_data_names)
    return list(dict.fromkeys(a.name for d in known for a in (*d.dims, *d.sizes) if isinstance(a, ir.Var)))


def row_axes(declared: Iterable[ir.Declared], size: str) -> Axes:
    """The variables that have the size, each with the first such axis."""
    by_row = []
    for d in declared:
        axes = [k for k, a in enumerate((*d.dims, *d.sizes)) if isinstance(a, ir.Var) and a.name == size]
        by_row += [(d.name, axes[0])] if axes else []
    return tuple(by_row)
