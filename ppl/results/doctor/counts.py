"""Counts: more zeros, or more dispersion, than the model replicates."""

import numpy as np

from ppl.late import stats
from ppl.results.doctor.advice import LOCATIONS, bracketed, with_term
from ppl.results.doctor.evidence import Outcome, Statement
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.tails import Candidate, farthest
from ppl.results.files.columns import Floats

FEWEST_TRIED = 60
"""Values of a parameter at which the likelihood of an alternative is computed."""


def zeros(o: Outcome) -> Finding | None:
    """More zeros than in replicated data, unless dispersion explains them better."""
    if not is_count(o) or (is_unbounded(o) and not inflated(o.y, o.fitted)):
        return None
    tried: list[Candidate] = [("zeros", lambda rows: (rows == 0).sum(axis=1).astype(float))]
    found = farthest(tried, o.y[None], o.replicated, f"{{}} among `{o.name}`")
    assert found is not None
    s = o.statement
    density = f"{s.distribution}_lpmf({o.name}[n] | {', '.join(s.args)})"
    return found.finding(
        s.span,
        "PPL030",
        f"`{o.name}` has {found.reference.observed:.0f} zeros; replicated data have "
        f"{np.median(found.reference.replicated):.0f}.",
        "Declare `real<lower=0, upper=1> zero;` in parameters, and for each n, with the arguments of row n, "
        f"write `target += {o.name}[n] == 0 ? log_mix(zero, 0, {density}) : log1m(zero) + {density};`.",
    )


def dispersion(o: Outcome) -> Finding | None:
    """Residuals of counts that are larger than those of replicated data, unless zeros explain them better."""
    if not is_count(o) or (is_unbounded(o) and inflated(o.y, o.fitted)):
        return None
    tried: list[Candidate] = [("Pearson residuals", lambda s: (s**2).sum(axis=1))]
    found = farthest(tried, o.residuals[0][None], o.residuals[1], "sum of squares of {}")
    assert found is not None
    ratio = found.reference.observed / float(np.mean(found.reference.replicated))
    return found.finding(
        o.statement.span,
        "PPL031",
        f"`{o.name}` varies more than the model says: its squared residuals are {ratio:.3g} times those of "
        "replicated data.",
        overdispersed(o.statement),
    )


def overdispersed(s: Statement) -> str:
    """What to write for a distribution with a dispersion of its own."""
    match s.distribution:
        case "poisson" | "poisson_log":
            text = f"{s.left} ~ neg_binomial_2{s.distribution.removeprefix('poisson')}({s.args[0]}, phi);"
            return (
                f"Declare `real<lower=0> phi;` in parameters, write `phi ~ exponential(0.1);`, and `{text}`."
            )
        case "binomial" | "binomial_logit":
            p = bracketed(s.args[1]) if s.distribution == "binomial" else f"inv_logit({s.args[1]})"
            text = f"{s.left} ~ beta_binomial({s.args[0]}, kappa * {p}, kappa * (1 - {p}));"
            return f"Declare `real<lower=0> kappa;` in parameters, give it a prior, and write `{text}`."
        case name if name in LOCATIONS:
            return (
                "Give each row an effect: declare `real<lower=0> s_u; vector[N] u;` in parameters for N "
                f"rows, write `u ~ normal(0, s_u); s_u ~ normal(0, 1);`, and {with_term(s, f'u{s.at}')}."
            )
        case _:
            return f"Give `{s.text}` a parameter of dispersion, or each row an effect of its own."


def is_count(o: Outcome) -> bool:
    """Whether the outcome counts something: ints that are not only 0 and 1."""
    return o.discrete and o.y.min() >= 0 and o.y.max() > 1


def is_unbounded(o: Outcome) -> bool:
    """Whether the distribution is Poisson, or one with dispersion."""
    return o.statement.distribution.startswith(("poisson", "neg_binomial"))


def inflated(y: Floats, mean: Floats) -> bool:
    """Whether a zero-inflated Poisson of these means (n,) is likelier than a negative binomial of them."""
    mean = np.maximum(mean, np.finfo(float).tiny)
    shares = np.linspace(0.01, 0.95, FEWEST_TRIED)[:, None]
    with np.errstate(divide="ignore"):
        at = stats.poisson.logpmf(y, mean / (1 - shares)) + np.log1p(-shares)
        mixed = np.where(y == 0, np.logaddexp(np.log(shares), at), at).sum(axis=1)
        phi = np.geomspace(0.01, 1e4, FEWEST_TRIED)[:, None]
        dispersed = stats.nbinom.logpmf(y, phi, phi / (phi + mean)).sum(axis=1)
    return bool(mixed.max() > dispersed.max())
