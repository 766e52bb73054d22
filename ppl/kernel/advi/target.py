"""What inference knows of a model: a dimension and a log density over R^dim."""

from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Kinds = tuple[NDArray[np.bool_], NDArray[np.bool_]]


class Known(NamedTuple):
    """Draws u (n, dim) that follow the target with normalised log weights (n,), and its log density there."""

    u: Array
    log_p: Array
    log_weights: Array


class Target(Protocol):
    """A log density over R^dim, with every constant and the log-Jacobian of the transforms.

    A point outside the support, or where the arithmetic breaks down, has log density -inf or nan; it never
    raises. `explain(u)` then says in words which statement is to blame ("" where that is not known).
    """

    @property
    def dim(self) -> int: ...
    def log_density(self, u: Array) -> float: ...
    def log_density_gradient(self, u: Array) -> tuple[float, Array]: ...
    def explain(self, u: Array) -> str: ...


@runtime_checkable
class Batched(Protocol):
    """A target that evaluates many points at once: `us` (n, dim) to values (n,) and gradients (n, dim)."""

    def log_densities(self, us: Array) -> Array: ...
    def log_density_gradients(self, us: Array) -> tuple[Array, Array]: ...


class Capabilities:
    """What a target may offer beyond a density: each member with the plain default of one that does not.

    A target that offers more derives from this class and overrides the member; nothing is asked for by name.
    """

    @property
    def width(self) -> int:
        """How many numbers one evaluation works through, about."""
        return 1

    @property
    def kinds(self: Any) -> Kinds:
        """Which coordinates (dim,) are of a parameter that is one number, and which of one without a
        constraint.
        """
        none = np.zeros(self.dim, dtype=bool)
        return none, none

    @property
    def known(self) -> Known | None:
        """Draws that follow the target, as of an earlier fit."""
        return None

    def share_of_rows(self, points: int) -> float:
        """The share of the rows of data that log densities of so many points at once are computed from."""
        return 1.0

    def gradients_alone(self: Any, us: Array) -> Array:
        """The gradient (n, dim) at each row of `us`, which means nothing where the density is zero."""
        return log_density_gradients(self, us)[1]

    def with_gradients_in(self: Any, some: NDArray[np.bool_]) -> Target:
        """The same density; of its gradients at many points those in some coordinates (dim,) are read."""
        return cast(Target, self)

    def with_shared(self, some: NDArray[np.bool_]) -> Target | None:
        """The same, faster at points that agree in the other coordinates (dim,); None if there is none."""
        return None

    def for_many_points(self: Any, points: int) -> Target:
        """The same density by what begins later and is faster at so many points."""
        return cast(Target, self)

    def without_blocks(self: Any) -> Target:
        """The same density by what is faster where no blocks are integrated out."""
        return cast(Target, self)

    def of_points(self: Any, places: NDArray[np.intp]) -> Target:
        """The target of some of its points, where each point has a density of its own."""
        return cast(Target, self)

    fused_steps: Any = None
    """A `fused_steps.FusedSteps`, which takes iterations in compiled code."""


def log_densities(target: Target, us: Array) -> Array:
    """The log density at each row of `us`, (n, dim) -> (n,)."""
    if isinstance(target, Batched):
        return target.log_densities(us)
    return np.array([target.log_density(u) for u in us], dtype=float)


def finite(log_values: Array) -> Array:
    """-inf where one is not finite."""
    return np.where(np.isfinite(log_values), log_values, -np.inf)


def log_density_gradients(target: Target, us: Array) -> tuple[Array, Array]:
    """Log density (n,) and gradient (n, dim) at each row of `us`."""
    if isinstance(target, Batched):
        return target.log_density_gradients(us)
    pairs = [target.log_density_gradient(u) for u in us]
    values = np.array([value for value, _ in pairs], dtype=float)
    return values, np.array([gradient for _, gradient in pairs], dtype=float).reshape(us.shape)


def gradients(target: Target, us: Array) -> Array:
    """`Capabilities.gradients_alone`."""
    if isinstance(target, Capabilities):
        return np.asarray(target.gradients_alone(us))
    return log_density_gradients(target, us)[1]


def given(target: Target, outer: NDArray[np.intp]) -> Target:
    """The same density, of whose gradients at many points those in other coordinates are read."""
    some = all_but(outer, target.dim)
    return target.with_gradients_in(some) if isinstance(target, Capabilities) else target


def with_shared(target: Target, outer: NDArray[np.intp]) -> Target | None:
    """The same, faster at points that agree in the outer coordinates; None where there is none such."""
    some = all_but(outer, target.dim)
    return target.with_shared(some) if isinstance(target, Capabilities) else None


def all_but(some: NDArray[np.intp], dim: int) -> NDArray[np.bool_]:
    """Which coordinates (dim,) are not among some."""
    others = np.ones(dim, dtype=bool)
    others[some] = False
    return others


def for_many_points(target: Target, points: int) -> Target:
    """`Capabilities.for_many_points`."""
    return target.for_many_points(points) if isinstance(target, Capabilities) else target


def without_blocks(target: Target) -> Target:
    """`Capabilities.without_blocks`."""
    return target.without_blocks() if isinstance(target, Capabilities) else target


def of_points(target: Target, places: NDArray[np.intp]) -> Target:
    """`Capabilities.of_points`."""
    return target.of_points(places) if isinstance(target, Capabilities) else target


def width_of(target: Target) -> int:
    """`Capabilities.width`."""
    return int(target.width) if isinstance(target, Capabilities) else 1


def kinds_of(target: Target) -> Kinds:
    """`Capabilities.kinds`."""
    none = np.zeros(target.dim, dtype=bool)
    return target.kinds if isinstance(target, Capabilities) else (none, none)


def share_of_rows(target: Target, points: int) -> float:
    """`Capabilities.share_of_rows`."""
    return target.share_of_rows(points) if isinstance(target, Capabilities) else 1.0


class Forwarding(Capabilities):
    """A target that answers as `target` does: the base of those that add to it, or change one answer.

    It forwards what holds of any density made of another; other capabilities have their defaults.
    """

    target: Target

    @property
    def dim(self) -> int:
        return self.target.dim

    @property
    def width(self) -> int:
        return width_of(self.target)

    @property
    def kinds(self) -> Kinds:
        return kinds_of(self.target)

    def share_of_rows(self, points: int) -> float:
        return share_of_rows(self.target, points)

    def log_density(self, u: Array) -> float:
        return self.target.log_density(u)

    def log_density_gradient(self, u: Array) -> tuple[float, Array]:
        return self.target.log_density_gradient(u)

    def log_densities(self, us: Array) -> Array:
        return log_densities(self.target, us)

    def log_density_gradients(self, us: Array) -> tuple[Array, Array]:
        return log_density_gradients(self.target, us)

    def explain(self, u: Array) -> str:
        return self.target.explain(u)


UNKNOWN = (
    "The model does not say which statement is to blame. Give initial values inside the support, or a "
    "smaller init radius."
)


def blame(target: Target, u: Array) -> str:
    """Why the log density at `u` is not finite, in words fit for an error message."""
    return target.explain(u) or UNKNOWN
