"""The prior against the data, what these say of each parameter, and the scales of parameters."""

import math
from collections.abc import Sequence

import numpy as np

from ppl.floats import Floats
from ppl.kernel.language import ast
from ppl.methods.diagnose.psis import psis
from ppl.programs.density_lints import literal, redeclaration
from ppl.programs.nodes import alone, parameters
from ppl.programs.non_centred import CONTAINERS
from ppl.results.doctor.advice import SYMMETRIC, rounded, with_argument
from ppl.results.doctor.change import Change, Rescaling
from ppl.results.doctor.evidence import Evidence, ObservedOutcome, Parameter, Prior
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.doctor.residuals import Candidate
from ppl.results.doctor.statement import Statement
from ppl.results.doctor.tails import farthest, upper_tail

ALPHA_STEP = 0.01
"""alpha is 1 plus and 1 minus this."""


def sensitivity(draws: Floats, log_component: Floats, log_ratios: Floats) -> float:
    """The sensitivity of a marginal (draws,) to powers of a component of the target (draws,); above 0.05 it
    matters (their section 3.3).
    """
    order = np.argsort(draws)
    base = weights(log_ratios)
    slopes = []
    for step in (-ALPHA_STEP, ALPHA_STEP):
        other = weights(log_ratios + step * log_component)
        distance = cjs(draws[order], base[order], other[order])
        slopes.append(distance / abs(np.log2(1 + step)))
    return float(np.mean(slopes))


def weights(log_ratios: Floats) -> Floats:
    return np.asarray(np.exp(psis(log_ratios).log_weights))


def cjs(x: Floats, p: Floats, q: Floats) -> float:
    """The cumulative Jensen-Shannon distance of weights p and q at sorted draws x, from the worse side."""
    return max(one_sided(x, p, q), one_sided(-x[::-1], p[::-1], q[::-1]))


def one_sided(x: Floats, p: Floats, q: Floats) -> float:
    width = np.diff(x)
    below_p, below_q = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
    middle = np.maximum((below_p + below_q) / 2, np.finfo(float).tiny)

    def divergence(a: Floats, b: Floats) -> float:
        logs = np.log2(np.maximum(a, np.finfo(float).tiny) / middle)
        return float(width @ (a * logs) + 0.5 / np.log(2) * (width @ (b - a)))

    both = divergence(below_p, below_q) + divergence(below_q, below_p)
    most = float(width @ (below_p + below_q))
    return float(np.sqrt(max(both, 0.0) / most)) if most > 0 else 0.0


SENSITIVE = 0.05
"""The sensitivity to powers of prior or likelihood above which they matter (Kallioinen et al. 2024)."""
LIKE_PRIOR = 0.15
"""The largest shift, in prior sds, and relative change of the sd of a parameter that data do not inform."""
BY_CHANCE = 5.0
"""The largest correlation, in standard errors, of parameters that do not depend on one another."""
LARGEST_RATIO = 1e5
"""The ratio of the largest to the smallest posterior scale above which units should change."""
IN_TAIL = 0.05
"""The p-value of a prior's density at the posterior below which it explains data far from the prior."""
MISTAKE = (
    " if the data are more reliable than the prior; otherwise look for a mistake in the data or in the "
    "statement that reads it."
)


def prior_predictive(o: ObservedOutcome) -> Finding | None:
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
    finding = farthest("PPL020", o, tried, (o.y, o.prior), f"|median of `{o.name}`| or half width: {{}}")
    assert finding is not None
    low, high = (f"{q:.3g}" for q in np.quantile(o.prior, (0.05, 0.95)))
    own = " and ".join(f"{q:.3g}" for q in np.quantile(o.y, (0.05, 0.95)))
    return finding.finding(
        f"Data sets simulated from the prior are {finding.name} `{o.name}`: 90% of all simulated values lie "
        f"between {low} and {high}, 90% of `{o.name}` between {own}.",
        f"Widen or move the priors of the parameters in `{o.statement.text}`, until data such as these are "
        "plausible under them.",
    )


def half_width(rows: Floats) -> Floats:
    """Half the width of the middle 80% (n,) of rows (n, rows)."""
    low, high = np.quantile(rows, (0.1, 0.9), axis=1)
    return np.asarray((high - low) / 2)


def conflict(e: Evidence) -> Finding | None:
    """A prior that the data fight: its density at the posterior is in the tail of that at its own draws, and
    the posterior is sensitive to it.

    Evans and Moshonov (2006), Bayesian Analysis 1:893; Kallioinen et al. (2024).
    """
    for p, reference, prior in in_tails(e):
        draws = draws_of(e, prior)
        most = max((sensitivity(x, prior.at_posterior, e.log_ratios) for x in draws), default=0.0)
        if most <= SENSITIVE:
            continue
        wider = widened(prior.statement, draws)
        return Finding(
            prior.statement.span,
            "PPL021",
            f"The prior of `{prior.name}` and the data contradict each other: the posterior lies in the tail "
            f"of the prior and changes with it (power-scaling sensitivity {most:.2f}).",
            wider.hint if wider else f"Widen or move `{prior.statement.text}`{MISTAKE}",
            p=p,
            reference=reference,
            change=wider,
        )
    return None


def in_tails(e: Evidence) -> list[tuple[float, Reference, Prior]]:
    """The prior statements with the p-value of their density at the posterior, the smallest first."""
    tails = []
    for prior in e.priors:
        if prior.at_prior is not None:
            own = -float(np.median(prior.at_posterior))
            reference = Reference(f"-log prior density of {prior.name}", own, -prior.at_prior)
            tails.append((upper_tail(own, -prior.at_prior) * len(e.priors), reference, prior))
    return sorted(tails, key=lambda f: f[0])


