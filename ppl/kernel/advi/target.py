"""The model as inference sees it: a dimension and a log density over R^dim."""

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats, Indices
from ppl.records import replace

Kinds = tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int_]]


class Known(NamedTuple):
    """Draws u (n, dim) that follow the target with normalised log weights (n,), and its log density there."""

    u: Floats
    log_p: Floats
    log_weights: Floats


class Axis(NamedTuple):
    """An axis of a parameter: the coordinates `at` (width, others) of each of the others along it.

    Along it the `basis` (size, width) times these is what the parameter is made of, entry by entry: itself,
    or logarithms of a simplex, of which one is not free. The columns of the basis are orthonormal.
    """

    at: NDArray[np.intp]
    basis: Floats


class OfRows(NamedTuple):
    """Only these `rows` (B,) of its `n_rows` count, each n_rows / B times.

    A gradient at rows drawn without replacement is unbiased for that of all.
    """

    rows: Indices


class Inner(NamedTuple):
    """Of its gradients at many points only the coordinates other than `outer` are read."""

    outer: Indices


class Shared(NamedTuple):
    """Its points agree in the coordinates `outer`; the target computes once what depends on these alone."""

    outer: Indices


class Often(NamedTuple):
    """So many points are to be evaluated, which a target may compile its code for."""

    points: int


class AtPoints(NamedTuple):
    """The points are those at `places` among all, where each point has a density of its own."""

    places: Indices


View = OfRows | Inner | Shared | Often | AtPoints
"""A fact about the evaluations to come, by which a target may answer at lower cost."""


class Target:
    """A log density over R^dim, with every constant and the log-Jacobian of the transforms.

    A point outside the support, or where the arithmetic breaks down, has log density -inf or nan; it never
    raises. Subclasses define `dim`, and both members of one point or both of many. All others have the plain
    default of a target that offers no more; what one offers beyond its density is a `View`.
    """

    if TYPE_CHECKING:  # a property of most, a field or a constant of others

        @property
        def dim(self) -> int: ...

    def log_density(self, u: Floats) -> float:
        return float(self.log_densities(u[None])[0])

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        values, gradients = self.log_density_gradients(u[None])
        return float(values[0]), gradients[0]

    def log_densities(self, us: Floats) -> Floats:
        """The log density at each row of `us`, (n, dim) -> (n,)."""
        return np.array([self.log_density(u) for u in us], dtype=float)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        """Log density (n,) and gradient (n, dim) at each row of `us`."""
        pairs = [self.log_density_gradient(u) for u in us]
        values = np.array([value for value, _ in pairs], dtype=float)
        return values, np.array([gradient for _, gradient in pairs], dtype=float).reshape(us.shape)

    def gradients_alone(self, us: Floats) -> Floats:
        """The gradient (n, dim) at each row of `us`, which means nothing where the density is zero."""
        return self.log_density_gradients(us)[1]

    def explain(self, u: Floats) -> str:
        """Which statement is to blame where the density is not finite; "" where that is not known."""
        return ""

    @property
    def width(self) -> int:
        """How many numbers one evaluation works through, about."""
        return 1

    @property
    def kinds(self) -> Kinds:
        """Which coordinates (dim,) are of a parameter that is one number, which of one without a constraint,
        and how many bounds each has: it is the logarithm of the distance from one, the logit between two.
        """
        none = np.zeros(self.dim, dtype=bool)
        return none, none, none.astype(int)

    @property
    def rounding_limits(self) -> Floats:
        """The coordinates (2, dim) below and above which a parameter rounds to its bound, if it has one."""
        return np.outer([-np.inf, np.inf], np.ones(self.dim))

    def axes(self, most: int) -> tuple[Axis, ...]:
        """The axes of all parameters that have at most so many entries."""
        return ()

    @property
    def known(self) -> Known | None:
        """Draws that follow the target, as of an earlier fit."""
        return None

    def share_of_rows(self, points: int) -> float:
        """The share of the rows of data that log densities of so many points at once are computed from."""
        return 1.0

    @property
    def n_rows(self) -> int:
        """How many rows of data the log density is a sum over, for `OfRows`; 0 if it is not one."""
        return 0

    def view(self, view: View) -> "Target | None":
        """The same density under a view, None where it has nothing of its own to offer for that."""
        return None

    fused_steps: Any = None
    """A `fused_steps.FusedSteps`, which takes iterations in compiled code."""


def finite(log_values: Floats) -> Floats:
    """-inf where one is not finite."""
    return np.where(np.isfinite(log_values), log_values, -np.inf)


class Forwarding(Target):
    """A target that answers as `target` does: the base of those that add to it, or change one answer.

    It forwards what holds of any density made of another; other members have their defaults.
    """

    target: Target
    views: ClassVar[tuple[type[View], ...]] = ()
    """Those under which it adds to the view of `target` as it does to `target`."""

    def view(self, view: View) -> Target | None:
        inner = self.target.view(view) if isinstance(view, self.views) else None
        return inner and replace(self, target=inner)  # type: ignore[type-var]

    @property
    def dim(self) -> int:
        return self.target.dim

    @property
    def width(self) -> int:
        return self.target.width

    @property
    def kinds(self) -> Kinds:
        return self.target.kinds

    @property
    def rounding_limits(self) -> Floats:
        return self.target.rounding_limits

    def axes(self, most: int) -> tuple[Axis, ...]:
        return self.target.axes(most)

    def share_of_rows(self, points: int) -> float:
        return self.target.share_of_rows(points)

    def log_density(self, u: Floats) -> float:
        return self.target.log_density(u)

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        return self.target.log_density_gradient(u)

    def log_densities(self, us: Floats) -> Floats:
        return self.target.log_densities(us)

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        return self.target.log_density_gradients(us)

    def explain(self, u: Floats) -> str:
        return self.target.explain(u)


UNKNOWN = (
    "The model does not say which statement is to blame. Give initial values inside the support, or a "
    "smaller init radius."
)


def blame(target: Target, u: Floats) -> str:
    """Why the log density at `u` is not finite, in words fit for an error message."""
    return target.explain(u) or UNKNOWN
