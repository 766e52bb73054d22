"""The q that a fit on fixed draws answers with: as it is, or with its covariance corrected."""

from dataclasses import dataclass, replace

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.families.family import Family
from ppl.inference.families.full_rank import FullRank
from ppl.inference.initialise.starting import Start
from ppl.inference.objective.coordinates import Scaled
from ppl.inference.objective.target import Array
from ppl.inference.refine.fixed_draws import FixedDrawsFit
from ppl.inference.refine.linear_response import linear_response
from ppl.inference.run.outcome import Ending, Outcome


@dataclass(frozen=True)
class Answer:
    """A family and params (size,) in the coordinates of the model, the outcome, and notes for the user."""

    family: Family
    params: Array
    outcome: Outcome
    notes: tuple[str, ...] = ()


def with_response(start: Start, found: FixedDrawsFit, corrected: bool) -> Answer:
    """The q that was found, or a full-rank one with the same mean and the covariance by linear response."""
    plain = Answer(start.family, start.back(found.params), found.outcome)
    if not corrected or found.outcome.ending is Ending.INTERRUPTED:
        return plain
    try:
        covariance = linear_response(start.target, start.family, found.params, found.z)
        factor = np.asarray(np.linalg.cholesky(covariance), dtype=float)
    except (InferenceError, np.linalg.LinAlgError) as error:
        return replace(plain, notes=(f"No correction by linear response: {error}.",))
    except KeyboardInterrupt:
        return replace(plain, outcome=Outcome(Ending.INTERRUPTED, "interrupted in the linear response"))
    full = FullRank(start.family.dim)
    params = full.of(start.family.mean(found.params), factor)
    if isinstance(start.target, Scaled):
        params = full.push_forward(params, start.target.centre, start.target.factor)
    return Answer(full, params, found.outcome)
