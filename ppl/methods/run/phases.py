"""Which stages a run goes through, what each does, and what it usually costs."""

from pathlib import Path
from typing import NamedTuple

from ppl.kernel.advi import context
from ppl.kernel.advi.outcome import Phase
from ppl.methods.run.settings import Settings

Context = context.Context[Settings]
"""The context of every stage of a fit, beside its target."""


class About(NamedTuple):
    """The usual cost of a stage, in proportion to the others where all come, and what it does."""

    cost: float
    does: str


TABLE = Path(__file__).with_name("phases.txt").read_text(encoding="utf-8").splitlines()
ENTRIES = (line.split(" ", 2) for line in TABLE if line[0] != "#")
PHASES = {Phase[name]: About(float(cost), does) for name, cost, does in ENTRIES}

OF_CHAINS = (Phase.WARMUP, Phase.SAMPLING, Phase.VARIABLES)
"""The stages of a sampler."""
OF_FIT = tuple(phase for phase in Phase if phase not in (Phase.WARMUP, Phase.SAMPLING))
"""Those of a fit."""

STAGED = ("auto", "meanfield", "fullrank", "lowrank")
WITHOUT_STEPS = {
    "nested": (Phase.NESTED,),
    "laplace": (Phase.MODE,),
    "optimize": (Phase.MODE, Phase.PATHFINDER, Phase.FIXED_DRAWS),  # the mode, or with --marginal the others
    "pathfinder": (Phase.PATHFINDER,),
    "fixed-draws": (Phase.PATHFINDER, Phase.FIXED_DRAWS),
}
"""How an algorithm without noisy steps finds its q."""
POINTS_OF_A_START = 3_400
"""Points that a fit evaluates before draws are moved, at least, where no field is integrated out."""


def phases_of(settings: Settings) -> tuple[Phase, ...]:
    """Those that a run with these settings may go through, in order; a run may leave some of them out."""
    taken = {*(WITHOUT_STEPS.get(settings.algorithm) or _noisy(settings)), *phases_of_draws(settings)}
    return tuple(phase for phase in Phase if phase in taken)


def phases_of_draws(settings: Settings) -> tuple[Phase, ...]:
    """Those from a q that was found to draws of every variable."""
    moves = settings.corrects if settings.move is None else settings.move
    return (
        Phase.IMPORTANCE,
        *((Phase.OTHER_MODES,) if settings.corrects else ()),
        *((Phase.MOVES,) if moves else ()),
        Phase.VARIABLES,
    )


def integrates_fields(settings: Settings) -> bool:
    """Whether a field of latent variables is integrated out before anything else is tried."""
    unasked = settings.algorithm == "auto" and settings.move is None and settings.resample is None
    return unasked and settings.corrects and settings.noise == "normal"


def _noisy(settings: Settings) -> tuple[Phase, ...]:
    refined = settings.refine and settings.minibatch is None and settings.algorithm in STAGED
    return (
        *((Phase.NESTED,) if integrates_fields(settings) else ()),
        *((Phase.PATHFINDER,) if settings.start == "pathfinder" else ()),
        *((Phase.STEP_SIZE,) if settings.eta is None else ()),
        Phase.LOOP,
        *((Phase.FIXED_DRAWS,) if refined else ()),
    )
