"""What is left in the residuals: groups, predictors, the order of rows, interactions, curvature, variance.

Each statistic of the residuals is compared with that of replicated data (Gelman et al. 2013, Bayesian Data
Analysis, section 6.3). What the model's own predictors and its fitted values explain linearly is projected
out of both.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ppl.results.doctor.advice import with_term
from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.tails import Candidate, farthest
from ppl.results.files.columns import Floats

ORDER = "the order of the rows"
MOST_COLUMNS = 10
"""Columns of which pairs are tried as interactions."""
FEWEST_VALUES = 5
"""Distinct values of a column from which on its square is tried."""
COLLINEAR = 1e-3
"""The share of a column's variance below which what is left of it tells nothing."""


def basis(o: Outcome) -> Floats:
    """Orthonormal columns (n, k): the constant, the fitted values, the numeric columns that are read."""
    own = [c.values for c in o.columns.values() if c.used and c.groups is None]
    parts = [np.ones(len(o.y)), o.fitted, *own[: len(o.y) // 4]]
    left, sizes, _ = np.linalg.svd(np.stack([standardised(x) for x in parts], axis=1), full_matrices=False)
    return np.asarray(left[:, sizes > COLLINEAR * sizes[0]])


def standardised(x: Floats) -> Floats:
    """With mean 0 and sd 1; a constant is 1."""
    sd = float(x.std())
    return (x - x.mean()) / sd if sd > np.finfo(float).eps * np.abs(x).max() else np.ones_like(x)


def direction(x: Floats, q: Floats) -> Floats | None:
    """What `q` does not explain of x (n,), of length 1; None if it explains all."""
    x = standardised(x)
    left = x - q @ (q.T @ x)
    length = float(np.linalg.norm(left))
    return left / length if length**2 > COLLINEAR * len(x) else None


def residuals(o: Outcome) -> tuple[Floats, Floats, Floats]:
    """Scores of the data (1, n) and replications (draws, n) less what the basis explains; the basis."""
    q = basis(o)
    own, replicated = (s - (s @ q) @ q.T for s in (o.scores[0][None], o.scores[1]))
    return own, replicated, q


def along(name: str, x: Floats | None) -> Iterator[Candidate]:
    """The statistic |score along x|, where there is such a direction."""
    if x is not None:
        yield name, lambda scores: np.abs(scores @ x)


def between(name: str, groups: NDArray[np.intp]) -> Candidate:
    """The sum of squares between groups."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    counts = np.diff(starts, append=len(groups))
    return name, lambda scores: (np.add.reduceat(scores[:, order], starts, axis=1) ** 2 / counts).sum(axis=1)


def group(o: Outcome) -> Finding | None:
    """Residuals that differ between groups of the data."""
    own, replicated, _ = residuals(o)
    columns = [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    found = farthest(columns, own, replicated, "sum of squares of residuals between groups of {}")
    if found is None:
        return None
    name, at = found.name, o.statement.at
    new = "" if o.columns[name].used else f"declare `{name}` in data, "
    return Finding(
        o.statement.span,
        "PPL024",
        f"The residuals of `{o.name}` differ between the groups of `{name}` more than replicated data do.",
        f"Give each group an effect: {new}declare `real<lower=0> s_{name}; vector[K] u_{name};` in "
        f"parameters with K groups, write `u_{name} ~ normal(0, s_{name}); s_{name} ~ normal(0, 1);`, and "
        f"{with_term(o.statement, f'u_{name}[{name}{at}]')}.",
        p=found.p,
        reference=found.reference,
    )


def predictor(o: Outcome) -> Finding | None:
    """Residuals that change with a column that the model leaves out, or with the order of rows."""
    own, replicated, q = residuals(o)
    left_out = {name: c.values for name, c in o.columns.items() if not c.used}
    rows = {ORDER: np.arange(len(o.y), dtype=float)}
    tried = [c for name, x in {**left_out, **rows}.items() for c in along(name, direction(x, q))]
    found = farthest(tried, own, replicated, "|correlation| of residuals with {}")
    if found is None:
        return None
    name = "t" if found.name == ORDER else found.name
    declared = "with `t` the time or number of each row" if found.name == ORDER else f"with `{name}` in data"
    return Finding(
        o.statement.span,
        "PPL025",
        f"The residuals of `{o.name}` change with {quoted(found.name)}, which the model leaves out.",
        f"Declare `real b_{plain(name)};` in parameters, give it a prior, and, {declared}, "
        f"{with_term(o.statement, f'b_{plain(name)} * {name}{o.statement.at}')}.",
        p=found.p,
        reference=found.reference,
    )


def quoted(name: str) -> str:
    return name if name == ORDER else f"`{name}`"


def plain(name: str) -> str:
    """A name for a coefficient of `x[, 2]`: x_2."""
    return name.replace("[, ", "_").removesuffix("]")
