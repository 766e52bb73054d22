"""Structure that the mean leaves out: groups, predictors, interactions, curvature, order; and the scale."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ppl.floats import Floats
from ppl.late import special, stats
from ppl.results.doctor import advice
from ppl.results.doctor.change import Change, written
from ppl.results.doctor.evidence import ObservedOutcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import FITTED, Candidate, along, between, quoted, scaled
from ppl.results.doctor.tails import Farthest, farthest

ORDER = "the order of the rows"
COVARIANCE = "squared covariance of residuals and {}"
CLEAR = 1e-4
"""The p-value with which a column is preferred to the order of rows, which often follows it."""
MOST_COLUMNS = 8
"""Columns of which pairs are tried as interactions."""
ROWS_OF_A_GROUP = 5
"""Rows of a group, on average, from which on its mean is taken out before neighbours are compared."""
LINK = "change the link, for instance exp(...) for a mean that is positive"
FEWEST_VALUES = 5
"""Distinct values of a column from which on its square is tried."""


def group(o: ObservedOutcome) -> Finding | None:
    """Residuals that differ between groups of the data."""
    columns = [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    label = "sum of squares of residuals between groups of {}"
    finding = farthest("PPL024", o, columns, o.unexplained[:2], label)
    return finding and finding.finding(
        f"The residuals of `{o.name}` differ between the groups of `{finding.name}`.",
        of_groups(o, finding.name),
    )


def of_groups(o: ObservedOutcome, name: str) -> Change | str:
    """An effect of each group, with a scale that they have in common."""
    s, c = o.statement, o.columns[name]
    scale, effect = (s.fresh(f"{letter}_{advice.plain(name)}") for letter in "su")
    new = advice.with_term(s, f"{effect}[{name}{s.at}]")
    priors = (f"{scale} ~ normal(0, {advice.rounded(advice.unit(o))});", f"{effect} ~ normal(0, {scale});")
    if not advice.are_indices(c):
        declared = "" if c.declared else f"number the groups of `{name}` from 1 and declare it in data, "
        return (
            f"Give each group an effect: {declared}declare `real<lower=0> {scale}; vector[K] {effect};` in "
            f"parameters for K groups, write `{' '.join(priors)}`, and {written(new)}."
        )
    parameters = (f"real<lower=0> {scale};", f"vector[max({name})] {effect};")
    return Change(s, new, parameters, priors, tuple(advice.undeclared(o, [name], grouping=True)))


def predictor(o: ObservedOutcome) -> Finding | None:
    """Residuals that change with a column that the model leaves out, or with the order of rows."""
    left_out = {name: c.values for name, c in o.columns.items() if not c.used and c.has_order}
    columns = {**left_out, ORDER: np.arange(len(o.y), dtype=float)}

    def of(some: Mapping[str, Floats]) -> Farthest | None:
        return farthest("PPL025", o, along(some, o.unexplained[2]), o.unexplained[:2], COVARIANCE)

    named = of(left_out)
    finding = named if named and named.p <= CLEAR else of(columns)
    if finding is None:
        return None
    name, s = finding.name, o.statement
    message = f"The residuals of `{o.name}` change with {quoted(name)}, which the model leaves out."
    if name != ORDER:
        b, term = f"b_{advice.plain(name)}", advice.value_of(o, name)
        return finding.finding(message, coefficient(o, (name,), b, term, columns[name]))
    return finding.finding(
        message,
        "Declare `t`, the time or number of the row, in data and `real b_t;` in parameters, with a prior, "
        f"and {written(advice.with_term(s, f'b_t * t{s.at}'))}.",
    )


def coefficient(
    o: ObservedOutcome, names: Sequence[str], name: str, term: str, x: Floats, alternative: str = "."
) -> Change:
    """A coefficient called `name` of a term with the values x (n,), of the columns `names`."""
    s, b = o.statement, o.statement.fresh(name)
    data = tuple(dict.fromkeys(advice.undeclared(o, names)))
    prior = f"{b} ~ {advice.effect_prior(o, x)};"
    new = advice.with_term(s, f"{b} * {term}")
    return Change(s, new, (f"real {b};",), (prior,), data, alternative=alternative)


def autocorrelation(o: ObservedOutcome) -> Finding | None:
    """Residuals, within the groups of each column, that are like those of the row before."""
    own, replicated = (within(o, s) for s in o.unexplained[:2])
    tried: list[Candidate] = [(ORDER, lambda s: np.maximum((s[:, 1:] * s[:, :-1]).mean(axis=1), 0.0) ** 2)]
    finding = farthest("PPL026", o, tried, (own, replicated), "squared autocorrelation of residuals in {}")
    return finding and finding.finding(
        f"The residuals of `{o.name}` are alike from one row to the next "
        f"(autocorrelation {finding.reference.observed**0.5:.2f}).",
        of_states(o),
    )


def of_states(o: ObservedOutcome) -> Change | str:
    """A state of each row, an autoregression of order 1."""
    s = o.statement
    size = (s.site and s.site.size) or "N"
    u, rho, scale, n = (s.fresh(name) for name in ("u", "rho", "s_u", "n"))
    parameters = (f"vector[{size}] {u};", f"real<lower=-1, upper=1> {rho};", f"real<lower=0> {scale};")
    priors = (
        f"{scale} ~ normal(0, {advice.rounded(advice.unit(o))});",
        f"{u}[1] ~ normal(0, {scale});",
        f"for ({n} in 2 : {size}) {u}[{n}] ~ normal({rho} * {u}[{n} - 1], {scale});",
    )
    premise = "if rows are in the order of time, give each a state: "
    change = Change(s, advice.with_term(s, f"{u}{s.at}"), parameters, priors, premise=premise)
    return change if s.site and s.site.size else change.hint


def within(o: ObservedOutcome, scores: Floats) -> Floats:
    """Scores (n, rows) less their means in the groups of each column: rows are often sorted by group."""
    for groups in (c.groups for c in o.columns.values() if c.groups is not None):
        members = groups == np.arange(groups.max() + 1)[:, None]
        if len(members) > len(o.y) / ROWS_OF_A_GROUP:
            continue
        scores = scores - (scores @ members.T / members.sum(axis=1)) @ members
    return scaled(scores)


def interaction(o: ObservedOutcome) -> Finding | None:
    """Residuals that change with the product of two columns."""
    columns = [(name, c.values) for name, c in o.columns.items() if not c.index and (c.used or not c.whole)]
    products = {
        f"{a} * {b}": (x - x.mean()) * (z - z.mean())
        for (a, x), (b, z) in combinations(columns[:MOST_COLUMNS], 2)
    }
    finding = farthest("PPL027", o, along(products, o.unexplained[2]), o.unexplained[:2], COVARIANCE)
    if finding is None:
        return None
    a, b = finding.name.split(" * ")
    term = f"({advice.value_of(o, a)} {'*' if o.statement.at else '.*'} {advice.value_of(o, b)})"
    x = o.columns[a].values * o.columns[b].values
    return finding.finding(
        f"The residuals of `{o.name}` change with the product of `{a}` and `{b}`: the effect of one depends "
        "on the other.",
        coefficient(o, (a, b), f"b_{advice.plain(a)}_{advice.plain(b)}", term, x),
    )


def curvature(o: ObservedOutcome) -> Finding | None:
    """Residuals that bend along the fitted values or a predictor."""
    used = {name: c.values for name, c in o.columns.items() if c.used and not c.index}
    columns = {FITTED: normal_scores(o.fitted), **used}
    squares = {name: (x - x.mean()) ** 2 for name, x in columns.items() if len(np.unique(x)) >= FEWEST_VALUES}
    tried, label = along(squares, o.unexplained[2]), "squared covariance of residuals and the square of {}"
    finding = farthest("PPL028", o, tried, o.unexplained[:2], label)
    if finding is None:
        return None
    where = quoted(finding.name)
    message = f"The residuals of `{o.name}` bend along {where}: the link, or the form of an effect, is wrong."
    bent = farthest("PPL028", o, [c for c in tried if c[0] != FITTED], o.unexplained[:2], "{}")
    if bent is None:
        return finding.finding(
            message,
            f"{LINK[0].upper()}{LINK[1:]}, or add the square of its predictor with a coefficient to "
            f"`{o.statement.text}`.",
        )
    x, term = o.columns[bent.name].values ** 2, f"square({advice.value_of(o, bent.name)})"
    of_square = coefficient(o, (), f"b_{advice.plain(bent.name)}_2", term, x, f". Or {LINK}.")
    return finding.finding(message, of_square)


def normal_scores(x: Floats) -> Floats:
    """The normal quantiles (n,) of the ranks of x (n,): the fitted values of counts have long tails."""
    return np.asarray(special.ndtri(stats.rankdata(x) / (len(x) + 1)))


def unequal_variance(o: ObservedOutcome) -> Finding | None:
    """Absolute residuals that change along the fitted values or a column, or differ between groups."""
    if o.discrete:
        return None
    own, replicated = (np.abs(s) - np.abs(s).mean(axis=1, keepdims=True) for s in o.unexplained[:2])
    constant = np.full((len(o.y), 1), len(o.y) ** -0.5)
    columns = {name: c.values for name, c in o.columns.items() if not c.index and c.has_order}
    tried = along({FITTED: o.fitted, **columns}, constant)
    tried += [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    finding = farthest("PPL029", o, tried, (own, replicated), "size of residuals along {}")
    return finding and finding.finding(
        f"The size of the residuals of `{o.name}` changes with {quoted(finding.name)}: their variance is not "
        "constant.",
        changing_scale(o, finding.name),
    )


def changing_scale(o: ObservedOutcome, name: str) -> Change | str:
    """A scale that changes with a column or the fitted values."""
    s, v = o.statement, o.statement.fresh("v")
    if name == FITTED:
        mean = s.args[advice.LOCATIONS[s.distribution][0]] if s.distribution in advice.LOCATIONS else "mu"
        priors = (f"{v} ~ normal(0, {advice.rounded(1 / float(o.fitted.std()))});",)
        return Change(s, advice.with_scale(s, f"{v} * {advice.bracketed(mean)}"), (f"real {v};",), priors)
    c = o.columns[name]
    grouped = c.groups is not None
    new = advice.with_scale(s, f"{v}[{name}{s.at}]" if grouped else f"{v} * {advice.value_of(o, name)}")
    data = tuple(advice.undeclared(o, [name], grouped))
    if not grouped:
        priors = (f"{v} ~ normal(0, {advice.rounded(1 / float(c.values.std()))});",)
        return Change(s, new, (f"real {v};",), priors, data)
    if not advice.are_indices(c):
        return (
            f"Declare `vector[K] {v};` in parameters for K groups, write `{v} ~ normal(0, 1);`, and "
            f"{written(new)}."
        )
    return Change(s, new, (f"vector[max({name})] {v};",), (f"{v} ~ normal(0, 1);",), data)
