"""The stages of a run by name: what reports, the progress bar and `ppl docs variational` call them."""

from enum import StrEnum
from typing import NamedTuple

from ppl.inference.run.settings import Settings


class Phase(StrEnum):
    """A stage of a run, in the order in which stages come."""

    NESTED = "latent variables"
    MODE = "mode"
    PATHFINDER = "Pathfinder"
    STEP_SIZE = "step size search"
    LOOP = "stochastic optimisation"
    FIXED_DRAWS = "sample average approximation"
    MATCHING = "moment matching"
    IMPORTANCE = "importance sampling"
    OTHER_MODES = "other modes"
    POPULATION = "population Monte Carlo"
    ANNEALING = "annealing"
    STATIONARITY = "stationarity"
    WARMUP = "warmup"
    SAMPLING = "sampling"
    VARIABLES = "variables of the draws"
    DONE = "done"


class About(NamedTuple):
    """What a stage usually costs, in proportion to the others where all come, and what it does."""

    cost: float
    does: str


PHASES = {
    Phase.NESTED: About(
        5,
        "Latent parameters are integrated out and then drawn given the others; no other stage is then "
        "needed. They are blocks that are independent given a few parameters (effects of groups), or "
        "depend on few others (a random walk). Rue, Martino and Chopin (2009).",
    ),
    Phase.MODE: About(10, "L-BFGS maximises the log density."),
    Phase.PATHFINDER: About(
        10,
        "L-BFGS runs from several starting points; q starts as the Gaussian along their paths with the best "
        "ELBO. Zhang et al. (2022).",
    ),
    Phase.STEP_SIZE: About(3, "Each candidate of eta is tried for --adapt-iter steps."),
    Phase.LOOP: About(
        10, "ADVI itself: stochastic gradient steps on the ELBO. Kucukelbir et al. (2017), Algorithm 1."
    ),
    Phase.FIXED_DRAWS: About(
        12,
        "Refinement on fixed draws: L-BFGS maximises the ELBO on draws held fixed, which are doubled until "
        "the means no longer change. Where q does not fit, this is repeated for a richer family. Giordano et "
        "al. (2024).",
    ),
    Phase.MATCHING: About(
        2, "The mean of q is moved to the importance-weighted mean. Paananen et al. (2021)."
    ),
    Phase.IMPORTANCE: About(
        4, "Draws of q are weighted by p/q; k-hat says whether the weights are reliable."
    ),
    Phase.OTHER_MODES: About(
        4,
        "L-BFGS runs from dispersed starting points, and draws of wider Gaussians, search for posterior "
        "mass that q misses; if one mode has almost all of it, q is moved there.",
    ),
    Phase.POPULATION: About(
        4,
        "In few dimensions a mixture of Student's t is fitted to weighted draws, and its own draws are "
        "weighted, in rounds (population Monte Carlo). Cappe et al. (2008).",
    ),
    Phase.ANNEALING: About(
        25,
        "Particles are moved from q to the posterior by HMC, temperature by temperature (sequential "
        "Monte Carlo). Del Moral et al. (2006).",
    ),
    Phase.STATIONARITY: About(
        25,
        "HMC moves at temperature 1, until the autocorrelation with the start is low and means and sds are "
        "stationary.",
    ),
    Phase.WARMUP: About(
        40,
        "NUTS adapts its step size and metric; these draws are discarded. Hoffman and Gelman (2014), "
        "JMLR 15.",
    ),
    Phase.SAMPLING: About(30, "NUTS draws with the step size and metric that the warmup ended with."),
    Phase.VARIABLES: About(5, "Transformed parameters and generated quantities are computed for each draw."),
    Phase.DONE: About(0, "One of several runs has ended."),
}

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


def phases_of(settings: Settings) -> tuple[Phase, ...]:
    """Those that a run with these settings may go through, in order; a run may leave some of them out."""
    taken = {*(WITHOUT_STEPS.get(settings.algorithm) or _noisy(settings)), *phases_of_draws(settings)}
    return tuple(phase for phase in Phase if phase in taken)


def phases_of_draws(settings: Settings) -> tuple[Phase, ...]:
    """Those from a q that was found to draws of every variable."""
    anneals = settings.corrects if settings.anneal is None else settings.anneal
    return (
        Phase.IMPORTANCE,
        *((Phase.OTHER_MODES,) if settings.corrects else ()),
        *((Phase.POPULATION,) if fits_mixture(settings) else ()),
        *((Phase.ANNEALING, Phase.STATIONARITY) if anneals else ()),
        Phase.VARIABLES,
    )


def fits_mixture(settings: Settings) -> bool:
    """Whether a mixture may take the place of annealing, which nobody asked for."""
    return settings.corrects and settings.anneal is None and settings.resample is None


def integrates_blocks(settings: Settings) -> bool:
    """Whether blocks of latent variables are integrated out before anything else is tried."""
    unasked = settings.algorithm == "auto" and settings.anneal is None and settings.resample is None
    return unasked and settings.corrects and settings.noise == "normal"


def _noisy(settings: Settings) -> tuple[Phase, ...]:
    refined = settings.refine and settings.minibatch is None and settings.algorithm in STAGED
    return (
        *((Phase.NESTED,) if integrates_blocks(settings) else ()),
        *((Phase.PATHFINDER,) if settings.start == "pathfinder" else ()),
        *((Phase.STEP_SIZE,) if settings.eta is None else ()),
        Phase.LOOP,
        *((Phase.FIXED_DRAWS,) if refined else ()),
        *((Phase.MATCHING,) if refined and settings.upgrade and settings.corrects else ()),
    )
