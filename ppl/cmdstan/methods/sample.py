"""`method=sample`: the No-U-Turn sampler with CmdStan's warmup, metrics and columns."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from ppl.cmdstan.job import Job
from ppl.cmdstan.nuts.sampler import DualAveraging, Plan, Sampled, Schedule, sample
from ppl.cmdstan.outputs import files_of_chains
from ppl.data import load_data
from ppl.errors import DataError, InferenceError
from ppl.files import beside, write_whole
from ppl.floats import Floats
from ppl.kernel.advi.target import Forwarding, Target
from ppl.methods.nuts.chain import Chain, NutsDraws
from ppl.methods.run.settings import SampleSettings
from ppl.optimise.watch import IN_DOMAIN
from ppl.records import dataclass, replace
from ppl.results.files.stan_csv import NO_TIMES, OF_NUTS, adaptation, elapsed
from ppl.results.fits.metric import metric_json
from ppl.run.backend import for_sampler
from ppl.run.memory_needed import require_memory_of_chains
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.table import tabulate


@dataclass(frozen=True)
class Iterations:
    """Hears of the draws of a chain and prints CmdStan's lines, by which its clients know how far it is.

    As there: the first of a phase, every `refresh` of it, and the last of all; none where `refresh` is 0.
    """

    warmup: int
    draws: int
    refresh: int
    chain: str = ""

    def __call__(self, done: int) -> None:
        total, warm = self.warmup + self.draws, done <= self.warmup
        of_phase = done if warm else done - self.warmup
        if not self.refresh or done > total:
            return
        if of_phase == 1 or of_phase % self.refresh == 0 or done == total:
            count = f"{done:>{len(str(total))}} / {total} [{100 * done // total:>3}%]"
            print(f"{self.chain}Iteration: {count}  ({'Warmup' if warm else 'Sampling'})", flush=True)


def run(job: Job) -> int:
    """Writes a file for each chain: `_1` and so on where there are several, or the names given with commas.

    Raises:
        InferenceError: the job asks for what is not offered.
        DataError: a metric does not fit the program.
    """
    chains = job["sample.num_chains"]
    if job["sample.hmc.engine"] != "nuts":
        raise InferenceError("engine=static is unsupported; use engine=nuts.")
    numbers = range(job["id"], job["id"] + chains)
    latents = job["output.diagnostic_file"]
    files = files_of_chains(job["output.file"], numbers)
    others = files_of_chains(latents, numbers) if latents else [None] * chains
    for number, file, latent in zip(numbers, files, others, strict=True):
        if job["sample.algorithm"] == "fixed_param":
            _fixed(job, number, file)
        else:
            _nuts(job, number, file, latent)
    return 0


def _fixed(job: Job, number: int, file: Path) -> None:
    """Draws that differ in their generated quantities alone."""
    u = job.start(PosteriorTarget(job.posterior, propto=True), number)
    table = tabulate(job.posterior, np.tile(u, (job["sample.num_samples"], 1)), job.seed, number)
    rows = np.column_stack([np.zeros((len(table.rows), 2)), table.rows])
    closing = elapsed(*NO_TIMES)
    job.write_csv(["lp__", "accept_stat__", *table.columns], [*job.row_lines(rows), *closing], file)


def _nuts(job: Job, number: int, file: Path, latent: Path | None) -> None:
    """One chain of the No-U-Turn sampler."""
    density = PosteriorTarget(job.posterior, propto=True)
    start = job.start(density, number)
    began = perf_counter()
    sampled = _sampled(job, density, start, number)
    seconds = perf_counter() - began
    chain = sampled.chain
    written = _written(job, len(chain.warmup.u), len(chain.draws.u))
    saved = int((written < len(chain.warmup.u)).sum())
    every = chain.warmup.concatenated_with(chain.draws)
    table = tabulate(job.posterior, every.u[written], job.seed, number)
    rows = list(job.row_lines(np.column_stack([every.statistics[written], table.rows])))
    comments = [*adaptation(chain, job["sample.hmc.metric"])]
    closing = [*times(chain, seconds)]
    job.write_csv([*OF_NUTS, *table.columns], [*rows[:saved], *comments, *rows[saved:], *closing], file)
    if latent is not None:
        body = np.column_stack([every.statistics, every.u, sampled.momenta, sampled.gradients])[written]
        names, rows = job.posterior.param_unc_names(), list(job.row_lines(body))
        columns = [*names, *(f"p_{name}" for name in names), *(f"g_{name}" for name in names)]
        job.write_csv([*OF_NUTS, *columns], [*rows[:saved], *comments, *rows[saved:], *closing], latent)
    if job["sample.adapt.save_metric"]:
        write_whole(beside(file, "metric"), [metric_json(chain.inverse_metric, chain.stepsize)])


def _written(job: Job, warmup: int, draws: int) -> Floats:
    """The positions of the draws to write: every `thin`th, those of the warmup only if it is saved."""
    thin = job["sample.thin"]
    saved = range(0, warmup if job["sample.save_warmup"] else 0, thin)
    return np.array([*saved, *range(warmup, warmup + draws, thin)], dtype=int)


INFORMATION = (
    "Informational Message: The current Metropolis proposal is about to be rejected because of the following "
    "issue; later ones are not reported:"
)
MOST_EXPLAINED = 10
"""Points that are not finite of which a chain finds out why, until one of them is reported."""


@dataclass
class Rejecting(Forwarding):
    """A target that says once, in CmdStan's words, which error rejects a proposal.

    As there, a density that is merely zero is no error.
    """

    target: Target
    left: int = MOST_EXPLAINED

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        value, gradient = self.target.log_density_gradient(u)
        if self.left and not (np.isfinite(value) and np.isfinite(gradient).all()):
            self.left -= 1
            self.report(self.explain(u))
        return value, gradient

    def report(self, why: str) -> None:
        if why and IN_DOMAIN not in why:
            self.left = 0
            print(INFORMATION, f"Exception: {why}", sep="\n", flush=True)


def _sampled(job: Job, density: PosteriorTarget, start: Floats, number: int) -> Sampled:
    """The chain, its log densities without the constants that Stan's lack."""
    chains = job["sample.num_chains"]
    warmup, draws = job["sample.num_warmup"], job["sample.num_samples"]
    settings = SampleSettings(
        num_warmup=max(warmup, 1),
        num_samples=max(draws, 1),
        backend=job["ppl.backend"],
        device=job["ppl.device"],
    )
    require_memory_of_chains(job.posterior.extent, settings)
    target = for_sampler(PosteriorTarget(job.posterior), settings)
    constants = target.log_density(start) - density.log_density(start)
    prefix = f"Chain [{number}] " if chains > 1 else ""
    iterations = Iterations(warmup, draws, job["output.refresh"], prefix)
    rng = np.random.default_rng([job.seed, number])
    run_of_chain = sample(Rejecting(target), start, _plan(job, density.dim, number), rng, iterations)
    chain = replace(
        run_of_chain.chain,
        warmup=_without(constants, run_of_chain.chain.warmup),
        draws=_without(constants, run_of_chain.chain.draws),
    )
    return replace(run_of_chain, chain=chain)


