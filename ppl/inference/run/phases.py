"""The stages of a run by name: what reports, the progress bar and `ppl docs variational` call them."""

from enum import StrEnum
from typing import NamedTuple

from ppl.inference.run.settings import Settings


class Phase(StrEnum):
    """A stage of a run, in the order in which stages come."""

    MODE = "mode"
    PATHFINDER = "Pathfinder"
    STEP_SIZE = "step size search"
    LOOP = "stochastic optimisation"
    FIXED_DRAWS = "sample average approximation"
    MATCHING = "moment matching"
    IMPORTANCE = "importance sampling"
    OTHER_MODES = "other modes"
    ANNEALING = "annealing"
    STATIONARITY = "stationarity"
    VARIABLES = "variables of the draws"
    DONE = "done"


class About(NamedTuple):
    """What a stage usually costs, in proportion to the others where all come, and what it does."""

    cost: float
    does: str


PHASES = {
    Phase.MODE: About(10, "L-BFGS climbs the log density to its mode."),
    Phase.PATHFINDER: About(
        10,
        "L-BFGS climbs from several points; the Gaussian with the best ELBO on the paths is where q begins. "
        "Zhang et al. (2022).",
    ),
    Phase.STEP_SIZE: About(3, "Each candidate of eta is tried for --adapt-iter steps."),
    Phase.LOOP: About(
        10, "ADVI itself: steps along noisy gradients of the ELBO. Kucukelbir et al. (2017), Algorithm 1."
    ),
    Phase.FIXED_DRAWS: About(
        12,
        "The ELBO on draws held fixed is maximised by L-BFGS; the draws are doubled until the means settle. "
        "Where q does not fit, this is done again for a richer q. Giordano et al. (2024).",
    ),
    Phase.MATCHING: About(
        2, "The mean of q is moved to the importance-weighted mean. Paananen et al. (2021)."
    ),
    Phase.IMPORTANCE: About(
        4, "Draws of q are weighted by p/q; k-hat tells whether the weights can be relied on."
    ),
    Phase.OTHER_MODES: About(
        4, "Climbs from afar, and draws of wider Gaussians, look for mass of the posterior beyond q."
    ),
    Phase.ANNEALING: About(
        25, "Points are carried from q to the posterior, temperature by temperature. Del Moral et al. (2006)."
    ),
    Phase.STATIONARITY: About(
        25, "Hamiltonian moves go on until the points have forgotten where they began and nothing drifts."
    ),
    Phase.VARIABLES: About(5, "Transformed parameters and generated quantities are computed for each draw."),
    Phase.DONE: About(0, "One of several runs has ended."),
}

STAGED = ("auto", "meanfield", "fullrank", "lowrank")
GAUSSIANS = {
    "laplace": (Phase.MODE,),
    "optimize": (Phase.MODE, Phase.PATHFINDER, Phase.FIXED_DRAWS),  # the mode, or with --marginal the others
    "pathfinder": (Phase.PATHFINDER,),
    "fixed-draws": (Phase.PATHFINDER, Phase.FIXED_DRAWS),
}
"""How an algorithm without noisy steps finds its q."""


def phases_of(settings: Settings) -> tuple[Phase, ...]:
    """Those that a run with these settings may go through, in order; a run may leave some of them out."""
    wanted = {*(GAUSSIANS.get(settings.algorithm) or _noisy(settings)), *phases_of_draws(settings)}
    return tuple(phase for phase in Phase if phase in wanted)


def phases_of_draws(settings: Settings) -> tuple[Phase, ...]:
    """Those from a q that was found to draws of every variable."""
    anneals = settings.corrects if settings.anneal is None else settings.anneal
    return (
        Phase.IMPORTANCE,
        *((Phase.OTHER_MODES,) if settings.corrects else ()),
        *((Phase.ANNEALING, Phase.STATIONARITY) if anneals else ()),
        Phase.VARIABLES,
    )


def _noisy(settings: Settings) -> tuple[Phase, ...]:
    polished = settings.polish and settings.minibatch is None and settings.algorithm in STAGED
    return (
        *((Phase.PATHFINDER,) if settings.start == "pathfinder" else ()),
        *((Phase.STEP_SIZE,) if settings.eta is None else ()),
        Phase.LOOP,
        *((Phase.FIXED_DRAWS,) if polished else ()),
        *((Phase.MATCHING,) if polished and settings.step_up and settings.corrects else ()),
    )
