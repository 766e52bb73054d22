"""Rows that the posterior depends on."""

import numpy as np

from ppl.methods.diagnose.psis import khat_threshold
from ppl.results.doctor.evidence import Outcome
from ppl.results.doctor.finding import Finding, Reference

MOST_ROWS_NAMED = 5
"""Influential rows that a finding names."""


def influential(o: Outcome) -> Finding | None:
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
