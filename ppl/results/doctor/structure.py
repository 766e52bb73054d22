"""What the mean leaves out: groups, predictors, interactions, curvature, and the order of rows."""

from itertools import combinations

import numpy as np

from ppl.late import special, stats
from ppl.results.doctor.advice import (
    are_indices,
    effect_prior,
    plain,
    rounded,
    undeclared,
    unit,
    value_of,
    with_term,
)
from ppl.results.doctor.change import Change, written
from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import FITTED, between, direction, quoted, scaled, score_of
from ppl.results.doctor.statement import Statement
from ppl.results.doctor.tails import Candidate, farthest
from ppl.results.files.columns import Floats

ORDER = "the order of the rows"
MOST_COLUMNS = 8
"""Columns of which pairs are tried as interactions."""
ROWS_OF_A_GROUP = 5
"""Rows of a group, on average, from which on its mean is taken out before neighbours are compared."""
LINK = "change the link, for instance exp(...) for a mean that is positive"
FEWEST_VALUES = 5
"""Distinct values of a column from which on its square is tried."""


def group(o: Outcome) -> Finding | None:
    """Residuals that differ between groups of the data."""
    own, replicated, _ = o.unexplained
    columns = [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    found = farthest(columns, own, replicated, "sum of squares of residuals between groups of {}")
    return found and found.finding(
        o.statement.span,
        "PPL024",
        f"The residuals of `{o.name}` differ between the groups of `{found.name}`.",
        of_groups(o, found.name),
    )


def of_groups(o: Outcome, name: str) -> Change | str:
    """An effect of each group, with a scale that they have in common."""
    s, c = o.statement, o.columns[name]
    scale, effect = (s.fresh(f"{letter}_{plain(name)}") for letter in "su")
    new = with_term(s, f"{effect}[{name}{s.at}]")
    priors = (f"{scale} ~ normal(0, {rounded(unit(o))});", f"{effect} ~ normal(0, {scale});")
    if not are_indices(c):
        declared = "" if c.declared else f"number the groups of `{name}` from 1 and declare it in data, "
        return (
            f"Give each group an effect: {declared}declare `real<lower=0> {scale}; vector[K] {effect};` in "
            f"parameters for K groups, write `{' '.join(priors)}`, and {written(new)}."
        )
    parameters = (f"real<lower=0> {scale};", f"vector[max({name})] {effect};")
    return Change(s, new, parameters, priors, tuple(undeclared(o, [name], grouping=True)))


def predictor(o: Outcome) -> Finding | None:
    """Residuals that change with a column that the model leaves out, or with the order of rows."""
    own, replicated, q = o.unexplained
    left_out = {name: c.values for name, c in o.columns.items() if not c.used}
    tried = [c for name, x in {**left_out, ORDER: order(o)}.items() for c in score_of(name, direction(x, q))]
    found = farthest(tried, own, replicated, "squared covariance of residuals and {}")
    return found and found.finding(
        o.statement.span,
        "PPL025",
        f"The residuals of `{o.name}` change with {quoted(found.name)}, which the model leaves out.",
        in_time(o.statement) if found.name == ORDER else of_column(o, found.name),
    )


def of_column(o: Outcome, name: str) -> Change:
    """A coefficient of a column."""
    s, b = o.statement, o.statement.fresh(f"b_{plain(name)}")
    prior = f"{b} ~ {effect_prior(o, o.columns[name].values)};"
    data = tuple(undeclared(o, [name]))
    return Change(s, with_term(s, f"{b} * {value_of(o, name)}"), (f"real {b};",), (prior,), data)


def in_time(s: Statement) -> str:
    return (
        "Declare `t`, the time or number of the row, in data and `real b_t;` in parameters, with a prior, "
        f"and {written(with_term(s, f'b_t * t{s.at}'))}."
    )


def autocorrelation(o: Outcome) -> Finding | None:
    """Residuals, within the groups of each column, that are like those of the row before."""
    own, replicated = (within(o, s) for s in o.unexplained[:2])
    tried: list[Candidate] = [(ORDER, lambda s: np.maximum((s[:, 1:] * s[:, :-1]).mean(axis=1), 0.0) ** 2)]
    found = farthest(tried, own, replicated, "squared autocorrelation of residuals in {}")
    return found and found.finding(
        o.statement.span,
        "PPL026",
        f"The residuals of `{o.name}` are alike from one row to the next "
        f"(autocorrelation {found.reference.observed**0.5:.2f}).",
        of_states(o),
    )


def of_states(o: Outcome) -> Change | str:
    """A state of each row, an autoregression of order 1."""
    s = o.statement
    size = (s.site and s.site.size) or "N"
    u, rho, scale, n = (s.fresh(name) for name in ("u", "rho", "s_u", "n"))
    parameters = (f"vector[{size}] {u};", f"real<lower=-1, upper=1> {rho};", f"real<lower=0> {scale};")
    priors = (
        f"{scale} ~ normal(0, {rounded(unit(o))});",
        f"{u}[1] ~ normal(0, {scale});",
        f"for ({n} in 2 : {size}) {u}[{n}] ~ normal({rho} * {u}[{n} - 1], {scale});",
    )
    premise = "if rows are in the order of time, give each a state: "
    made = Change(s, with_term(s, f"{u}{s.at}"), parameters, priors, premise=premise)
    return made if s.site and s.site.size else made.hint


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
    return found.finding(
        o.statement.span,
        "PPL027",
        f"The residuals of `{o.name}` change with the product of `{a}` and `{b}`: the effect of one depends "
        "on the other.",
        of_product(o, a, b),
    )


def of_product(o: Outcome, a: str, b: str) -> Change:
    """A coefficient of the product of two columns."""
    s, dot = o.statement, "*" if o.statement.at else ".*"
    slope = s.fresh(f"b_{plain(a)}_{plain(b)}")
    new = with_term(s, f"{slope} * ({value_of(o, a)} {dot} {value_of(o, b)})")
    prior = f"{slope} ~ {effect_prior(o, o.columns[a].values * o.columns[b].values)};"
    return Change(s, new, (f"real {slope};",), (prior,), tuple(dict.fromkeys(undeclared(o, [a, b]))))


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
    bent = farthest([c for c in tried if c[0] != FITTED], own, replicated, "{}")
    return found.finding(
        o.statement.span,
        "PPL028",
        f"The residuals of `{o.name}` bend along {quoted(x)}: the link, or the form of an effect, is wrong.",
        f"{LINK[0].upper()}{LINK[1:]}, or add the square of its predictor with a coefficient to "
        f"`{o.statement.text}`."
        if bent is None
        else of_square(o, bent.name),
    )


def of_square(o: Outcome, name: str) -> Change:
    """A coefficient of the square of a column."""
    s, b = o.statement, o.statement.fresh(f"b_{plain(name)}_2")
    new = with_term(s, f"{b} * square({value_of(o, name)})")
    prior = f"{b} ~ {effect_prior(o, o.columns[name].values ** 2)};"
    return Change(s, new, (f"real {b};",), (prior,), alternative=f". Or {LINK}.")


def normal_scores(x: Floats) -> Floats:
    """The normal quantiles (n,) of the ranks of x (n,): the fitted values of counts have long tails."""
    return np.asarray(special.ndtri(stats.rankdata(x) / (len(x) + 1)))


def order(o: Outcome) -> Floats:
    """The number of each row (n,)."""
    return np.arange(len(o.y), dtype=float)
