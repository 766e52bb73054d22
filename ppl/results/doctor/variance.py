"""Unequal variance of residuals along fitted values, predictors and groups."""

import numpy as np

from ppl.results.doctor.advice import LOCATIONS, with_scale
from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import FITTED, between, direction, quoted, score_of
from ppl.results.doctor.tails import farthest


def unequal_variance(o: Outcome) -> Finding | None:
    """Absolute residuals that change along the fitted values or a column, or differ between groups."""
    if o.discrete:
        return None
    own, replicated, _ = o.unexplained
    own, replicated = (np.abs(s) - np.abs(s).mean(axis=1, keepdims=True) for s in (own, replicated))
    constant = np.full((len(o.y), 1), len(o.y) ** -0.5)
    columns = {name: c.values for name, c in o.columns.items() if not c.index}
    tried = [
        c for name, x in {FITTED: o.fitted, **columns}.items() for c in score_of(name, direction(x, constant))
    ]
    tried += [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    found = farthest(tried, own, replicated, "size of residuals along {}")
    if found is None:
        return None
    s, name = o.statement, found.name
    grouped = name in o.columns and o.columns[name].groups is not None
    mean = s.args[LOCATIONS[s.distribution][0]] if s.distribution in LOCATIONS else "mu"
    term = f"v[{name}{s.at}]" if grouped else f"v * {name}{s.at}" if name in columns else f"v * ({mean})"
    declared = "`vector[K] v;` in parameters for K groups" if grouped else "`real v;` in parameters"
    return found.finding(
        s.span,
        "PPL029",
        f"The size of the residuals of `{o.name}` changes with {quoted(name)}: their variance is not "
        "constant.",
        f"Declare {declared}, write `v ~ normal(0, 1);`, and {with_scale(s, term)}.",
    )
