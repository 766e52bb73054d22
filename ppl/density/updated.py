"""The density of an updated fit: that of the program given new rows, and a site for the rows seen before.

The priors are those of the program. The log likelihood of the rows seen is a quadratic function, a "site" of
assumed density filtering (Opper 1998, "A Bayesian approach to on-line learning"; Minka 2001, "Expectation
propagation for approximate Bayesian inference"): the one whose gradient is the linear regression of theirs on
draws of the posterior (statistical linearisation; Gelb 1974, "Applied optimal estimation", section 6.2).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.density.log_joint import LogJoint, Moving
from ppl.floats import Floats
from ppl.kernel.advi.target import Known
from ppl.records import dataclass, replace


@dataclass(frozen=True, eq=False)
class Site:
    """The function constant + linear'u - u' precision u / 2 of u (dim,)."""

    constant: float
    linear: Floats
    precision: Floats

    def __add__(self, other: "Site") -> "Site":
        return Site(
            self.constant + other.constant, self.linear + other.linear, self.precision + other.precision
        )

    def values(self, us: Floats) -> Floats:
        """At each row of `us` (n, dim), (n,)."""
        found: Floats = self.constant + us @ self.linear - ((us @ self.precision) * us).sum(axis=1) / 2
        return found

    def gradients(self, us: Floats) -> Floats:
        """Its gradients there (n, dim)."""
        return self.linear - us @ self.precision


def site_of(us: Floats, values: Floats, gradients: Floats) -> Site:
    """The site of a function with these values (n,) and gradients (n, dim) at draws `us` (n, dim).

    A coordinate on which the function does not depend has none of the precision.
    """
    at = np.flatnonzero(gradients.any(axis=0))
    mean, force = us.mean(axis=0), gradients.mean(axis=0)
    slope = np.linalg.lstsq((us - mean)[:, at], (gradients - force)[:, at], rcond=None)[0]
    precision = np.zeros((us.shape[1], us.shape[1]))
    precision[np.ix_(at, at)] = -(slope + slope.T) / 2
    linear = force + precision @ mean
    plain = Site(0.0, linear, precision)
    return replace(plain, constant=float((values - plain.values(us)).mean()))


@dataclass(frozen=True, eq=False)
class Earlier:
    """What earlier fits say of the parameters.

    `site` stands for the rows seen, over the coordinates called `names`, of which `mean` (names,) is the mean
    of the draws. `rows` is the size of the data that counts rows, `groups` those that parameters have, with
    their values at the fit, `unchanged` the data of the fit that new data leave out, `held` those of rows for
    which no site stands yet. `qualities` has for each site the number of draws by which it was found, and the
    k-hat and effective sample size of their weights by it. `draws` are those of the fit, weighted by the new
    rows, where their weights are good: no other modes are searched for where q has the mass that they have.
    """

    site: Site
    names: tuple[str, ...]
    mean: Floats
    rows: str
    groups: Mapping[str, int]
    unchanged: Mapping[str, Any]
    held: Mapping[str, Any]
    qualities: tuple[tuple[int, float, float], ...]
    draws: Known | None = None


@dataclass(frozen=True, eq=False)
class UpdatedJoint:
    """The log joint of the program with the new rows, and the site, over the coordinates `at` of `u`.

    It answers as a `LogJoint` does, always with the Jacobian: the site is a function on R^dim.
    """

    program: LogJoint
    earlier: Earlier
    at: NDArray[np.intp]

    values_at_once = None

    def value(self, u: Floats) -> float:
        """At `u` (dim,)."""
        return self.program.value(u) + float(self.earlier.site.values(u[None, self.at])[0])

    def value_and_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The same with the gradient (dim,)."""
        value, gradient = self.program.value_and_gradient(u)
        values, gradients = self.with_site(u[None], np.array([value]), gradient[None])
        return float(values[0]), gradients[0]

    def values(self, us: Floats) -> Floats:
        """At each row of `us` (n, dim), (n,)."""
        return self.program.values(us) + self.earlier.site.values(us[:, self.at])

    def values_and_gradients(self, us: Floats, moving: Moving = None) -> tuple[Floats, Floats]:
        """The same with the gradients (n, dim), of the parameters that are moving."""
        return self.with_site(us, *self.program.values_and_gradients(us, moving))

    def gradients(self, us: Floats, moving: Moving = None) -> Floats:
        """The gradients (n, dim) alone."""
        found = self.program.gradients(us, moving).copy()
        found[:, self.at] += self.earlier.site.gradients(us[:, self.at])
        return found

    def with_site(self, us: Floats, values: Floats, gradients: Floats) -> tuple[Floats, Floats]:
        """Values and gradients of the program with those of the site."""
        site, found = self.earlier.site, gradients.copy()
        found[:, self.at] += site.gradients(us[:, self.at])
        return values + site.values(us[:, self.at]), found


def updated_joint(
    program: LogJoint, earlier: Earlier | None, names: Iterable[str]
) -> LogJoint | UpdatedJoint:
    """The log joint of new rows with what is known of earlier ones; `names` (dim,) are those of `u`."""
    return UpdatedJoint(program, earlier, positions(earlier.names, names)) if earlier else program


def positions(names: Iterable[str], all_names: Iterable[str]) -> NDArray[np.intp]:
    """Where coordinates are among all; KeyError for one that is not there."""
    place = {name: k for k, name in enumerate(all_names)}
    return np.array([place[name] for name in names], dtype=np.intp)
