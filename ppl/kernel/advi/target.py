"""What inference knows of a model: a dimension and a log density over R^dim."""

from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Kinds = tuple[NDArray[np.bool_], NDArray[np.bool_]]


class Known(NamedTuple):
    """Draws u (n, dim) that follow the target with normalised log weights (n,), and its log density there.

    A target may have such as `known`, as of an earlier fit.
    """

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
    """The gradient (n, dim) alone at each row of `us`, which means nothing where the density is zero."""
    find = getattr(target, "gradients_alone", None)
    return np.asarray(find(us) if find else log_density_gradients(target, us)[1])


def given(target: Target, outer: NDArray[np.intp]) -> Target:
    """The same density, of whose gradients at many points those in other coordinates are looked at."""
    return cast(Target, _by(target, "with_gradients_in", target, all_but(outer, target.dim)))


def with_shared(target: Target, outer: NDArray[np.intp]) -> Target | None:
    """The same, faster at points that agree in the outer coordinates; None where there is none such."""
    return cast(Target | None, _by(target, "with_shared", None, all_but(outer, target.dim)))


def all_but(some: NDArray[np.intp], dim: int) -> NDArray[np.bool_]:
    """Which coordinates (dim,) are not among some."""
    others = np.ones(dim, dtype=bool)
    others[some] = False
    return others


def for_many_points(target: Target, points: int) -> Target:
    """The same density by what begins later and is faster at so many points, if there is such."""
    return cast(Target, _by(target, "for_many_points", target, points))


def without_blocks(target: Target) -> Target:
    """The same density by what is faster where no blocks are integrated out, if there is such."""
    return cast(Target, _by(target, "without_blocks", target))


def of_points(target: Target, places: NDArray[np.intp]) -> Target:
    """The target of some of its points, where each point has a density of its own."""
    return cast(Target, _by(target, "of_points", target, places))


def _by(target: Target, method: str, otherwise: Any, *args: Any) -> Any:
    """What a method of the target gives; something else where it has none of that name."""
    find = getattr(target, method, None)
    return find(*args) if find else otherwise


class Forwarding:
    """A target that answers as `target` does: the base of those that add to it, or change one answer."""

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


def width_of(target: Target) -> int:
    """How many numbers one evaluation works through, about; 1 for a target that does not say."""
    return int(getattr(target, "width", 1))


def kinds_of(target: Target) -> Kinds:
    """Which coordinates (dim,) are of a parameter that is one number, and which of one without a constraint;
    none of a target that does not say.
    """
    none = np.zeros(target.dim, dtype=bool)
    found: Kinds = getattr(target, "kinds", (none, none))
    return found


def share_of_rows(target: Target, points: int) -> float:
    """The share of the rows of data that the log densities of so many points at once are computed from; 1 for
    a target that does not say.
    """
    return float(_by(target, "share_of_rows", 1.0, points))


UNKNOWN = (
    "The model does not say which statement is to blame. Give initial values inside the support, or a "
    "smaller init radius."
)


def blame(target: Target, u: Array) -> str:
    """Why the log density at `u` is not finite, in words fit for an error message."""
    return target.explain(u) or UNKNOWN
