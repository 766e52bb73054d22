"""Algorithm 1 of the ADVI paper alone: from a random start, by the last iterate, without a refinement."""

from typing import Any

from ppl.kernel.advi.context import NULL_JOURNAL, Journal
from ppl.kernel.advi.outcome import Listener, silent
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.target import Target
from ppl.methods.recipes.advi import staged
from ppl.methods.recipes.result import Result
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings

PAPER: dict[str, Any] = {"algorithm": "meanfield", "start": "random", "average": False, "refine": False}


def advi(
    target: Target,
    *,
    init: Init = 2.0,
    progress: Listener = silent,
    journal: Journal = NULL_JOURNAL,
    **settings: Any,
) -> Result:
    """The result of a run; the settings have CmdStan's names and defaults."""
    return staged(target, init, Context.of(Settings(**{**PAPER, **settings}), progress, journal))
