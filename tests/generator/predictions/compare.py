"""What a fit says of new rows, beside the exact values."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import ppl
from ppl.methods.diagnose.level import Level
from ppl.results.fits.log_evidence import no_evidence
from ppl.results.fits.new_rows import scored
from tests.generator.predictions.exact import Exact
from tests.generator.predictions.models import Array, Regression

DRAWS = 1000
RELIABLE = 0.5
"""The k-hat up to which the weights of a row have a variance."""
EXACT = 1e-6
"""How exact quadrature is, beside the error of an estimate that is exact too: the log evidence of model 191,
a Gaussian, is off by 7e-7."""


class Compared(NamedTuple):
    """An estimate with its standard error, and the exact value."""

    kind: str
    estimate: float
    exact: float
    error: float

    @property
    def errors_off(self) -> float:
        """Infinite where a number is missing, or an infinite error would hide any distance."""
        off = abs(self.estimate - self.exact) / max(self.error, EXACT)
        return off if np.isfinite([off, self.error]).all() else np.inf


def fitted(model: Regression, seed: int) -> ppl.Fit:
    posterior = ppl.compile_model(model.text).condition(model.data(model.seen), missing="model")
    return posterior.variational(seed=seed, draws=DRAWS)


def compared(model: Regression, fit: ppl.Fit) -> Iterator[Compared]:
    """Means of new rows, probabilities at quantiles, means of predictors, log scores, ELPDs, the evidence."""
    assert fit.level is Level.GOOD, fit.judgement
    exact, new = Exact.of(model), model.new
    draws = fit.predict(model.data(new))
    for n in np.flatnonzero(np.isnan(new.y)):
        y = draws["y"][:, n]
        yield mean_and_error("mean of y", y, exact.mean(new, n), exact.mean_error(new, n, len(y)))
        for share in (0.1, 0.5, 0.9):
            at = float(np.floor(np.quantile(y, share) * 100) / 100)
            yield mean_and_error(f"P(y <= {share} quantile)", (y <= at) * 1.0, exact.at_most(new, n, at))
    if "x" in draws:
        x = draws["x"].sum(axis=2) if draws["x"].ndim > 2 else draws["x"]
        for n in np.flatnonzero(np.isnan(new.x.reshape(len(new), -1)).any(axis=1)):
            yield mean_and_error("mean of x", x[:, n], exact.mean_predictor(new, n))
    yield from scores(model, fit, exact)
    yield from left_out(model, fit, exact)
    if not no_evidence(fit.result):
        yield Compared("log evidence", fit.log_evidence.value, exact.log_evidence(), fit.log_evidence.se)


def mean_and_error(kind: str, values: Array, exact: float, error: float = 0.0) -> Compared:
    """With the error of the draws, and the exact one at least: draws that miss a tail have a small spread."""
    spread = max(float(values.std()), np.sqrt(abs(exact * (1 - exact))) if kind.startswith("P") else 0.0)
    return Compared(kind, float(values.mean()), exact, max(spread / np.sqrt(len(values)), error))


def scores(model: Regression, fit: ppl.Fit, exact: Exact) -> Iterator[Compared]:
    found = scored(fit.posterior, fit.draws_u, model.data(model.test), 1, ["y"])["y"]
    for n, (value, error) in enumerate(zip(found.values, found.errors, strict=True)):
        yield Compared("log score", float(value), exact.score(model.test, n), float(error))


def left_out(model: Regression, fit: ppl.Fit, exact: Exact) -> Iterator[Compared]:
    """ELPDs of rows, with the error of importance weights by quadrature: sampled weights hide their tail."""
    loo = fit.loo("y")
    for n, elpd, khat in zip(np.flatnonzero(~np.isnan(model.seen.y)), loo.elpds, loo.khats, strict=True):
        if khat < RELIABLE:
            yield Compared("elpd_loo", float(elpd), exact.left_out(n), exact.weight_error(n, DRAWS))
