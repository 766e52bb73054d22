"""How inference sees a posterior."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ppl.density.log_density import LogDensity, OfPosterior
from ppl.density.log_joint import LogJoint, Moving
from ppl.density.many_points import BATCH
from ppl.density.updated import UpdatedJoint
from ppl.floats import Floats
from ppl.kernel.advi.target import Forwarding, Inner, Known, Often, Shared, Target, View
from ppl.kernel.density.layout import Rows
from ppl.kernel.draws.names import variable_of
from ppl.records import dataclass, replace

Joint = LogJoint | UpdatedJoint


@dataclass(frozen=True)
class PosteriorGiven(Forwarding):
    """A target, its density at points that agree in `shared` coordinates (d,) by a `joint` of its own.

    What depends on these alone is computed once for each of their values.
    """

    target: "PosteriorTarget"
    joint: LogJoint
    moving: tuple[int, ...]
    shared: Rows

    @property
    def width(self) -> int:
        return self.joint.width

    def log_densities(self, us: Floats) -> Floats:
        (values,) = self.by_groups(us, lambda joint, some: (joint.values(some),))
        return values

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        values, slopes = self.by_groups(us, lambda joint, some: joint.values_and_gradients(some, self.moving))
        return values, slopes

    def gradients_alone(self, us: Floats) -> Floats:
        (slopes,) = self.by_groups(us, lambda joint, some: (joint.gradients(some, self.moving),))
        return slopes

    def by_groups(self, us: Floats, f: Callable[[Joint, Floats], tuple[Floats, ...]]) -> list[Floats]:
        """The values of f at points (n, dim), of which it is given those that agree, in their order.

        Where no two agree nothing would be computed once: f gets all, by the density of the target.
        """
        values, group = np.unique(us[:, self.shared], axis=0, return_inverse=True)
        if len(values) == len(us) > 1:
            return list(f(self.target.log_joint, us))
        order = np.argsort(group.ravel(), kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(group.ravel()[order])) + 1)
        alike = partial(f, self.joint)
        parts = zip(*(few_repeated(alike, us[some]) for some in groups), strict=True)
        back = np.argsort(order)
        return [np.concatenate(each)[back] for each in parts]


def few_repeated(f: Callable[[Floats], tuple[Floats, ...]], us: Floats) -> tuple[Floats, ...]:
    """f at points (n, dim); fewer than are evaluated at once are repeated, which costs little here."""
    few = len(us)
    if few >= BATCH.fewest_points:
        return f(us)
    return tuple(each[:few] for each in f(np.resize(us, (BATCH.fewest_points, us.shape[1]))))


@dataclass(frozen=True)
class PosteriorTarget(OfPosterior):
    """A posterior as a density over R^dim (inference.target.Target).

    Without `jacobian` it is no density over R^dim: its maximum is the mode of the constrained parameters.
    `note` is a sentence for the user, or ""; `faster` makes what computes the same faster after so many
    points, None where it does not pay by then. Gradients at many points are those of the parameters that are
    `moving`. With `propto` terms that depend on no parameter are left out.
    """

    posterior: LogDensity
    jacobian: bool = True
    note: str = ""
    faster: Callable[[int], Target | None] | None = None
    moving: Moving = None
    propto: bool = False

    @property
    def width(self) -> int:
        return self.posterior.cost

    @property
    def known(self) -> Known | None:
        earlier = self.posterior.earlier
        return earlier.draws if earlier else None

    def log_density(self, u: Floats) -> float:
        return self.posterior.log_density(u, self.propto, self.jacobian)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.posterior.log_density_gradient(u, self.propto, self.jacobian)

    def log_densities(self, us: Floats) -> Floats:
        return self.posterior.log_densities(us, self.propto, self.jacobian)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        return self.log_joint.values_and_gradients(us, self.moving)

    def gradients_alone(self, us: Floats) -> Floats:
        return self.log_joint.gradients(us, self.moving)

    def view(self, view: View) -> Target | None:
        match view:
            case Often(points):
                return self.faster(points) if self.faster else None
            case Inner(outer):
                return self.given(outer)
            case Shared(outer):
                return self.with_shared(outer)
        return None

    def given(self, outer: Rows) -> "PosteriorTarget":
        """With gradients of the parameters that have one of the other coordinates."""
        some, places = all_but(outer, self.dim), self.posterior.prepared.places.values()
        return replace(self, moving=tuple(k for k, place in enumerate(places) if some[place.at].any()))

    def with_shared(self, outer: Rows) -> Target | None:
        """By what is computed once for points that agree in these; None where a parameter is among both."""
        target, whole, some = self.given(outer), self.log_joint, all_but(outer, self.dim)
        parts = (some[place.at] for place in self.posterior.prepared.places.values())
        if isinstance(whole, UpdatedJoint) or any(part.any() and not part.all() for part in parts):
            return None
        moving = target.moving or ()
        joint = whole.given(moving)
        return None if joint is None else PosteriorGiven(target, joint, moving, outer)

    @property
    def log_joint(self) -> Joint:
        return self.posterior.log_joint(self.propto, self.jacobian)


def all_but(some: NDArray[np.intp], dim: int) -> NDArray[np.bool_]:
    """Which coordinates (dim,) are not among some."""
    others = np.ones(dim, dtype=bool)
    others[some] = False
    return others


def parameters_of(posterior: LogDensity) -> tuple[str, ...]:
    """The names of the program's parameters."""
    declared = posterior.declared(include_tp=False, include_gq=False)
    return tuple(variable_of(v.entries[0]) if v.entries else v.name for v in declared)


MANY = 20_000
"""Gradients after which draws that are still moved would be done first by JAX, its compilation included."""


ONE_BY_ONE = 16
"""Points up to which the compiled code, one at a time, is faster than NumPy with all of them."""


@dataclass(frozen=True)
class TwoBackends(Forwarding):
    """The `interpreted` density at many points, the compiled `target` at each alone.

    Where `many_gradients` are to be taken they are compiled too.
    """

    interpreted: PosteriorTarget
    target: Target
    many_gradients: bool = False

    def log_densities(self, us: Floats) -> Floats:
        return self.interpreted.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        if not self.many_gradients and len(us) <= ONE_BY_ONE:
            values, slopes = zip(*map(self.target.log_density_gradient, us), strict=True)
            return np.array(values), np.array(slopes)
        return self.at(len(us)).log_density_gradients(us)

    def gradients_alone(self, us: Floats) -> Floats:
        return self.at(len(us)).gradients_alone(us)

    def at(self, points: int) -> Target:
        """What computes gradients at so many points."""
        return self.target if self.many_gradients or points == 1 else self.interpreted

    def view(self, view: View) -> "TwoBackends | None":
        return replace(self, many_gradients=view.points >= MANY) if isinstance(view, Often) else None
