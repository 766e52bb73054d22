"""`method=pathfinder`: several paths, resampled by importance (Zhang et al. 2022, Algorithm 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from ppl.cmdstan.density import Density
from ppl.cmdstan.job import Job
from ppl.cmdstan.words import in_stans_words
from ppl.density.posterior import Floats
from ppl.errors import DataError, InferenceError
from ppl.files import numbered
from ppl.inference.diagnose.psis import psis
from ppl.inference.initialise.pathfinder import Pathfinder, pathfinder
from ppl.inference.objective.target import log_densities
from ppl.results.files.sample_csv import elapsed
from ppl.results.fits.draws import tabulate

NO_PATH = (
    "The program has no parameters, so there is no path to follow; `sample algorithm=fixed_param` draws its "
    "generated quantities."
)


@dataclass(frozen=True)
class Path:
    """The draws (n, dim) of one path, the log densities there of its Gaussian and of the target."""

    u: Floats
    log_q: Floats
    log_p: Floats


def run(job: Job) -> int:
    """Writes `lp_approx__,lp__` and the draws.

    Raises:
        InferenceError: no path arrived anywhere.
    """
    job.note_unused(
        *(
            f"pathfinder.{name}"
            for name in (
                "init_alpha",
                "tol_obj",
                "tol_rel_obj",
                "tol_grad",
                "tol_rel_grad",
                "tol_param",
                "history_size",
                "max_lbfgs_iters",
            )
        )
    )
    began = perf_counter()
    paths = list(_paths(job))
    if not paths:
        raise InferenceError("None of the paths found a Gaussian with a finite ELBO.")
    walked = perf_counter()
    pooled = Path(
        *(np.concatenate(parts) for parts in zip(*((p.u, p.log_q, p.log_p) for p in paths), strict=True))
    )
    kept = _resampled(job, pooled) if _resamples(job) else pooled
    ended = perf_counter()
    times = ((walked - began, "Pathfinders"), (ended - walked, "PSIS"), (ended - began, "Total"))
    _write(job, kept, job["output.file"], list(elapsed(*times)))
    if job["pathfinder.save_single_paths"]:
        for number, path in enumerate(paths, 1):
            _write(
                job, path, numbered(job["output.file"], number).with_stem(f"{_stem(job)}_path_{number}"), []
            )
    return 0


def _stem(job: Job) -> str:
    return str(job["output.file"]).removesuffix(".csv").rpartition("/")[2]


def _paths(job: Job) -> Iterator[Path]:
    """Each path from a start and with noise of its own; one that fails is named and left out."""
    density = Density(job.posterior, propto=False)
    if not density.dim:
        raise InferenceError(NO_PATH)
    seeds = np.random.SeedSequence(job.seed).spawn(job["pathfinder.num_paths"])
    for number, seed in enumerate(seeds, 1):
        rng = np.random.default_rng(seed)
        try:
            found = pathfinder(
                density, job.start(density, number, rng), rng, job["pathfinder.num_elbo_draws"]
            )
        except (InferenceError, DataError) as error:
            print(f"Path [{number}] failed: {in_stans_words(error)}")
            continue
        print(f"Path [{number}] :Best Iter: [{found.steps}] ELBO ({found.elbo:g})", flush=True)
        yield _draws(job, density, found, rng)


def _draws(job: Job, density: Density, found: Pathfinder, rng: np.random.Generator) -> Path:
    """The draws that estimated the ELBO, whose log densities are known, and further ones."""
    n = job["pathfinder.num_draws"]
    u = found.sample(max(n - len(found.draws), 0), rng)
    log_p = log_densities(density, u) if job["pathfinder.calculate_lp"] else np.full(len(u), np.nan)
    pairs = ((found.draws, u), (found.log_q, found.log_density(u)), (found.log_p, log_p))
    return Path(*(np.concatenate(pair)[:n] for pair in pairs))


def _resamples(job: Job) -> bool:
    resamples = job["pathfinder.psis_resample"] and job["pathfinder.calculate_lp"]
    return bool(resamples and job["pathfinder.num_paths"] > 1)


def _resampled(job: Job, pooled: Path) -> Path:
    """Draws with replacement, by Pareto-smoothed weights; draws off the support have none."""
    inside = np.flatnonzero(np.isfinite(pooled.log_p))
    if not inside.size:
        raise InferenceError("The log density is not finite at any draw of any path.")
    smoothed = psis(pooled.log_p[inside] - pooled.log_q[inside])
    weights = np.exp(smoothed.log_weights)
    picked = job.streams.draws.choice(inside, job["pathfinder.num_psis_draws"], p=weights / weights.sum())
    print(f"Pareto k-hat {smoothed.khat:.2f}; {len(np.unique(picked))} of {len(picked)} draws differ.")
    return Path(pooled.u[picked], pooled.log_q[picked], pooled.log_p[picked])


def _write(job: Job, path: Path, file: object, at_end: list[str]) -> None:
    table = tabulate(job.posterior, path.u, job.seed)
    rows = np.column_stack([path.log_q, path.log_p, table.rows])
    job.write_csv(["lp_approx__", "lp__", *table.columns], [*job.row_lines(rows), *at_end], str(file))
