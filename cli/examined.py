"""The findings of `ppl doctor`: at the draws of a file, or of a fit that is made for it."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ppl.cli.data import conditioned_as_draws
from ppl.compile import model_of
from ppl.data import Inputs
from ppl.results.doctor.doctor import Examination, examine
from ppl.results.doctor.gather import gather
from ppl.results.files.read_csv import DrawsFile
from ppl.results.fits.by_row import arrays, log_likelihood, predictive
from ppl.results.fits.fit import variational
from ppl.results.fits.log_prob import unconstrained_of
from ppl.results.report.log_lik import own_ratios
from ppl.results.report.reading import level, verdict
from ppl.source import SourceText


def examined(
    source: SourceText, inputs: Inputs, seed: int, run: DrawsFile | None = None, outcome: Sequence[str] = ()
) -> Examination:
    """The examination of a program with data at the draws of `run`, else of a default fit.

    Raises:
        PPLError: the program cannot be fitted to the data, or the draws are of another one.
    """
    compiled = model_of(source)
    if run is None:
        fit = variational(compiled.condition(inputs, missing="drop"), seed=seed)
        examination = fit.doctor(seed=seed, outcome=outcome)
        notes = (*fit.posterior.notes, *examination.notes)
        return replace(examination, verdict=fit.provenance.judgement, notes=notes)
    posterior = conditioned_as_draws(compiled, inputs, run.columns)
    us = unconstrained_of(posterior, run.columns, run.draws)
    new = partial(predictive, posterior, us, seed)
    rows = partial(log_likelihood, posterior, us)
    evidence = gather(posterior, us, own_ratios(run), lambda: arrays(rows()), new, seed, outcome)
    return examine(evidence, verdict([run]), level([run]))
