"""What is left to do for a program without parameters: its generated quantities are drawn."""

import numpy as np

from ppl.inference.families.full_rank import FullRank
from ppl.inference.objective.target import Target
from ppl.inference.recipes.result import Path, Result, result_of
from ppl.inference.run.context import Context
from ppl.inference.run.outcome import Ending, Outcome
from ppl.inference.run.settings import Settings

OUTCOME = Outcome(Ending.CONVERGED, "the program has no parameters, so nothing was fitted")


def without_parameters(target: Target, settings: Settings) -> Result:
    """Draws from R^0, where q is the posterior; the counterpart of CmdStan's `fixed_param`."""
    path = Path(start=np.zeros(0), outcome=OUTCOME, at_maximum=True)
    return result_of(target, FullRank(0), np.zeros(0), path, Context.of(settings))
