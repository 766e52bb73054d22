"""Unequal variance of residuals along fitted values, predictors and groups."""

import numpy as np

from ppl.results.doctor import advice
from ppl.results.doctor.change import Change, written
from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import FITTED, along, between, quoted
from ppl.results.doctor.tails import farthest


def unequal_variance(o: Outcome) -> Finding | None:
    """Absolute residuals that change along the fitted values or a column, or differ between groups."""
    if o.discrete:
        return None
    own, replicated = (np.abs(s) - np.abs(s).mean(axis=1, keepdims=True) for s in o.unexplained[:2])
    constant = np.full((len(o.y), 1), len(o.y) ** -0.5)
    columns = {name: c.values for name, c in o.columns.items() if not c.index}
    tried = along({FITTED: o.fitted, **columns}, constant)
    tried += [between(name, c.groups) for name, c in o.columns.items() if c.groups is not None]
    found = farthest("PPL029", o, tried, (own, replicated), "size of residuals along {}")
    return found and found.finding(
        f"The size of the residuals of `{o.name}` changes with {quoted(found.name)}: their variance is not "
        "constant.",
        changing_scale(o, found.name),
    )


def changing_scale(o: Outcome, name: str) -> Change | str:
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