def _plan(job: Job, dim: int, number: int) -> Plan:
    adapt = {name: job[f"sample.adapt.{name}"] for name in ("delta", "gamma", "kappa", "t0")}
    buffers = {name: job[f"sample.adapt.{name}"] for name in ("init_buffer", "window", "term_buffer")}
    return Plan(
        warmup=job["sample.num_warmup"],
        draws=job["sample.num_samples"],
        metric=_metric(job, dim, number),
        stepsize=job["sample.hmc.stepsize"],
        jitter=job["sample.hmc.stepsize_jitter"],
        max_depth=job["sample.hmc.nuts.max_depth"],
        engaged=job["sample.adapt.engaged"],
        adapts_metric=job["sample.hmc.metric"] != "unit_e",
        averaging=DualAveraging(**adapt),
        schedule=Schedule(**buffers),
    )


def _metric(job: Job, dim: int, number: int) -> Floats:
    """The inverse metric to start with: that of the file, or the unit one.

    Raises:
        DataError: the file has no inverse metric of the program's size, or it is not positive definite.
    """
    dense = job["sample.hmc.metric"] == "dense_e"
    if not job["sample.hmc.metric_file"] or job["sample.hmc.metric"] == "unit_e":
        return np.eye(dim) if dense else np.ones(dim)
    file = job.own_file(job["sample.hmc.metric_file"], number)
    inverse = np.asarray(load_data(file).values.get("inv_metric", []), dtype=float)
    expected = (dim, dim) if dense else (dim,)
    if inverse.shape != expected:
        raise DataError(
            f"{file}: inv_metric has shape {inverse.shape}; expected {expected}, a number for each parameter."
        )
    if (np.linalg.eigvalsh(inverse) if dense else inverse).min(initial=1.0) <= 0:
        raise DataError(f"{file}: inv_metric is not positive definite.")
    return inverse


def _without(constants: float, draws: NutsDraws) -> NutsDraws:
    """The draws with a log density, and an energy, that lack the constants, as Stan's do."""
    statistics = draws.statistics.copy()
    statistics[:, OF_NUTS.index("lp__")] -= constants
    statistics[:, OF_NUTS.index("energy__")] += constants
    return replace(draws, statistics=statistics)


def times(chain: Chain, seconds: float) -> Iterator[str]:
    """The parts of a time in proportion to their leapfrog steps."""
    steps = chain.warmup.leapfrogs + chain.draws.leapfrogs
    warmup = seconds * chain.warmup.leapfrogs / max(steps, 1.0)
    return elapsed((warmup, "Warm-up"), (seconds - warmup, "Sampling"), (seconds, "Total"))
