"""A target some coordinates of which are to be integrated out rather than maximised over."""

from ppl.kernel.advi.target import Forwarding, Target
from ppl.records import dataclass


@dataclass(frozen=True, eq=False)
class MarginalTarget(Forwarding):
    """A target, and the coordinates `at` that Type-II maximum likelihood integrates out."""

    target: Target
    at: tuple[int, ...]
