"""Independent runs in parallel processes."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, cast

from ppl.cores import cores_of
from ppl.density.posterior import Posterior
from ppl.errors import InferenceError, PPLError
from ppl.inference.diagnose.spread import spread_of
from ppl.inference.recipes import fit
from ppl.inference.recipes.result import Result
from ppl.inference.run.outcome import Ending, Outcome
from ppl.inference.run.phases import Phase
from ppl.inference.run.progress import Listener, Progress
from ppl.inference.run.settings import Settings
from ppl.results.fits.checkpoint import Keep, journal_of
from ppl.results.fits.target import target_of

KILLED = (
    "The process of a run ended with status {} before the run did (-9 where memory ran out). Try fewer runs."
)


class Job(NamedTuple):
    """One run; `number` counts from 1."""

    number: int
    posterior: Posterior
    settings: Settings
    start: Any
    keep: Keep | None


def best_of(
    posterior: Posterior, settings: Settings, start: Any, progress: Listener, keep: Keep | None = None
) -> Result:
    """The run with the best ELBO among `settings.runs`, its verdict in the light of all.

    Ctrl-C ends every run where it is; with `keep`, each has a checkpoint of its own to go on from. `progress`
    hears each run by its number.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    results: list[Result] = []
    for result in _all(posterior, settings, start, progress, keep):
        results.append(result)
    best = max(results, key=lambda result: result.final_elbo)
    ended = [result for result in results if result.outcome.ending is not Ending.INTERRUPTED]
    if len(ended) < settings.runs:
        stopped = f"stopped by hand when {len(ended)} of {settings.runs} runs had ended"
        best = replace(best, path=replace(best.path, outcome=Outcome(Ending.INTERRUPTED, stopped)))
    if len(best.draws_u) < 2:
        return best
    spread = spread_of([result.draws_u for result in results], [result.final_elbo for result in results])
    return replace(best, verdict=best.verdict.beside(spread))


def _all(
    posterior: Posterior, settings: Settings, start: Any, progress: Listener, keep: Keep | None
) -> Iterator[Result]:
    """The runs in order of seed, as many at a time as they may take cores; none more after Ctrl-C.

    JAX has threads, which no fork may copy: where it is asked for or in use, one run follows the other.
    """
    jobs = [
        Job(k + 1, posterior, replace(settings, seed=settings.seed + k), start, keep and keep.of_run(k))
        for k in range(settings.runs)
    ]
    threaded = settings.backend == "jax" or "jax" in sys.modules
    alone = threaded or "fork" not in multiprocessing.get_all_start_methods()
    cores = 1 if alone else cores_of(settings.cores)
    for first in range(0, len(jobs), cores):
        some = jobs[first : first + cores]
        for result in _one_by_one(some, progress) if alone else _at_once(some, progress):
            yield result
            stopped = result.outcome.ending is Ending.INTERRUPTED
        if stopped:
            return


def _one_by_one(jobs: list[Job], progress: Listener) -> Iterator[Result]:
    for job in jobs:
        result = _fitted(job, progress)
        progress(_done(job, result))
        yield result


def _at_once(jobs: list[Job], progress: Listener) -> list[Result]:
    """A process a run. They are forks: compiled code does not travel to a process that begins afresh."""
    context = multiprocessing.get_context("fork")
    began: dict[Connection, Any] = {}
    for job in jobs:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(there, job))
        process.start()
        there.close()
        began[here] = process
    try:
        with _passed_on(list(began.values())):
            answers = _answers(began, progress)
        return [answers[here] for here in began]
    finally:
        for process in began.values():
            process.terminate()
            process.join()


def _answers(began: Mapping[Connection, Any], progress: Listener) -> dict[Connection, Result]:
    """What every process sends at its end; until then, its progress. The first to fail ends all.

    Raises:
        InferenceError: a process was killed.
    """
    answers: dict[Connection, Result] = {}
    while left := [here for here in began if here not in answers]:
        for here in cast(list[Connection], wait(left)):
            try:
                said = here.recv()
            except EOFError:
                began[here].join()
                raise InferenceError(KILLED.format(began[here].exitcode)) from None
            match said:
                case Progress():
                    progress(said)
                case Result():
                    answers[here] = said
                case error:
                    raise error
    return answers


@contextmanager
def _passed_on(processes: Sequence[Any]) -> Iterator[None]:
    """Ctrl-C ends the processes where they are, and what they have is waited for; a second one ends all.

    It comes between two messages, never in the middle of one.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone hears of it
        yield
        return

    def pass_on(*_: Any) -> None:
        signal.signal(signal.SIGINT, before)
        for process in processes:
            os.kill(process.pid, signal.SIGINT)

    before = signal.signal(signal.SIGINT, pass_on)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run(there: Connection, job: Job) -> None:
    """In a process of its own, where what the program prints goes past the bar, which is another's."""
    signal.signal(signal.SIGINT, _interrupt_once)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    try:
        answer: Result | PPLError = _fitted(job, there.send)
    except PPLError as error:
        answer = error
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # half an answer is none
    if isinstance(answer, Result):
        there.send(_done(job, answer))
    there.send(answer)


def _interrupt_once(*_: Any) -> None:
    """Ctrl-C at a terminal reaches a process both by itself and from the one that began it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _fitted(job: Job, progress: Listener) -> Result:
    def listen(report: Progress) -> None:
        progress(replace(report, run=job.number))

    journal = journal_of(job.keep, job.posterior, job.settings)
    result = fit(target_of(job.posterior, job.settings), job.settings, job.start, listen, journal)
    journal.write()
    return replace(result, notes=(*result.notes, *journal.notes))


def _done(job: Job, result: Result) -> Progress:
    return Progress(Phase.DONE, 0, 0, result.final_elbo, run=job.number)
