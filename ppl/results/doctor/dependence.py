"""Dependence of parameters that a mean-field fit cannot represent."""

import numpy as np

from ppl.floats import Floats
from ppl.methods.diagnose.psis import khat_threshold
from ppl.results.doctor.evidence import Evidence, ObservedOutcome
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.doctor.parameters import BY_CHANCE

MOST_ROWS_NAMED = 5
"""Influential rows that a finding names."""


def influential(o: ObservedOutcome) -> Finding | None:
    """Rows without which the posterior is another one, by k-hat (Vehtari, Gelman and Gabry 2017)."""
    if o.log_lik is None:
        return None
    _, khats = o.left_out
    threshold = khat_threshold(len(o.replicated))
    worst = [k for k in np.argsort(-khats, kind="stable") if khats[k] > threshold]
    if not worst:
        return None
    named = ", ".join(f"`{o.rows[k]}` ({khats[k]:.2f})" for k in worst[:MOST_ROWS_NAMED])
    return Finding(
        o.statement.span,
        "PPL036",
        f"The posterior depends on single rows: k-hats of {len(worst)} of {len(o.y)} are above "
        f"{threshold:.2f}, first {named}.",
        "Check these rows for mistakes; a distribution with heavier tails, or a prior on the effects that "
        "only they inform, makes the posterior depend on them less.",
        reference=Reference("k-hat of each row", threshold, khats),
    )


STRONG = 0.5
"""The correlation from which on it is reported: an sd given the other parameter is 13% smaller."""
DRAWS_PER_PARAMETER = 10
"""Draws of each half below which its curvature is not estimated."""


def dependence(e: Evidence) -> Finding | None:
    """Draws without any correlation, where the average curvature of the log density implies one.

    The average Hessian is by Stein's identity the covariance of draws and gradients over the variance of the
    draws. Both halves of the draws have to imply the correlation.
    """
    g = e.geometry
    if g is None or len(g.names) < 2 or len(g.us) < 2 * DRAWS_PER_PARAMETER * len(g.names):
        return None
    own = np.corrcoef(g.us.T) - np.eye(len(g.names))
    if not np.abs(own).max() < BY_CHANCE / np.sqrt(len(g.us)):
        return None
    gradients = g.gradients(g.us)
    first, second = (implied(g.us[k::2], gradients[k::2]) for k in (0, 1))
    if first is None or second is None:
        return None
    both = np.triu(np.where(first * second > 0, np.minimum(np.abs(first), np.abs(second)), 0.0), 1)
    a, b = np.unravel_index(np.argmax(both), both.shape)
    if both[a, b] < STRONG:
        return None
    one, other = g.names[a], g.names[b]
    return Finding(
        g.spans[a],
        "PPL037",
        f"The draws have no correlations, but the curvature of the log density at the draws implies "
        f"{np.copysign(both[a, b], first[a, b]):.2f} for `{one}` and `{other}`: their sds are too small.",
        "Fit by `auto` or `fullrank` in place of `meanfield`. Centring the predictors weakens the "
        "dependence.",
        reference=Reference("implied correlations", float(both[a, b]), both[np.triu_indices(len(both), 1)]),
    )


def implied(us: Floats, gradients: Floats) -> Floats | None:
    """The correlations (dim, dim) that the average Hessian implies; None if it is no precision matrix."""
    centred = us - us.mean(axis=0)
    hessian = centred.T @ (gradients - gradients.mean(axis=0)) / len(us) / us.var(axis=0)[:, None]
    precision = -(hessian + hessian.T) / 2
    if not np.isfinite(precision).all() or np.linalg.eigvalsh(precision)[0] <= 0:
        return None
    covariance = np.linalg.inv(precision)
    sds = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(sds, sds))
