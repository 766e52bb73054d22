"""A posterior as inference sees it at points many of which agree in some coordinates."""

from collections.abc import Callable

import numpy as np

from ppl.density.log_joint import LogJoint
from ppl.density.many_points import BATCH
from ppl.kernel.advi.target import Forwarding, Target
from ppl.kernel.density.data import Floats, Rows
from ppl.records import dataclass


@dataclass(frozen=True)
class PosteriorGiven(Forwarding):
    """A target, its density at points that agree in `shared` coordinates (d,) by a `joint` of its own.

    What depends on these alone is computed once for each of their values.
    """

    target: Target
    joint: LogJoint
    moving: tuple[int, ...]
    shared: Rows

    @property
    def width(self) -> int:
        return self.joint.width

    def log_densities(self, us: Floats) -> Floats:
        (values,) = self.by_groups(us, lambda some: (self.joint.values(some),))
        return values

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        values, found = self.by_groups(us, lambda some: self.joint.values_and_gradients(some, self.moving))
        return values, found

    def gradients_alone(self, us: Floats) -> Floats:
        (found,) = self.by_groups(us, lambda some: (self.joint.gradients(some, self.moving),))
        return found

    def by_groups(self, us: Floats, f: Callable[[Floats], tuple[Floats, ...]]) -> list[Floats]:
        """What f finds at points (n, dim), of which it is given those that agree, in their order."""
        _, group = np.unique(us[:, self.shared], axis=0, return_inverse=True)
        order = np.argsort(group.ravel(), kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1)
        found = zip(*(few_repeated(f, us[some]) for some in groups), strict=True)
        back = np.argsort(order)
        return [np.concatenate(each)[back] for each in found]


def few_repeated(f: Callable[[Floats], tuple[Floats, ...]], us: Floats) -> tuple[Floats, ...]:
    """f at points (n, dim); fewer than are evaluated at once are repeated, which costs little here."""
    few = len(us)
    if few >= BATCH.fewest_points:
        return f(us)
    return tuple(each[:few] for each in f(np.resize(us, (BATCH.fewest_points, us.shape[1]))))
