"""What the mean leaves out: groups, predictors, interactions, curvature, and the order of rows."""

from itertools import combinations

import numpy as np

from ppl.late import special, stats
from ppl.results.doctor.advice import with_term
from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import FITTED, between, direction, quoted, scaled, score_of
from ppl.results.doctor.tails import Candidate, farthest
from ppl.results.files.columns import Floats

ORDER = "the order of the rows"
MOST_COLUMNS = 8
"""Columns of which pairs are tried as interactions."""
ROWS_OF_A_GROUP = 5
"""Rows of a group, on average, from which on its mean is taken out before neighbours are compared."""
FEWEST_VALUES = 5
"""Distinct values of a column from which on its square is tried."""


def group(o: Outcome) -> Finding | None:
    """Residuals that differ between groups of the data."""
    own, replicated, _ = o.unexplained
    columns = [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    found = farthest(columns, own, replicated, "sum of squares of residuals between groups of {}")
    if found is None:
        return None
    g = plain(found.name)
    declared = "" if o.columns[found.name].used else f"declare `{found.name}` in data, "
    return found.finding(
        o.statement.span,
        "PPL024",
        f"The residuals of `{o.name}` differ between the groups of `{found.name}`.",
        f"Give each group an effect: {declared}declare `real<lower=0> s_{g}; vector[K] u_{g};` in parameters "
        f"for K groups, write `u_{g} ~ normal(0, s_{g}); s_{g} ~ normal(0, 1);`, and "
        f"{with_term(o.statement, f'u_{g}[{found.name}{o.statement.at}]')}.",
    )


def predictor(o: Outcome) -> Finding | None:
    """Residuals that change with a column that the model leaves out, or with the order of rows."""
    own, replicated, q = o.unexplained
    left_out = {name: c.values for name, c in o.columns.items() if not c.used}
    tried = [c for name, x in {**left_out, ORDER: order(o)}.items() for c in score_of(name, direction(x, q))]
    found = farthest(tried, own, replicated, "squared covariance of residuals and {}")
    if found is None:
        return None
    in_order = found.name == ORDER
    x = "t" if in_order else found.name
    return found.finding(
        o.statement.span,
        "PPL025",
        f"The residuals of `{o.name}` change with {quoted(found.name)}, which the model leaves out.",
        f"Declare `{x}`{', the time or number of the row,' if in_order else ''} in data and "
        f"`real b_{plain(x)};` in parameters, with a prior, and "
        f"{with_term(o.statement, f'b_{plain(x)} * {x}{o.statement.at}')}.",
    )


def autocorrelation(o: Outcome) -> Finding | None:
    """Residuals, within the groups of each column, that are like those of the row before."""
    own, replicated = (within(o, s) for s in o.unexplained[:2])
    tried: list[Candidate] = [(ORDER, lambda s: np.maximum((s[:, 1:] * s[:, :-1]).mean(axis=1), 0.0) ** 2)]
    found = farthest(tried, own, replicated, "squared autocorrelation of residuals in {}")
    assert found is not None
    return found.finding(
        o.statement.span,
        "PPL026",
        f"The residuals of `{o.name}` are alike from one row to the next "
        f"(autocorrelation {found.reference.observed**0.5:.2f}).",
        "If rows are in the order of time, give each a state: declare `vector[N] u; real<lower=-1, upper=1> "
        "rho; real<lower=0> s_u;` in parameters, write `u[1] ~ normal(0, s_u); u[2:N] ~ normal(rho * "
        f"u[1:N - 1], s_u);`, and {with_term(o.statement, f'u{o.statement.at}')}.",
    )


def within(o: Outcome, scores: Floats) -> Floats:
    """Scores (n, rows) less their means in the groups of each column: rows are often sorted by group."""
    for groups in (c.groups for c in o.columns.values() if c.groups is not None):
        members = groups == np.arange(groups.max() + 1)[:, None]
        if len(members) > len(o.y) / ROWS_OF_A_GROUP:
            continue
        scores = scores - (scores @ members.T / members.sum(axis=1)) @ members
    return scaled(scores)


def interaction(o: Outcome) -> Finding | None:
    """Residuals that change with the product of two columns."""
    own, replicated, q = o.unexplained
    columns = [(name, c.values) for name, c in o.columns.items() if not c.index and (c.used or not c.whole)]
    tried = [
        candidate
        for (a, x), (b, z) in combinations(columns[:MOST_COLUMNS], 2)
        for candidate in score_of(f"{a} * {b}", direction((x - x.mean()) * (z - z.mean()), q))
    ]
    found = farthest(tried, own, replicated, "squared covariance of residuals and {}")
    if found is None:
        return None
    a, b = found.name.split(" * ")
    at, dot = o.statement.at, "*" if o.statement.at else ".*"
    term = f"b_{plain(a)}_{plain(b)} * ({a}{at} {dot} {b}{at})"
    return found.finding(
        o.statement.span,
        "PPL027",
        f"The residuals of `{o.name}` change with the product of `{a}` and `{b}`: the effect of one depends "
        "on the other.",
        f"Declare `real b_{plain(a)}_{plain(b)};` in parameters, with a prior, and "
        f"{with_term(o.statement, term)}.",
    )


def curvature(o: Outcome) -> Finding | None:
    """Residuals that bend along the fitted values or a predictor."""
    own, replicated, q = o.unexplained
    used = {name: c.values for name, c in o.columns.items() if c.used and not c.index}
    tried = [
        candidate
        for name, x in {FITTED: normal_scores(o.fitted), **used}.items()
        if len(np.unique(x)) >= FEWEST_VALUES
        for candidate in score_of(name, direction((x - x.mean()) ** 2, q))
    ]
    found = farthest(tried, own, replicated, "squared covariance of residuals and the square of {}")
    if found is None:
        return None
    x = found.name
    bend = f"`square({x}{o.statement.at})`" if x in used else "the square of its predictor"
    return found.finding(
        o.statement.span,
        "PPL028",
        f"The residuals of `{o.name}` bend along {quoted(x)}: the link, or the form of an effect, is wrong.",
        f"Change the link, for instance exp(...) for a mean that is positive, or add {bend} with a "
        f"coefficient to `{o.statement.text}`.",
    )


def normal_scores(x: Floats) -> Floats:
    """The normal quantiles (n,) of the ranks of x (n,): the fitted values of counts have long tails."""
    return np.asarray(special.ndtri(stats.rankdata(x) / (len(x) + 1)))


def order(o: Outcome) -> Floats:
    """The number of each row (n,)."""
    return np.arange(len(o.y), dtype=float)


def plain(name: str) -> str:
    """A name for what belongs to `x[, 2]`: x_2."""
    return name.replace("[, ", "_").removesuffix("]")
