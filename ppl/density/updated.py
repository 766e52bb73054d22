"""The density of an updated fit: an earlier q in place of the prior and the rows that it has seen.

p(u | old, new) is proportional to p(u | old) p(new | u), where the rows are independent given the parameters.
For p(u | old) stands log q(u) (Opper 1998, "A Bayesian approach to on-line learning"; Broderick et al. 2013,
"Streaming variational Bayes", NIPS 26).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ppl.density.log_joint import LogJoint
from ppl.density.rows import ByRows
from ppl.ir.forms import ARRAYS, Form, priors_of
from ppl.ir.passes.split_rows import rest_terms, split_rows

if TYPE_CHECKING:
    from ppl.density.posterior import Posterior

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Earlier:
    """What earlier fits say of the parameters.

    `family` (inference.families) and `params` (size,) are q over the coordinates called `names`. `rows` is
    the size of the data that counts rows, `groups` those that parameters have, with their values at the fit.
    `worth` has for each earlier q its draws, k-hat and effective sample size.
    """

    family: Any
    params: Floats
    names: tuple[str, ...]
    rows: str
    groups: Mapping[str, int]
    worth: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, eq=False)
class UpdatedJoint:
    """log q, the priors of new groups given the other parameters, and the terms of the new rows.

    It answers as a `LogJoint` does, always with the Jacobian: q is a density over R^dim.
    """

    posterior: "Posterior"
    earlier: Earlier

    values_at_once = None

    @cached_property
    def at(self) -> NDArray[np.intp]:
        """Where the coordinates of q are among those of the posterior."""
        return positions(self.earlier.names, self.posterior)

    @cached_property
    def parts(self) -> tuple[LogJoint, ...]:
        """What is added to log q."""
        rows = whole_rows(self.posterior, self.earlier.rows)
        new = [
            priors.minibatch(np.arange(n, priors.n_rows))
            for size, n in self.earlier.groups.items()
            if (priors := priors_of_groups(self.posterior, size, self.earlier.rows)).n_rows > n
        ]
        return tuple(batch.terms for batch in (rows.minibatch(np.arange(rows.n_rows)), *new))

    def value(self, u: Floats) -> float:
        """At `u` (dim,)."""
        return float(self.log_q(u[None])[0] + sum(part.value(u) for part in self.parts))

    def value_and_gradient(self, u: Floats) -> tuple[float, Floats]:
        """The same with the gradient (dim,)."""
        found = [part.value_and_gradient(u) for part in self.parts]
        gradient = self.score(u[None])[0] + sum(g for _, g in found)
        return float(self.log_q(u[None])[0] + sum(v for v, _ in found)), gradient

    def values(self, us: Floats) -> Floats:
        """At each row of `us` (n, dim), (n,)."""
        return self.log_q(us) + sum(part.values(us) for part in self.parts)

    def values_and_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        """The same with the gradients (n, dim)."""
        found = [part.values_and_gradients(us) for part in self.parts]
        return self.log_q(us) + sum(v for v, _ in found), self.score(us) + sum(g for _, g in found)

    def log_q(self, us: Floats) -> Floats:
        found: Floats = self.earlier.family.log_density(self.earlier.params, us[:, self.at])
        return found

    def score(self, us: Floats) -> Floats:
        found = np.zeros_like(us)
        found[:, self.at] = self.earlier.family.score(self.earlier.params, us[:, self.at])
        return found


@dataclass(frozen=True, eq=False)
class Priors(ByRows):
    """The priors of the entries that a size counts, as rows; `of_rows` is the size that counts rows."""

    of_rows: str = ""

    @property
    def rows(self) -> Form:
        return priors_of(self.split.size, self.of_rows)


def whole_rows(posterior: "Posterior", rows: str) -> ByRows:
    """The posterior by rows that a size counts; whether its terms add up is not tried."""
    return ByRows(posterior, split_rows(posterior.model.program(ARRAYS), rows))


def priors_of_groups(posterior: "Posterior", size: str, rows: str) -> Priors:
    """The priors of the groups that `size` counts."""
    rest = rest_terms(posterior.model.program(ARRAYS), rows)
    return Priors(posterior, split_rows(rest, size), rows)


def positions(names: tuple[str, ...], posterior: "Posterior") -> NDArray[np.intp]:
    """Where coordinates of these names are in `u`; KeyError for one that is not there."""
    place = {name: k for k, name in enumerate(posterior.param_unc_names())}
    return np.array([place[name] for name in names], dtype=np.intp)
