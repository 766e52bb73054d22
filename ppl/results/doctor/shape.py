"""The distribution of continuous data: outliers, skewness, bounds, LOO-PIT, values that repeat."""

import numpy as np

from ppl.floats import Floats
from ppl.late import stats
from ppl.results.doctor.advice import SYMMETRIC
from ppl.results.doctor.change import Change
from ppl.results.doctor.evidence import ObservedOutcome
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.doctor.residuals import Candidate
from ppl.results.doctor.statement import Statement, restated
from ppl.results.doctor.tails import farthest

COARSE = 0.5
"""The largest distance of neighbouring values, in predictive sds, of data that are continuous."""


def outliers(o: ObservedOutcome) -> Finding | None:
    """Residuals with larger tails than those of replicated data."""
    if o.discrete:
        return None
    tried: list[Candidate] = [
        ("largest squared residual", lambda s: (s**2).max(axis=1)),
        ("kurtosis of residuals", lambda s: (s**4).mean(axis=1) / (s**2).mean(axis=1) ** 2),
    ]
    finding = farthest("PPL032", o, tried, o.residuals, "{}")
    assert finding is not None
    worst = int(np.argmax(np.abs(o.residuals[0])))
    return finding.finding(
        f"`{o.name}` has outliers: {o.rows[worst]} is {abs(o.residuals[0][worst]):.1f} predictive sds from "
        "its median.",
        heavy_tailed(o.statement),
    )


def heavy_tailed(s: Statement) -> Change | str:
    """The change to a distribution with heavier tails."""
    if s.distribution != "normal":
        return f"Look at these rows, or give `{s.text}` a distribution with heavier tails."
    nu = s.fresh("nu")
    new = restated(s, "student_t", (nu, *s.args))
    return Change(s, new, (f"real<lower=2> {nu};",), (f"{nu} ~ gamma(2, 0.1);",))


def family(o: ObservedOutcome) -> Finding | None:
    """Skewness, or a bound, that replicated data do not have."""
    if o.discrete:
        return None
    finding = farthest("PPL033", o, [("skewness", skewness)], o.scores, "squared {} of residuals")
    at_bound: list[Candidate] = [
        ("smallest value", lambda rows: rows.min(axis=1)),
        ("-largest value", lambda rows: -rows.max(axis=1)),
    ]
    bound = farthest("PPL033", o, at_bound, (o.y, o.replicated), "{}")
    assert finding is not None and bound is not None
    farther = min(finding, bound, key=lambda f: f.p)
    what = "is skewed" if farther is finding else "has a bound"
    message = f"The distribution of `{o.name}` {what}, unlike that of replicated data."
    return farther.finding(message, skewed(o))


def skewed(o: ObservedOutcome) -> Change | str:
    """The change for skewed data."""
    s, more = o.statement, " `ppl explain PPL033` lists more."
    if o.y.min() > 0:
        return positive(o) + more
    if s.distribution != "normal":
        return (
            f"Choose a skewed distribution, for instance `{s.left} ~ skew_normal(mu, sigma, alpha);`.{more}"
        )
    alpha = s.fresh("alpha")
    new = restated(s, "skew_normal", (*s.args, alpha))
    return Change(s, new, (f"real {alpha};",), (f"{alpha} ~ normal(0, 4);",), alternative=f".{more}")


def positive(o: ObservedOutcome) -> str:
    """The change for skewed data that are positive."""
    s = o.statement
    if s.distribution not in SYMMETRIC:
        return f"Choose another distribution of positive values, such as `{s.left} ~ gamma(alpha, beta);`."
    return (
        f"All of `{o.name}` is positive: write `{s.left} ~ lognormal({', '.join(s.args[-2:])});` with "
        "location and scale of the logs, or gamma."
    )


def skewness(scores: Floats) -> Floats:
    """The squared octile skewness (n,) of scores (n, rows), which a few outliers do not change."""
    low, middle, high = np.quantile(scores, (0.125, 0.5, 0.875), axis=1)
    return np.asarray(((high + low - 2 * middle) / (high - low)) ** 2)


def loo_pit(o: ObservedOutcome) -> Finding | None:
    """Probability integral transforms of rows given the others that are not uniform.

    Gelfand, Dey and Chang (1992); Vehtari, Gelman and Gabry (2017). Kolmogorov's test.
    """
    if o.discrete or o.log_lik is None:
        return None
    log_weights, _ = o.left_out
    pit = (np.exp(log_weights) * (o.replicated <= o.y)).sum(axis=0)
    test = stats.kstest(pit, "uniform")
    return Finding(
        o.statement.span,
        "PPL034",
        f"The predictive distribution of `{o.name}` is not calibrated: its central 50% interval, given the "
        f"other rows, contains {np.mean(np.abs(pit - 0.5) < 0.25):.0%} of the rows.",
        f"If there is another finding, it may explain this. Otherwise choose another distribution in "
        f"`{o.statement.text}`.",
        p=float(test.pvalue),
        reference=Reference(f"LOO-PIT of the rows of {o.name}", 0.5, pit),
    )


def repeated(o: ObservedOutcome) -> Finding | None:
    """Values of a continuous outcome that are farther apart than its distribution is wide."""
    values = np.unique(o.y)
    if o.discrete or len(values) < 2 or len(values) == len(o.y):
        return None
    gap = float(np.diff(values).min())
    if gap <= COARSE * float(np.median(o.spread)):
        return None
    return Finding(
        o.statement.span,
        "PPL035",
        f"`{o.name}` has {len(values)} different values, at least {gap:.3g} apart: it is not continuous.",
        f"Declare `{o.name}` as int with a distribution of counts or categories (poisson, binomial, "
        "ordered_logistic), or model the rounding by differences of the cdf.",
        reference=Reference(f"values of {o.name}", float(np.median(o.y)), o.y),
    )
