"""`method=sample`: nutpie's No-U-Turn sampler with CmdStan's columns (needs the extra `sample`)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ppl.cmdstan.density import Density
from ppl.cmdstan.job import Job, numbered
from ppl.errors import InferenceError
from ppl.model import Floats
from ppl.results.draws import tabulate
from ppl.results.files import write_whole
from ppl.results.metric import metric_json
from ppl.results.sample_csv import elapsed
from ppl.results.stan_csv import cell

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
class Chain:
    """Unconstrained draws (draws, dim), their statistics by LEADING (draws, 7), the inverse metric (dim,)."""

    u: Floats
    statistics: Floats
    inverse_metric: Floats


def run(job: Job) -> int:
    """Writes a file for each chain, `_1` and so on where there are several.

    Raises:
        InferenceError: nutpie is not installed, or the job asks for what it does not have.
    """
    chains = job["sample.num_chains"]
    for number in range(1, chains + 1):
        file = (
            job["output.file"] if chains == 1 else str(numbered(job["output.file"], job["id"] + number - 1))
        )
        if job["sample.algorithm"] == "fixed_param" or not job.posterior.param_unc_num():
            _fixed(job, number, file)
        else:
            _chain(job, number, file)
    return 0


def _chain(job: Job, number: int, file: str) -> None:
    _refuse(job)
    began = perf_counter()
    chain = _nuts(job, Density(job.posterior), number)
    kept = slice(None, None, job["sample.thin"])
    table = tabulate(job.posterior, chain.u[kept], job.seed, number)
    seconds = perf_counter() - began
    job.write_csv(
        [*LEADING, *table.columns],
        np.column_stack([chain.statistics[kept], table.rows]),
        after_header=_adaptation(chain),
        at_end=elapsed((0.0, "Warm-up"), (seconds, "Sampling"), (seconds, "Total")),
        file=file,
    )
    if job["sample.adapt.save_metric"]:
        path = numbered(file, 1).with_name(file.rpartition("/")[2].removesuffix(".csv") + "_metric.json")
        write_whole(path, [metric_json(chain.inverse_metric, float(chain.statistics[-1, 2]))])


def _fixed(job: Job, number: int, file: str) -> None:
    """Draws that differ in their generated quantities alone."""
    print("Model contains no parameters, running fixed_param sampler, no updates to Markov chain")
    u = job.start(Density(job.posterior), number)
    table = tabulate(job.posterior, np.tile(u, (job["sample.num_samples"], 1)), job.seed, number)
    rows = np.column_stack([np.zeros((len(table.rows), 2)), table.rows])
    times = elapsed((0.0, "Warm-up"), (0.0, "Sampling"), (0.0, "Total"))
    job.write_csv(["lp__", "accept_stat__", *table.columns], rows, at_end=times, file=file)


def _refuse(job: Job) -> None:
    """What nutpie cannot do is refused; what it does its own way is said."""
    if job["sample.hmc.engine"] != "nuts":
        raise InferenceError("engine=static is not offered here; use engine=nuts.")
    if job["sample.hmc.metric"] != "diag_e":
        raise InferenceError(f"metric={job['sample.hmc.metric']} is not offered here; use metric=diag_e.")
    job.note_unused(
        *(f"sample.{name}" for name in IDLE if job.config.given.get(f"sample.{name}") is not True)
    )


def _nuts(job: Job, density: Density, number: int) -> Chain:
    try:
        import nutpie
    except ImportError:
        raise InferenceError(
            'method=sample needs nutpie: pip install "ppl[sample]", or use method=variational.'
        ) from None
    seed = int(np.random.SeedSequence([job.seed, number]).generate_state(1)[0])
    warmup = job["sample.num_warmup"]
    trace = nutpie.sample(
        _compiled(density, job.start(density, number)),
        draws=job["sample.num_samples"],
        tune=warmup,
        chains=1,
        cores=1,
        seed=seed,
        save_warmup=True,
        progress_bar=False,
        store_mass_matrix=True,
        target_accept=job["sample.adapt.delta"],
        maxdepth=job["sample.hmc.nuts.max_depth"],
    )
    total = warmup + job["sample.num_samples"]
    print(f"Iteration: {total} / {total} [100%]  (Sampling)")
    saved = warmup and job["sample.save_warmup"]
    return _as_chain(
        [trace["warmup_posterior"], trace["posterior"]] if saved else [trace["posterior"]],
        [trace["warmup_sample_stats"], trace["sample_stats"]] if saved else [trace["sample_stats"]],
    )


def _as_chain(draws: list[Any], statistics: list[Any]) -> Chain:
    columns = [np.concatenate([np.asarray(part[name])[0] for part in statistics]) for name in STATISTICS]
    return Chain(
        np.concatenate([np.asarray(part["u"])[0] for part in draws]),
        np.column_stack(columns).astype(float),
        np.asarray(statistics[-1]["mass_matrix_inv"])[0, -1],
    )


def _compiled(density: Density, start: Floats) -> Any:
    """The log density as nutpie wants it: makers of plain functions of the unconstrained vector."""
    from nutpie.compiled_pyfunc import from_pyfunc

    def log_density_gradient(u: Floats) -> tuple[float, Floats]:
        value, gradient = density.log_density_gradient(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise Unsupported
        return value, gradient

    def expand(u: Floats) -> Mapping[str, Floats]:
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


def _adaptation(chain: Chain) -> Iterator[str]:
    yield "# Adaptation terminated\n"
    yield f"# Step size = {cell(chain.statistics[-1, 2])}\n"
    yield "# Diagonal elements of inverse mass matrix:\n"
    yield f"# {', '.join(map(cell, chain.inverse_metric))}\n"
