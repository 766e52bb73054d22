"""`method=sample`: nutpie's No-U-Turn sampler with CmdStan's columns (needs the extra `sample`)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ppl.cmdstan.density import Density
from ppl.cmdstan.job import Job, beside, numbered
from ppl.density.posterior import Floats
from ppl.errors import InferenceError, MissingPackage
from ppl.files import write_whole
from ppl.results.files.sample_csv import elapsed
from ppl.results.files.stan_csv import cell
from ppl.results.fits.draws import tabulate
from ppl.results.fits.metric import metric_json

LEADING = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
STATISTICS = ("logp", "mean_tree_accept", "step_size", "depth", "n_steps", "diverging", "energy")
"""What nutpie calls the columns of LEADING."""

IDLE = (
    *(
        f"adapt.{name}"
        for name in ("engaged", "gamma", "kappa", "t0", "init_buffer", "term_buffer", "window")
    ),
    *(f"hmc.{name}" for name in ("metric_file", "stepsize", "stepsize_jitter")),
)
"""Where CmdStan's adaptation starts and how it goes; nutpie's own needs none of it."""


class Unsupported(Exception):
    """A point off the support: nutpie ends the trajectory there, as for a divergence."""

    is_recoverable = True


@dataclass(frozen=True)
class Draws:
    """Unconstrained draws (draws, dim) and their statistics (draws, 7), in the order of LEADING."""

    u: Floats
    statistics: Floats

    def first(self, n: int) -> "Draws":
        return Draws(self.u[:n], self.statistics[:n])

    def thinned(self, thin: int) -> "Draws":
        return Draws(self.u[::thin], self.statistics[::thin])

    @property
    def leapfrogs(self) -> float:
        """How many steps they took in all, which is what they cost."""
        return float(self.statistics[:, LEADING.index("n_leapfrog__")].sum())


@dataclass(frozen=True)
class Chain:
    """Warmup, draws, the inverse metric (dim,) and the step size that the warmup ended with."""

    warmup: Draws
    draws: Draws
    inverse_metric: Floats
    stepsize: float


@dataclass
class Iterations:
    """Counts the draws of a chain and prints CmdStan's lines, by which its clients know how far it is.

    As there: the first of a phase, every `refresh` of it, and the last of all; none where `refresh` is 0.
    """

    warmup: int
    draws: int
    refresh: int
    chain: str = ""
    made: int = 0

    def __call__(self) -> None:
        self.made += 1
        total, warm = self.warmup + self.draws, self.made <= self.warmup
        of_phase = self.made if warm else self.made - self.warmup
        if not self.refresh or self.made > total:
            return
        if of_phase == 1 or of_phase % self.refresh == 0 or self.made == total:
            count = f"{self.made:>{len(str(total))}} / {total} [{100 * self.made // total:>3}%]"
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
    body = [*rows[:saved], *_adaptation(chain), *rows[saved:], *_times(chain, seconds)]
    job.write_csv([*LEADING, *table.columns], body, file)
    if job["sample.adapt.save_metric"]:
        write_whole(beside(file, "metric"), [metric_json(chain.inverse_metric, chain.stepsize)])


def _adaptation(chain: Chain) -> Iterator[str]:
    yield "# Adaptation terminated\n"
    yield f"# Step size = {cell(chain.stepsize)}\n"
    yield "# Diagonal elements of inverse mass matrix:\n"
    yield f"# {', '.join(map(cell, chain.inverse_metric))}\n"


def _times(chain: Chain, seconds: float) -> Iterator[str]:
    """nutpie tells the total time only; its parts are in proportion to their leapfrog steps."""
    steps = chain.warmup.leapfrogs + chain.draws.leapfrogs
    warmup = seconds * chain.warmup.leapfrogs / max(steps, 1.0)
    return elapsed((warmup, "Warm-up"), (seconds - warmup, "Sampling"), (seconds, "Total"))


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
    try:
        import nutpie
    except ImportError:
        raise MissingPackage("method=sample", "nutpie", "ppl[sample]") from None
    warmup, draws = job["sample.num_warmup"], job["sample.num_samples"]
    chain = f"Chain [{number}] " if job["sample.num_chains"] > 1 else ""
    trace = nutpie.sample(
        _compiled(density, start, Iterations(warmup, draws, job["output.refresh"], chain)),
        draws=max(draws, 1),  # it knows no run without any
        tune=warmup,
        chains=1,
        cores=1,
        seed=int(np.random.SeedSequence([job.seed, number]).generate_state(1)[0]),
        progress_bar=False,
        store_mass_matrix=True,
        target_accept=job["sample.adapt.delta"],
        maxdepth=job["sample.hmc.nuts.max_depth"],
    )
    last = trace["sample_stats"]
    return Chain(
        _draws(trace, "warmup_"),
        _draws(trace, "").first(draws),
        np.asarray(last["mass_matrix_inv"])[0, -1],
        float(np.asarray(last["step_size_bar"])[0, -1]),
    )


def _draws(trace: Any, phase: str) -> Draws:
    statistics = trace[f"{phase}sample_stats"]
    columns = [np.asarray(statistics[name])[0] for name in STATISTICS]
    return Draws(np.asarray(trace[f"{phase}posterior"]["u"])[0], np.column_stack(columns).astype(float))


def _compiled(density: Density, start: Floats, made: Callable[[], None]) -> Any:
    """The log density as nutpie wants it: makers of plain functions of the unconstrained vector.

    `made` is called for each draw, those of the warmup included, when it is made.
    """
    from nutpie.compiled_pyfunc import from_pyfunc

    def log_density_gradient(u: Floats) -> tuple[float, Floats]:
        value, gradient = density.log_density_gradient(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise Unsupported
        return value, gradient

    def expand(u: Floats) -> Mapping[str, Floats]:
        made()
        return {"u": np.copy(u)}

    make_expand: Callable[..., Any] = lambda seed1, seed2, chain: expand  # noqa: E731
    return from_pyfunc(
        density.dim,
        lambda: log_density_gradient,
        make_expand,
        [np.dtype(np.float64)],
        [(density.dim,)],
        ["u"],
        make_initial_point_fn=lambda seed: start,
    )
