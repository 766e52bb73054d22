"""The driver of Markov chains: what is checked first, which of them run side by side, and their draws."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import NamedTuple

from ppl.density.completions import sentences
from ppl.density.distinct_rows import by_distinct_rows
from ppl.density.log_density import LogDensity
from ppl.errors import InferenceError
from ppl.kernel.advi.context import Streams
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.kernel.advi.start import Init
from ppl.kernel.advi.target import Target
from ppl.methods.moves.batch import run_batch
from ppl.methods.nuts.chain import Chain, Start, run_chains, seed_of, start_of
from ppl.methods.run.settings import SampleSettings
from ppl.run.backend import for_sampler
from ppl.run.improper import refuse_improper
from ppl.run.initial import starts_for
from ppl.run.listener import Deadline
from ppl.run.memory_needed import memory_required, require_memory_of_chains
from ppl.run.nonfinite_data import naming_infinite_data, refuse_nan_data
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.processes import Tell, at_a_time
from ppl.run.table import Table, failures, tabulate
from ppl.run.target import naming, note_of, threads_of_fit
from ppl.system.distribution import extra, requirements
from ppl.system.threads import cores_of

SECONDS_A_REPORT_OF_CHAINS = 0.1
"""Seconds between two reports of a chain."""

LEAST_GRADIENT_SECONDS = 5e-4
"""Seconds of a gradient above which chains are threads: handing on the interpreter takes a tenth of it."""

KILLED = (
    "The process of a chain ended with status {} before the chain did (-9: out of memory). Use fewer chains."
)
NO_DRAWS = "No chain had a draw after timeout = {:g} s; allow more, or take fewer iterations of warmup."
NO_PARAMETERS = (
    "The program has no parameters, so there is nothing to sample; posterior.variational(), or ppl "
    "variational, draws its generated quantities."
)


class ChainDraws(NamedTuple):
    """What a sampler leaves: chains on the unconstrained scale, and the draws of each as columns."""

    each: tuple[Chain, ...]
    tables: tuple[Table, ...]
    interrupted: bool
    notes: tuple[str, ...]
    backend: str
    """What computed the log density."""


@memory_required()
def sample_chains(
    posterior: LogDensity,
    settings: SampleSettings,
    listen: Listener = silent,
    init: Init | None = None,
    timeout: float | None = None,
) -> ChainDraws:
    """Draw by chains of the settings' engine; `init` takes the place of that of the settings.

    After `timeout` seconds chains end where they are.

    By autograd each chain of NUTS is a process. By JAX, whose code leaves the interpreter free, it is a
    thread where a gradient takes long enough, and one chain follows the other where threads would wait.

    Raises:
        InferenceError: a setting is out of range, the posterior improper, or no start has a finite density;
            or no chain had a draw before `timeout`.
        DataError: `init` does not fit the parameters.
        MissingPackage: nutpie is not installed.
    """
    deadline = Deadline(listen, timeout)
    if settings.engine == "nuts":
        extra("nutpie", "sample", *requirements("sample"))
    if not posterior.param_unc_num():
        raise InferenceError(NO_PARAMETERS)
    require_memory_of_chains(posterior.extent, settings)
    with threads_of_fit(posterior), naming_infinite_data(posterior.numbers):
        whole = PosteriorTarget(posterior)
        refuse_improper(posterior.problem, whole, PosteriorTarget(posterior, jacobian=False))
        refuse_nan_data(posterior.numbers, whole)
        target = for_sampler(PosteriorTarget(by_distinct_rows(posterior)), settings)
        chains = settings.num_chains
        inits = starts_for(posterior, settings.init, chains) if init is None else [init] * chains
        backend = "autograd" if isinstance(target, PosteriorTarget) else "jax"
        try:
            if settings.engine == "batch":
                listener = naming(deadline, lambda phase: backend)
                left = run_batch(target, inits, settings, Streams(settings.seed).start, listener)
            else:
                left = _by_nuts(target, inits, settings, naming(listen, lambda phase: backend), deadline.end)
        except KeyboardInterrupt:
            if deadline.over:
                raise InferenceError(NO_DRAWS.format(timeout)) from None
            raise
        timed_out = deadline.over
        us = [chain.draws.u for chain in left]
        tables = [tabulate(posterior, u, settings.seed, key=k, listen=listen) for k, u in enumerate(us, 1)]
        stopped = len(left) < settings.num_chains or _is_short(left[0], settings)
        why = f"Stopped after timeout = {timeout:g} s" if timed_out else "Interrupted"
        note = f"{why}: {len(left)} chains of {len(us[0])} draws are kept."
        notes = (*sentences(posterior.model, posterior.d), *note_of(target), *([note] if stopped else []))
        interrupted = stopped and not timed_out
        return ChainDraws(tuple(left), tuple(tables), interrupted, (*notes, *failures(*tables)), backend)


def _by_nuts(
    target: Target, inits: Sequence[Init], settings: SampleSettings, listen: Listener, until: float
) -> list[Chain]:
    """Chains of NUTS beside each other, as processes or threads, until the clock `perf_counter` says so."""
    rng = Streams(settings.seed).start
    starts = [start_of(target, init, rng) for init in inits]
    numbers = range(1, settings.num_chains + 1)
    cores, processes = cores_of(settings.cores), isinstance(target, PosteriorTarget)
    threads = cores if not processes and pays_to_share(starts[0]) else 1
    tasks = [
        partial(_some, starts[k : k + threads], settings, numbers[k : k + threads], until)
        for k in range(0, len(starts), threads)
    ]
    found = list[Chain | None]()
    for several in at_a_time(tasks, listen, KILLED, cores if processes else 1, partial=True):
        found += [chain for chains in several for chain in chains]
        if any(_is_short(chain, settings) for chain in found):  # by Ctrl-C or the clock
            break
    return _complete_chains(found, settings)


def pays_to_share(start: Start) -> bool:
    """Whether a gradient takes long enough for chains to be threads beside each other."""
    start.target.log_density_gradient(start.v)
    began = perf_counter()
    start.target.log_density_gradient(start.v)
    return perf_counter() - began > LEAST_GRADIENT_SECONDS


def _some(
    starts: Sequence[Start], settings: SampleSettings, numbers: Sequence[int], until: float, tell: Tell
) -> list[Chain | None]:
    """The chains of those numbers."""
    reported = dict.fromkeys(numbers, 0.0)

    def made(k: int, count: int) -> None:
        number, now, several = numbers[k], perf_counter(), settings.num_chains > 1
        phase, done, total = Phase.SAMPLING, count - settings.num_warmup, settings.num_samples
        if done <= 0:
            phase, done, total = Phase.WARMUP, count, settings.num_warmup
        if now - reported[number] > SECONDS_A_REPORT_OF_CHAINS or done in (1, total):
            reported[number] = now
            run, runs = (number, settings.num_chains) if several else (0, 0)
            tell(Progress(phase, done, total, run=run, runs=runs))

    return run_chains(starts, settings, [seed_of(settings.seed, number) for number in numbers], made, until)


def _is_short(chain: Chain | None, settings: SampleSettings) -> bool:
    return chain is None or len(chain.draws.u) < settings.num_samples


def _complete_chains(found: Sequence[Chain | None], settings: SampleSettings) -> list[Chain]:
    """The chains that came to their end; or else of each as many draws as the shortest has."""
    whole = [chain for chain in found if chain and not _is_short(chain, settings)]
    if whole:
        return whole
    begun = [chain for chain in found if chain]
    if not begun:
        raise KeyboardInterrupt
    shortest = min(len(chain.draws.u) for chain in begun)
    return [replace(chain, draws=chain.draws.first(shortest)) for chain in begun]
