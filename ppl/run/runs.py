"""Independent runs in parallel processes."""

from dataclasses import replace
from functools import partial
from typing import Any

from ppl.density.log_density import LogDensity
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.progress import Listener, Phase, Progress
from ppl.methods.diagnose.spread import spread_of
from ppl.methods.recipes.result import Result
from ppl.methods.run.settings import Settings
from ppl.run.checkpoint import CheckpointOptions, fit_with, journal_of
from ppl.run.processes import at_a_time
from ppl.run.target import target_of
from ppl.system.threads import cores_of

KILLED = "The process of a run ended with status {} before the run did (-9: out of memory). Use fewer runs."


def best_of(
    posterior: LogDensity,
    settings: Settings,
    start: Any,
    progress: Listener,
    checkpoint: CheckpointOptions | None = None,
) -> Result:
    """The run with the best ELBO among `settings.runs`, its verdict in the light of all.

    As many run at a time as may take cores; where JAX is asked for, one follows the other. Ctrl-C ends every
    run where it is, and no more begin; with `checkpoint`, each can be resumed from a checkpoint of its own.
    `progress` receives the reports of each run with its number.

    Raises:
        InferenceError: one of the runs could not begin.
    """
    tasks = [partial(_fitted, k, posterior, settings, start, checkpoint) for k in range(settings.runs)]
    cores = 1 if settings.backend == "jax" else cores_of(settings.cores)
    results = list[Result]()
    for several in at_a_time(tasks, progress, KILLED, cores):
        results += several
        if several[-1].outcome.ending is Ending.INTERRUPTED:
            break
    best = max(results, key=lambda result: result.final_elbo)
    ended = [result for result in results if result.outcome.ending is not Ending.INTERRUPTED]
    if len(ended) < settings.runs:
        stopped = f"interrupted when {len(ended)} of {settings.runs} runs had ended"
        best = replace(best, path=replace(best.path, outcome=Outcome(Ending.INTERRUPTED, stopped)))
    if len(best.draws_u) < 2:
        return best
    spread = spread_of([result.draws_u for result in results], [result.final_elbo for result in results])
    return replace(best, verdict=replace(best.verdict, spread=spread))


def _fitted(
    k: int,
    posterior: LogDensity,
    settings: Settings,
    start: Any,
    checkpoint: CheckpointOptions | None,
    progress: Listener,
) -> Result:
    """Run 0, 1, ... of several."""
    own = replace(settings, seed=settings.seed + k)

    journal = journal_of(checkpoint and checkpoint.of_run(k), posterior, own)

    def listen(report: Progress) -> None:
        journal.write_in_time()
        progress(replace(report, run=k + 1, runs=settings.runs))

    try:
        result = fit_with(journal, target_of(posterior, own), own, start, listen)
    except SystemExit:
        journal.write()
        raise
    journal.write()
    listen(Progress(Phase.DONE, 0, 0, result.final_elbo))
    return replace(result, notes=(*result.notes, *journal.notes))
