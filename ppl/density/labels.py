"""What indices of a program's variables stand for, given its data."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ppl.data.levels import Factor
from ppl.density.compiled_program import CompiledProgram, bounds_of
from ppl.kernel.density.layout import Data
from ppl.kernel.draws.names import NO_LABELS, Labels, Sized


def labels_of(model: CompiledProgram, given: Mapping[str, Any], d: Data, drawn: Iterable[Sized]) -> Labels:
    """The levels of factors among the data that were given, and the axes of data and of `drawn` variables.

    An axis has the name of its factor; of several that one size bounds, that of the size.
    """
    factors = {b.declared.name: b for b in bounds_of(model) if isinstance(given.get(b.declared.name), Factor)}
    if not factors:
        return NO_LABELS
    from ppl.structure.observed.indexed import named_axes

    sharing = Counter(b.shared for b in factors.values())
    axes = {name: b.shared if sharing[b.shared] > 1 else name for name, b in factors.items()}
    sizes = {b.upper: axes[name] for name, b in factors.items() if isinstance(b.upper, str)}
    lengths = {
        axes[name]: (d.of(b.upper) if isinstance(b.upper, str) else b.upper) + 1 - b.first
        for name, b in factors.items()
    }
    first = {name: b.first for name, b in factors.items()}
    shapes = {v.name: v.shape for v in drawn}
    shapes |= {v.name: np.shape(d.of(v.name)) for v in model.lowered.data if not v.items}
    dims = {
        name: tuple(
            axis if axis and lengths[axis] == n else None for axis, n in zip(own, shapes[name], strict=True)
        )
        for name, own in named_axes(model.compilation.factors, first, axes, sizes).items()
        if own and len(own) == len(shapes.get(name, ()))
    }
    levels = {each: given[name].levels for name in factors for each in (name, axes[name])}
    return Labels(levels, {name: own for name, own in dims.items() if any(own)})
