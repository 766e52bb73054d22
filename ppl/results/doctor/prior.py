"""The prior against the data, and what the data say of each parameter."""

import numpy as np

from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import Candidate
from ppl.results.doctor.tails import farthest
from ppl.results.files.columns import Floats


def prior_predictive(o: Outcome) -> Finding | None:
    """Data simulated from the prior that are far from the data, or much narrower.

    Gelman et al. (2020), Bayesian workflow, section 2.4.
    """
    if o.prior is None:
        return None
    centre = float(np.median(o.prior))
    tried: list[Candidate] = [
        ("far from", lambda rows: np.abs(np.median(rows, axis=1) - centre)),
        ("much narrower than", half_width),
    ]
    found = farthest("PPL020", o, tried, (o.y, o.prior), f"|median of `{o.name}`| or half width: {{}}")
    assert found is not None
    low, high = (f"{q:.3g}" for q in np.quantile(o.prior, (0.05, 0.95)))
    own = " to ".join(f"{q:.3g}" for q in np.quantile(o.y, (0.05, 0.95)))
    return found.finding(
        f"Data simulated from the prior are {found.name} `{o.name}`: 90% of them lie between {low} and "
        f"{high}, 90% of `{o.name}` between {own}.",
        f"Widen or move the priors of the parameters in `{o.statement.text}`, until data such as these are "
        "plausible under them.",
    )


def half_width(rows: Floats) -> Floats:
    """Half the width of the middle 80% (n,) of rows (n, rows)."""
    low, high = np.quantile(rows, (0.1, 0.9), axis=1)
    return np.asarray((high - low) / 2)
