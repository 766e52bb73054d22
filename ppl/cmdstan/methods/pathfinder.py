"""`method=pathfinder`: several paths, resampled by importance (Zhang et al. 2022, Algorithm 2)."""

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ppl.cmdstan.job import Job
from ppl.cmdstan.outputs import path_file
from ppl.cmdstan.words import in_stans_words
from ppl.errors import DataError, InferenceError
from ppl.files import numbered
from ppl.floats import Floats
from ppl.methods.correct.resampling import balanced
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise.pathfinder import Pathfinder, mixture_log_density, pathfinder
from ppl.results.files.stan_csv import elapsed
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.table import tabulate

NO_PATH = (
    "The program has no parameters, so there is no path to follow; `sample algorithm=fixed_param` draws its "
    "generated quantities."
)

OF_LBFGS = (
    *("init_alpha", "tol_obj", "tol_rel_obj", "tol_grad", "tol_rel_grad", "tol_param"),
    *("history_size", "max_lbfgs_iters"),
)
"""Arguments of CmdStan's own optimiser."""


class PathfinderDraws(NamedTuple):
    """Draws (n, dim), and the log densities there of the Gaussian that each is from and of the target.

    `path` numbers the paths that they come from.
    """

    u: Floats
    log_q: Floats
    log_p: Floats
    path: Floats


def run(job: Job) -> int:
    """Writes `lp_approx__,lp__,path__` and the draws.

    Raises:
        InferenceError: no path arrived anywhere.
    """
    job.note_unused(*(f"pathfinder.{name}" for name in OF_LBFGS))
    began = perf_counter()
    paths = list(_paths(job))
    gaussians, draws = [path for path, _ in paths], [own for _, own in paths]
    if not paths:
        raise InferenceError("None of the paths found a Gaussian with a finite ELBO.")
    walked = perf_counter()
    pooled = PathfinderDraws(*map(np.concatenate, zip(*draws, strict=True)))
    resamples = job["pathfinder.psis_resample"] and job["pathfinder.calculate_lp"]
    if resamples and job["pathfinder.num_paths"] > 1:
        pooled = resampled(pooled, gaussians, job["pathfinder.num_psis_draws"], job.streams.draws)
    ended = perf_counter()
    times = ((walked - began, "Pathfinders"), (ended - walked, "PSIS"), (ended - began, "Total"))
    _write(job, pooled, job["output.file"], list(elapsed(*times)))
    if job["pathfinder.save_single_paths"]:
        for number, own in enumerate(draws, 1):
            _write(job, own, numbered(path_file(job["output.file"]), number), [])
    return 0


def _paths(job: Job) -> Iterator[tuple[Pathfinder, PathfinderDraws]]:
    """Each path with its draws, from a start and noise of its own; one that fails is named and left out."""
    density = PosteriorTarget(job.posterior)
    if not density.dim:
        raise InferenceError(NO_PATH)
    seeds = np.random.SeedSequence(job.seed).spawn(job["pathfinder.num_paths"])
    for number, seed in enumerate(seeds, 1):
        rng = np.random.default_rng(seed)
        try:
            paths = pathfinder(
                density, job.start(density, number, rng), rng, job["pathfinder.num_elbo_draws"]
            )
        except (InferenceError, DataError) as error:
            print(f"Path [{number}] failed: {in_stans_words(error)}")
            continue
        print(f"Path [{number}] :Best Iter: [{paths.steps}] ELBO ({paths.elbo:g})", flush=True)
        yield paths, _draws(job, density, paths, rng, number)


def _draws(
    job: Job, density: PosteriorTarget, paths: Pathfinder, rng: np.random.Generator, number: int
) -> PathfinderDraws:
    """The draws that estimated the ELBO, whose log densities are known, and further ones."""
    n = job["pathfinder.num_draws"]
    u = paths.sample(max(n - len(paths.draws), 0), rng)
    log_p = density.log_densities(u) if job["pathfinder.calculate_lp"] else np.full(len(u), np.nan)
    pairs = ((paths.draws, u), (paths.log_q, paths.log_density(u)), (paths.log_p, log_p))
    u, log_q, log_p = (np.concatenate(pair)[:n] for pair in pairs)
    return PathfinderDraws(u, log_q, log_p, np.full(len(u), float(number)))


def resampled(
    draws: PathfinderDraws, paths: Sequence[Pathfinder], n: int, rng: np.random.Generator
) -> PathfinderDraws:
    """n of the draws by Pareto-smoothed weights against the mixture of all, as algorithm pathfinder does.

    Draws off the support have no weight.
    """
    inside = np.flatnonzero(np.isfinite(draws.log_p))
    if not inside.size:
        raise InferenceError("The log density is not finite at any draw of any path.")
    smoothed = psis(draws.log_p[inside] - mixture_log_density(paths, draws.u[inside]))
    picked = inside[balanced(draws.u[inside], smoothed.log_weights, n, rng)]
    print(f"Pareto k-hat {smoothed.khat:.2f}; {len(np.unique(picked))} of {len(picked)} draws differ.")
    return PathfinderDraws(*(values[picked] for values in draws))


def _write(job: Job, draws: PathfinderDraws, file: object, at_end: list[str]) -> None:
    table = tabulate(job.posterior, draws.u, job.seed)
    rows = np.column_stack([draws.log_q, draws.log_p, draws.path, table.rows])
    job.write_csv(
        ["lp_approx__", "lp__", "path__", *table.columns], [*job.row_lines(rows), *at_end], str(file)
    )
