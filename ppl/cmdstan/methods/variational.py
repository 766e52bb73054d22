"""`method=variational`: a fit, its files, and a table on the screen as CmdStan's."""

import math
from dataclasses import replace
from typing import Any

from ppl.cmdstan.job import Job
from ppl.kernel.advi.outcome import Ending, Listener, Phase, Progress, silent
from ppl.kernel.draws.stan_csv import eta_lines
from ppl.results.arguments.of_settings import ONE_TO_ONE, SETTINGS, in_cmdstans_words, parse_value
from ppl.results.arguments.tree import ArgumentValues
from ppl.results.files.stan_csv import as_sample, elapsed
from ppl.results.fits.fit import Fit, variational

HEADER = "  iter             ELBO   delta_ELBO_mean   delta_ELBO_med   notes "
UNSETTLED = "The algorithm may not have converged."
"""The sentence that CmdStan's clients look for."""


def run(job: Job) -> int:
    """Fits and writes; a run that did not converge says so and still writes what it has, with status 0."""
    threads = job.config.arguments.get("num_threads", -1)
    cores = None if threads == -1 else int(threads)  # of which -1 stands for all
    settings = settings_of(job.config.arguments) | {"init": job.init(), "seed": job.seed, "cores": cores}
    progress = _table(job["output.refresh"])
    fit = variational(job.posterior, progress=progress, on_interrupt="return", **settings)
    if not fit.outcome.converged and fit.outcome.ending is not Ending.COMPLETED:
        print(UNSETTLED)
    print(fit.outcome.sentence, fit.provenance.judgement, *fit.notes, sep="\n", end="\n\n")
    print(f"Drawing a sample of size {len(fit.draws())} from the approximate posterior... \nCOMPLETED.")
    _write(job, fit)
    if job["output.diagnostic_file"]:
        fit.save_diagnostics(job["output.diagnostic_file"], job.config.arguments, job.config.started)
    return 0


def _write(given: Job, fit: Fit) -> None:
    job = replace(given, config=replace(given.config, about=fit.provenance.entries()))
    result, seconds = fit.result, fit.result.path.trace[-1].seconds if fit.result.path.trace else 0.0
    draws = list(zip(result.log_p, result.log_g, fit.draws(), strict=True))
    columns = ["lp__", "log_p__", "log_g__", *fit.column_names]
    words = in_cmdstans_words(fit.settings, fit.family)
    job = replace(job, config=replace(job.config, arguments={**job.config.arguments, **words}))
    if job["ppl.format"] == "sample":
        sample_job = replace(job, config=as_sample(job.config, len(draws)))
        times = elapsed((0.0, "Warm-up"), (seconds, "Sampling"), (seconds, "Total"))
        sample_job.write_csv(columns, [*job.row_lines([p, p, g, *row] for p, g, row in draws), *times])
        return
    rows = [[0, 0, 0, *fit.at_mean()], *([0, p, g, *row] for p, g, row in draws)]
    job.write_csv(columns, [*eta_lines(fit.eta), *job.row_lines(rows)])


def _table(refresh: int) -> Listener:
    """CmdStan's table: a line for each evaluation of the ELBO, whatever `refresh` says above 0."""
    if refresh == 0:
        return silent
    rows: list[str] = []

    def listen(progress: Progress) -> None:
        if progress.phase is not Phase.LOOP or math.isnan(progress.elbo):
            return
        if not rows:
            print(HEADER)
        row = (
            f"{progress.iteration:>6}{progress.elbo:>17.3f}"
            f"{progress.delta_mean:>18.3f}{progress.delta_median:>17.3f}   {progress.note}"
        )
        rows.append(row)
        print(row.rstrip(), flush=True)

    return listen


def settings_of(arguments: ArgumentValues) -> dict[str, Any]:
    """The Settings by the given arguments; like CmdStan, `eta` counts when the search is off."""
    searched = arguments.get("variational.adapt.engaged", True)
    return {
        **{
            name: parse_value(SETTINGS[name], arguments[path])
            for path, name in ONE_TO_ONE.items()
            if path in arguments
        },
        **({} if searched else {"eta": arguments.get("variational.eta", 1.0)}),
    }
