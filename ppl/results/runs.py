"""Independent runs in parallel processes."""

import multiprocessing
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from ppl.errors import PPLError
from ppl.inference.progress import Listener, Progress
from ppl.inference.recipes import fit
from ppl.inference.recipes.result import Result
from ppl.inference.spread import spread_of
from ppl.results.posterior import Posterior
from ppl.results.settings import Settings
from ppl.results.target import target_of


def best_of(posterior: Posterior, settings: Settings, start: Any, progress: Listener) -> Result:
    """The run with the best ELBO among `settings.runs`, its verdict in the light of all.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    results: list[Result] = []
    for result in _all(posterior, settings, start):
        results.append(result)
        progress(Progress("runs", len(results), settings.runs, result.final_elbo))
    best = max(results, key=lambda result: result.final_elbo)
    if len(best.draws_u) < 2:
        return best
    spread = spread_of([result.draws_u for result in results], [result.final_elbo for result in results])
    return replace(best, verdict=best.verdict.beside(spread))


def _all(posterior: Posterior, settings: Settings, start: Any) -> Iterator[Result]:
    """The runs in order of seed, as many at a time as there are cores.

    JAX has threads, which no fork may copy: where it is asked for or in use, one run follows the other.
    """
    each = [replace(settings, seed=settings.seed + k) for k in range(settings.runs)]
    threaded = settings.backend == "jax" or "jax" in sys.modules
    if threaded or "fork" not in multiprocessing.get_all_start_methods():
        yield from (fit(target_of(posterior, own), own, start) for own in each)
        return
    cores = os.cpu_count() or 1
    for first in range(0, len(each), cores):
        yield from _at_once(posterior, each[first : first + cores], start)


def _at_once(posterior: Posterior, each: list[Settings], start: Any) -> Iterator[Result]:
    """A process a run. They are forks: compiled code does not travel to a process that begins afresh."""
    context = multiprocessing.get_context("fork")
    began = []
    for own in each:
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(there, posterior, own, start))
        process.start()
        there.close()
        began.append((process, here))
    try:
        for process, here in began:
            answer = here.recv()
            process.join()
            if isinstance(answer, PPLError):
                raise answer
            yield answer
    finally:
        for process, _ in began:
            process.terminate()


def _run(there: Connection, posterior: Posterior, settings: Settings, start: Any) -> None:
    try:
        answer: Result | PPLError = fit(target_of(posterior, settings), settings, start)
    except PPLError as error:
        answer = error
    there.send(answer)
