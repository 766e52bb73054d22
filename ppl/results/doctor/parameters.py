"""What the data say of each parameter, against its prior, and the scales of parameters."""

from collections.abc import Sequence

import numpy as np

from ppl.results.doctor.evidence import Evidence, Parameter
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.doctor.power_scaling import sensitivity
from ppl.results.doctor.tails import upper_tail
from ppl.results.files.columns import Floats

SENSITIVE = 0.05
"""The sensitivity to powers of prior or likelihood above which they matter (Kallioinen et al. 2024)."""
LIKE_PRIOR = 0.15
"""The largest shift, in prior sds, and relative change of the sd of a parameter that data do not inform."""
BY_CHANCE = 5.0
"""The largest correlation, in standard errors, of parameters that do not depend on one another."""
LARGEST_RATIO = 1e5
"""The ratio of the largest to the smallest posterior scale above which units should change."""


def conflict(e: Evidence) -> Finding | None:
    """A prior that the data fight: its density at the posterior is in the tail of that at its own draws, and
    the posterior is sensitive to it.

    Evans and Moshonov (2006), Bayesian Analysis 1:893; Kallioinen et al. (2024).
    """
    found = []
    for prior in e.priors:
        if prior.at_prior is None:
            continue
        own = -float(np.median(prior.at_posterior))
        p = upper_tail(own, -prior.at_prior) * len(e.priors)
        draws = [x.draws for x in e.parameters if x.name == prior.name]
        most = max((sensitivity(x, prior.at_posterior, e.log_ratios) for x in draws), default=0.0)
        if most > SENSITIVE:
            reference = Reference(f"-log prior density of {prior.name}", own, -prior.at_prior)
            found.append((p, most, prior, reference))
    if not found:
        return None
    p, most, prior, reference = min(found, key=lambda f: f[0])
    return Finding(
        prior.span,
        "PPL021",
        f"The prior of `{prior.name}` and the data contradict each other: the posterior lies in the tail of "
        f"the prior and changes with it (power-scaling sensitivity {most:.2f}).",
        f"Widen or move `{prior.text}` if the data are more reliable than the prior; otherwise look for a "
        "mistake in the data or in the statement that reads it.",
        p=p,
        reference=reference,
    )


def uninformed(e: Evidence) -> Finding | None:
    """A parameter whose entries all have their prior as posterior and depend on no other parameter: marginals
    are those of the prior under relabelling, too.
    """
    if e.log_lik is None:
        return None
    names = dict.fromkeys(x.name for x in e.parameters)
    entries = {name: [x for x in e.parameters if x.name == name] for name in names}
    log_lik = e.log_lik
    for name, found in entries.items():
        others = [x for x in e.parameters if x.name != name]
        if all(is_prior(x, log_lik, e.log_ratios) for x in found) and not dependent(found, others):
            return Finding(
                found[0].span,
                "PPL022",
                f"The data do not inform `{name}`: its posterior is its prior.",
                f"Remove `{name}`, or find the statement that should read it. If you keep it, its summaries "
                "are those of the prior.",
                reference=Reference(f"draws of {found[0].column}", 0.0, found[0].draws),
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
    """Parameters on scales that are far apart."""
    scales = {x.column: float(np.abs(x.draws).mean()) for x in e.parameters if np.abs(x.draws).mean() > 0}
    if not scales or max(scales.values()) < LARGEST_RATIO * min(scales.values()):
        return None
    sizes = np.log10(np.array([*scales.values()]))
    name = max(scales, key=lambda column: abs(np.log(scales[column])))
    own = next(x for x in e.parameters if x.column == name)
    return Finding(
        own.span,
        "PPL023",
        f"The parameters have scales from {min(scales.values()):.1g} to {max(scales.values()):.1g}; "
        f"`{name}` is farthest from 1.",
        f"Change the units of the data that `{own.name}` multiplies or measures, for instance `x / sd(x)` in "
        f"transformed data; or, if it has no bounds, declare it with `<multiplier={scales[name]:.0e}>`.",
        reference=Reference("mean size of each parameter, log10", np.log10(scales[name]), sizes),
    )
