"""Independent runs in parallel processes."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from ppl.errors import PPLError
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.phases import Phase
from ppl.inference.progress import Listener, Progress
from ppl.inference.recipes import fit
from ppl.inference.recipes.result import Result
from ppl.inference.spread import spread_of
from ppl.results.checkpoint import Keep, journal_of
from ppl.results.posterior import Posterior
from ppl.results.settings import Settings
from ppl.results.target import target_of


class Job(NamedTuple):
    """One run."""

    posterior: Posterior
    settings: Settings
    start: Any
    keep: Keep | None


def best_of(
    posterior: Posterior, settings: Settings, start: Any, progress: Listener, keep: Keep | None = None
) -> Result:
    """The run with the best ELBO among `settings.runs`, its verdict in the light of all.

    Ctrl-C ends every run where it is; with `keep`, each has a checkpoint of its own to go on from.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    results: list[Result] = []
    for result in _all(posterior, settings, start, keep):
        results.append(result)
        progress(Progress(Phase.DONE, len(results), settings.runs, result.final_elbo))
    best = max(results, key=lambda result: result.final_elbo)
    ended = [result for result in results if result.outcome.ending is not Ending.INTERRUPTED]
    if len(ended) < settings.runs:
        stopped = f"stopped by hand when {len(ended)} of {settings.runs} runs had ended"
        best = replace(best, path=replace(best.path, outcome=Outcome(Ending.INTERRUPTED, stopped)))
    if len(best.draws_u) < 2:
        return best
    spread = spread_of([result.draws_u for result in results], [result.final_elbo for result in results])
    return replace(best, verdict=best.verdict.beside(spread))


def _all(posterior: Posterior, settings: Settings, start: Any, keep: Keep | None) -> Iterator[Result]:
    """The runs in order of seed, as many at a time as there are cores; none more after Ctrl-C.

    JAX has threads, which no fork may copy: where it is asked for or in use, one run follows the other.
    """
    jobs = [
        Job(posterior, replace(settings, seed=settings.seed + k), start, keep and keep.of_run(k))
        for k in range(settings.runs)
    ]
    threaded = settings.backend == "jax" or "jax" in sys.modules
    alone = threaded or "fork" not in multiprocessing.get_all_start_methods()
    cores = 1 if alone else os.cpu_count() or 1
    for first in range(0, len(jobs), cores):
        some = jobs[first : first + cores]
        for result in map(_fitted, some) if alone else _at_once(some):
            yield result
            stopped = result.outcome.ending is Ending.INTERRUPTED
        if stopped:
            return


def _at_once(jobs: list[Job]) -> Iterator[Result]:
    """A process a run. They are forks: compiled code does not travel to a process that begins afresh."""
    context = multiprocessing.get_context("fork")
    began: list[tuple[Any, Connection]] = []
    for job in jobs:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(there, job))
        process.start()
        there.close()
        began.append((process, here))
    try:
        for process, here in began:
            answer = _answer(here, [process.pid for process, _ in began])
            process.join()
            if isinstance(answer, PPLError):
                raise answer
            yield answer
    finally:
        for process, _ in began:
            process.terminate()


def _answer(here: Connection, everyone: list[int]) -> Any:
    """What a process sends. Ctrl-C is passed on to all of them, and what they then have is waited for."""
    try:
        return here.recv()
    except KeyboardInterrupt:
        for pid in everyone:
            os.kill(pid, signal.SIGINT)
        return here.recv()


def _run(there: Connection, job: Job) -> None:
    signal.signal(signal.SIGINT, _interrupt_once)
    try:
        answer: Result | PPLError = _fitted(job)
    except PPLError as error:
        answer = error
    there.send(answer)


def _interrupt_once(*_: Any) -> None:
    """Ctrl-C at a terminal reaches a process both by itself and from the one that began it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _fitted(job: Job) -> Result:
    journal = journal_of(job.keep, job.posterior, job.settings)
    result = fit(target_of(job.posterior, job.settings), job.settings, job.start, journal=journal)
    journal.write()
    return replace(result, notes=(*result.notes, *journal.notes))
