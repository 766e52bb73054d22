"""Independent runs in parallel processes."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from ppl.cores import cores_of
from ppl.density.log_density import LogDensity
from ppl.fitting.checkpoint import CheckpointOptions, fit_with, journal_of
from ppl.fitting.processes import at_a_time
from ppl.fitting.target import target_of
from ppl.inference.diagnose.spread import spread_of
from ppl.inference.recipes.result import Result
from ppl.inference.run.outcome import Ending, Outcome
from ppl.inference.run.phases import Phase
from ppl.inference.run.progress import Listener, Progress
from ppl.inference.run.settings import Settings

KILLED = "The process of a run ended with status {} before the run did (-9: out of memory). Use fewer runs."


class Job(NamedTuple):
    """One run; `number` counts from 1."""

    number: int
    posterior: LogDensity
    settings: Settings
    start: Any
    checkpoint: CheckpointOptions | None


def best_of(
    posterior: LogDensity,
    settings: Settings,
    start: Any,
    progress: Listener,
    checkpoint: CheckpointOptions | None = None,
) -> Result:
    """The run with the best ELBO among `settings.runs`, its verdict in the light of all.

    Ctrl-C ends every run where it is; with `checkpoint`, each can be resumed from a checkpoint of its own.
    `progress` receives the reports of each run with its number.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    results: list[Result] = []
    for result in _all(posterior, settings, start, progress, checkpoint):
        results.append(result)
    best = max(results, key=lambda result: result.final_elbo)
    ended = [result for result in results if result.outcome.ending is not Ending.INTERRUPTED]
    if len(ended) < settings.runs:
        stopped = f"interrupted when {len(ended)} of {settings.runs} runs had ended"
        best = replace(best, path=replace(best.path, outcome=Outcome(Ending.INTERRUPTED, stopped)))
    if len(best.draws_u) < 2:
        return best
    spread = spread_of([result.draws_u for result in results], [result.final_elbo for result in results])
    return replace(best, verdict=best.verdict.beside(spread))


def _all(
    posterior: LogDensity,
    settings: Settings,
    start: Any,
    progress: Listener,
    checkpoint: CheckpointOptions | None,
) -> Iterator[Result]:
    """The runs in order of seed, as many at a time as they may take cores; none more after Ctrl-C.

    Where JAX is asked for, one run follows the other.
    """
    jobs = [
        Job(
            k + 1,
            posterior,
            replace(settings, seed=settings.seed + k),
            start,
            checkpoint and checkpoint.of_run(k),
        )
        for k in range(settings.runs)
    ]
    tasks = [partial(_fitted, job) for job in jobs]
    cores = 1 if settings.backend == "jax" else cores_of(settings.cores)
    for results in at_a_time(tasks, progress, KILLED, cores):
        yield from results
        if results[-1].outcome.ending is Ending.INTERRUPTED:
            return


def _fitted(job: Job, progress: Listener) -> Result:
    def listen(report: Progress) -> None:
        progress(replace(report, run=job.number, runs=job.settings.runs))

    journal = journal_of(job.checkpoint, job.posterior, job.settings)
    target = target_of(job.posterior, job.settings)
    result = fit_with(journal, target, job.settings, job.start, listen)
    journal.write()
    listen(Progress(Phase.DONE, 0, 0, result.final_elbo))
    return replace(result, notes=(*result.notes, *journal.notes))