def narrowest(e: Evidence) -> Change | None:
    """A wider prior in place of one whose tail has the posterior; that of a scale last, because scales grow
    where a prior excludes the location.
    """
    priors = [prior for p, _, prior in in_tails(e) if p <= IN_TAIL]
    wider = (widened(prior.statement, draws_of(e, prior)) for prior in sorted(priors, key=is_bounded))
    return next((change for change in wider if change), None)


def is_bounded(prior: Prior) -> bool:
    """Whether the parameter is declared with a lower bound, as scales are."""
    site = prior.statement.site
    return site is not None and "lower" in ast.limits(parameters(site.program)[prior.name].type)


def draws_of(e: Evidence, prior: Prior) -> list[Floats]:
    """The draws (draws,) of each entry of the parameter that a prior is of."""
    return [x.draws for x in e.parameters if x.name == prior.name]


def widened(s: Statement, draws: Sequence[Floats]) -> Change | None:
    """The prior with the posterior means within one scale of its location; None unless its arguments are
    numbers.
    """
    of_rate = s.distribution == "exponential"
    if s.site is None or s.at or not (of_rate or s.distribution in SYMMETRIC):
        return None
    numbers = [literal(arg, math.nan) for arg in s.site.node.args]
    location, scale = (0.0, 1 / numbers[0]) if of_rate else numbers[-2:]
    distance = max((abs(float(x.mean()) - location) for x in draws), default=0.0)
    if not (np.isfinite(numbers).all() and distance > scale):
        return None
    digit = 10.0 ** math.floor(math.log10(distance))
    wide = math.ceil(distance / digit) * digit  # of one significant digit, and not below the distance
    new = with_argument(s, len(s.args) - 1, rounded(1 / wide) if of_rate else f"{wide:g}")
    return Change(s, new, alternative=MISTAKE)


def uninformed(e: Evidence) -> Finding | None:
    """A parameter whose entries all have their prior as posterior and depend on no other parameter: marginals
    are those of the prior under relabelling, too.
    """
    if e.log_lik is None:
        return None
    names = dict.fromkeys(x.name for x in e.parameters)
    entries = {name: [x for x in e.parameters if x.name == name] for name in names}
    log_lik = e.log_lik
    for name, columns in entries.items():
        others = [x for x in e.parameters if x.name != name]
        if all(is_prior(x, log_lik, e.log_ratios) for x in columns) and not dependent(columns, others):
            return Finding(
                columns[0].span,
                "PPL022",
                f"The data do not inform `{name}`: its posterior is its prior.",
                f"Remove `{name}`, or find the statement that should read it. If you keep it, its summaries "
                "are those of the prior.",
                reference=Reference(f"draws of {columns[0].column}", 0.0, columns[0].draws),
            )
    return None


def is_prior(x: Parameter, log_lik: Floats, log_ratios: Floats) -> bool:
    """Whether posterior and prior agree in mean and sd, and powers of the likelihood change nothing."""
    if x.prior is None or not x.prior.std() > 0:
        return False
    shift = abs(x.draws.mean() - x.prior.mean()) / x.prior.std()
    same = shift < LIKE_PRIOR and abs(np.log(x.draws.std() / x.prior.std())) < LIKE_PRIOR
    return bool(same) and sensitivity(x.draws, log_lik, log_ratios) < SENSITIVE


def dependent(some: Sequence[Parameter], others: Sequence[Parameter]) -> bool:
    """Whether draws of parameters are correlated with those of others beyond chance."""
    a, b = (
        np.array([(x.draws - x.draws.mean()) / x.draws.std() for x in group if x.draws.std() > 0])
        for group in (some, others)
    )
    if not len(a) or not len(b):
        return False
    draws = len(some[0].draws)
    return bool(np.abs(a @ b.T).max() / draws > BY_CHANCE / np.sqrt(draws))


def units(e: Evidence) -> Finding | None:
    """Parameters on scales that are far apart, in units of their multipliers."""
    scaled = {x.column: x.draws if x.standardised is None else x.standardised for x in e.parameters}
    sizes_of = {column: float(np.abs(draws).mean()) for column, draws in scaled.items()}
    scales = {column: size for column, size in sizes_of.items() if 0 < size < np.inf}
    if not scales or max(scales.values()) < LARGEST_RATIO * min(scales.values()):
        return None
    sizes = np.log10(np.array([*scales.values()]))
    name = max(scales, key=lambda column: abs(np.log(scales[column])))
    own = next(x for x in e.parameters if x.column == name)
    multiplier = f"multiplier={scales[name]:.0e}"
    return Finding(
        own.span,
        "PPL023",
        f"The parameters have scales from {min(scales.values()):.1g} to {max(scales.values()):.1g}; "
        f"`{name}` is farthest from 1.",
        f"Change the units of the data that `{own.name}` multiplies or measures, for instance `x / sd(x)` in "
        f"transformed data; or, if it has no bounds, declare it with `<{multiplier}>`.",
        reference=Reference("mean size of each parameter, log10", np.log10(scales[name]), sizes),
        change=rescaled(own, multiplier),
    )


def rescaled(x: Parameter, multiplier: str) -> Rescaling | None:
    """The declaration with a multiplier."""
    if x.program is None:
        return None
    d = parameters(x.program)[x.name]
    fix = redeclaration(alone(x.program), d, multiplier) if d.type.keyword in CONTAINERS else None
    return Rescaling(x.name, fix)
