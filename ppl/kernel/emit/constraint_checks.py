"""Constraints that emitted code checks for many draws at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY, Array, Namespace
from ppl.errors import Rejection
from ppl.kernel.emit import runtime
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD
from ppl.stdlib.over_draws import spaced

Indices = NDArray[np.intp]


class DrawsRejected(Exception):
    """The program rejects some draws, at the positions `draws`; the others can go on without them."""

    def __init__(self, draws: Indices, complaint: str):
        super().__init__(complaint)
        self.draws = draws


def check_each(xp: Namespace, constraint: str, name: str, x: Array, shape: Any, *args: Array) -> None:
    """Raise DrawsRejected when a transformed quantity of some draws breaks its declared constraint."""
    x, bounds = xp.plain(x), [xp.plain(a) for a in args]
    wide = [spaced(NUMPY, a, 1, np.ndim(x) - np.ndim(a)) for a in bounds]
    if CONSTRAINT_BY_KEYWORD[constraint].check(x, shape, *wide) is None:
        return
    complaints = []
    for k in range(len(x)):
        try:
            runtime.check(NUMPY, constraint, name, x[k], shape, *(a[k] for a in bounds))
        except Rejection as complaint:
            complaints.append((k, complaint))
    if complaints:
        raise DrawsRejected(np.array([k for k, _ in complaints]), str(complaints[0][1]))
