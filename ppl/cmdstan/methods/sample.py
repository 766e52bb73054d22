"""`method=sample`: nutpie's No-U-Turn sampler with CmdStan's columns (needs the extra `sample`)."""

from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from ppl.cmdstan.density import Density
from ppl.cmdstan.job import Job
from ppl.density.posterior import Floats
from ppl.errors import InferenceError
from ppl.files import beside, numbered, write_whole
from ppl.inference.nuts.chain import Chain, Draws, Start, run_chains, seed_of
from ppl.inference.run.settings import SampleSettings
from ppl.results.files.nuts_csv import LEADING, adaptation, times
from ppl.results.files.sample_csv import elapsed
from ppl.results.fits.as_target import AsTarget
from ppl.results.fits.backend import for_sampler
from ppl.results.fits.draws import tabulate
from ppl.results.fits.memory_needed import require_memory_of_chains
from ppl.results.fits.metric import metric_json

IDLE = (
    *(
        f"adapt.{name}"
        for name in ("engaged", "gamma", "kappa", "t0", "init_buffer", "term_buffer", "window")
    ),
    *(f"hmc.{name}" for name in ("metric_file", "stepsize", "stepsize_jitter")),
)
"""Where CmdStan's adaptation starts and how it goes; nutpie's own needs none of it."""


@dataclass(frozen=True)
class Iterations:
    """Hears of the draws of a chain and prints CmdStan's lines, by which its clients know how far it is.

    As there: the first of a phase, every `refresh` of it, and the last of all; none where `refresh` is 0.
    """

    warmup: int
    draws: int
    refresh: int
    chain: str = ""

    def __call__(self, chain: int, made: int) -> None:
        total, warm = self.warmup + self.draws, made <= self.warmup
        of_phase = made if warm else made - self.warmup
        if not self.refresh or made > total:
            return
        if of_phase == 1 or of_phase % self.refresh == 0 or made == total:
            count = f"{made:>{len(str(total))}} / {total} [{100 * made // total:>3}%]"
            print(f"{self.chain}Iteration: {count}  ({'Warmup' if warm else 'Sampling'})", flush=True)


def run(job: Job) -> int:
    """Writes a file for each chain, `_1` and so on where there are several.

    Raises:
        MissingPackage: nutpie is not installed.
        InferenceError: the job asks for what it does not have.
    """
    chains = job["sample.num_chains"]
    fixed = job["sample.algorithm"] == "fixed_param" or not job.posterior.param_unc_num()
    for number in range(job["id"], job["id"] + chains):
        file = Path(job["output.file"]) if chains == 1 else numbered(job["output.file"], number)
        (_fixed if fixed else _nuts)(job, number, file)
    return 0


def _fixed(job: Job, number: int, file: Path) -> None:
    """Draws that differ in their generated quantities alone."""
    print("Model contains no parameters, running fixed_param sampler, no updates to Markov chain")
    u = job.start(Density(job.posterior), number)
    table = tabulate(job.posterior, np.tile(u, (job["sample.num_samples"], 1)), job.seed, number)
    rows = np.column_stack([np.zeros((len(table.rows), 2)), table.rows])
    times = elapsed((0.0, "Warm-up"), (0.0, "Sampling"), (0.0, "Total"))
    job.write_csv(["lp__", "accept_stat__", *table.columns], [*job.row_lines(rows), *times], file)


def _nuts(job: Job, number: int, file: Path) -> None:
    """One chain of the No-U-Turn sampler."""
    _refuse(job)
    thin, density = job["sample.thin"], Density(job.posterior)
    start = job.start(density, number)
    began = perf_counter()
    chain = _chain(job, density, start, number)
    seconds = perf_counter() - began
    warmup, kept = chain.warmup.thinned(thin), chain.draws.thinned(thin)
    saved = len(warmup.u) if job["sample.save_warmup"] else 0
    table = tabulate(job.posterior, np.vstack([warmup.u[:saved], kept.u]), job.seed, number)
    statistics = np.vstack([warmup.statistics[:saved], kept.statistics])
    rows = list(job.row_lines(np.column_stack([statistics, table.rows])))
    body = [*rows[:saved], *adaptation(chain), *rows[saved:], *times(chain, seconds)]
    job.write_csv([*LEADING, *table.columns], body, file)
    if job["sample.adapt.save_metric"]:
        write_whole(beside(file, "metric"), [metric_json(chain.inverse_metric, chain.stepsize)])


def _refuse(job: Job) -> None:
    """What nutpie cannot do is refused; what it does its own way is said."""
    if job["sample.hmc.engine"] != "nuts":
        raise InferenceError("engine=static is not offered here; use engine=nuts.")
    if job["sample.hmc.metric"] != "diag_e":
        raise InferenceError(f"metric={job['sample.hmc.metric']} is not offered here; use metric=diag_e.")
    if not job["sample.adapt.engaged"]:
        raise InferenceError("adapt engaged=0 is not offered here; nutpie always adapts.")
    if job["sample.num_warmup"] < 1:
        raise InferenceError("num_warmup=0 is not offered here; nutpie always adapts: give at least 1.")
    job.note_unused(*(f"sample.{name}" for name in IDLE))


def _chain(job: Job, density: Density, start: Floats, number: int) -> Chain:
    warmup, draws = job["sample.num_warmup"], job["sample.num_samples"]
    chain = f"Chain [{number}] " if job["sample.num_chains"] > 1 else ""
    settings = SampleSettings(
        num_warmup=warmup,
        num_samples=max(draws, 1),  # nutpie knows no run without any
        delta=job["sample.adapt.delta"],
        max_depth=job["sample.hmc.nuts.max_depth"],
        backend=job["ppl.backend"],
        device=job["ppl.device"],
    )
    require_memory_of_chains(job.posterior, settings)
    iterations = Iterations(warmup, draws, job["output.refresh"], chain)
    target = for_sampler(AsTarget(job.posterior), settings)
    (found,) = run_chains([Start(target, start)], settings, [seed_of(job.seed, number)], iterations)
    if found is None:
        raise KeyboardInterrupt
    constants = target.log_density(start) - density.log_density(start)
    return replace(
        found,
        warmup=_without(constants, found.warmup),
        draws=_without(constants, found.draws).first(draws),
    )


def _without(constants: float, draws: Draws) -> Draws:
    """The draws with a log density, and an energy, that lack the constants, as Stan's do."""
    statistics = draws.statistics.copy()
    statistics[:, LEADING.index("lp__")] -= constants
    statistics[:, LEADING.index("energy__")] += constants
    return replace(draws, statistics=statistics)
