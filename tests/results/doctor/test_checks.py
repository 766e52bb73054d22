"""Each check fires on the data that it is for, and not on data of the model."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.kernel.language.parser import parse
from ppl.methods.diagnose.level import Level
from ppl.programs.pages import pages
from ppl.results.doctor.counts import dispersion, zeros
from ppl.results.doctor.dependence import dependence, influential
from ppl.results.doctor.doctor import FALSE_ALARMS, OF_ALL, OF_OUTCOMES, TIERS, examine
from ppl.results.doctor.evidence import Column, Evidence, Geometry, Parameter, Prior
from ppl.results.doctor.parameters import conflict, prior_predictive, uninformed, units
from ppl.results.doctor.shape import family, loo_pit, outliers, repeated
from ppl.results.doctor.statement import Statement
from ppl.results.doctor.structure import (
    autocorrelation,
    curvature,
    group,
    interaction,
    predictor,
    unequal_variance,
)
from ppl.source import SourceText

spec = importlib.util.spec_from_file_location("made", Path(__file__).with_name("made.py"))
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
DRAWS, G, N, SPAN, X, outcome, replicated, rng = (
    getattr(made, name) for name in "DRAWS G N SPAN X outcome replicated rng".split()
)
CLEAN = np.random.default_rng(11).normal(size=N)
Z = np.random.default_rng(12).normal(size=N)
USED = {"x": Column(X, True, False), "z": Column(Z, True, False)}
STATE = np.convolve(CLEAN, 0.8 ** np.arange(20))[:N]
OUTLYING = np.where(np.arange(N) == 7, 12.0, CLEAN)
LOG_LIK = -0.5 * (CLEAN - rng().normal(0, 0.1, (DRAWS, 1))) ** 2


def counts(y, rep):
    y, rep = np.asarray(y, float), np.asarray(rep, float)
    return outcome(y, rep, discrete=True, statement=replace(made.NORMAL, distribution="poisson", args=("m",)))


RATE = np.exp(1 + 0.3 * X)
POISSON = rng().poisson(RATE, (DRAWS, N))
FEW_ZEROS = np.random.default_rng(1).poisson(RATE)
MANY_ZEROS = np.where(np.arange(N) % 3 == 0, 0, np.random.default_rng(2).poisson(1.5 * RATE))
DISPERSED = np.random.default_rng(2).poisson(RATE * np.random.default_rng(3).gamma(1.5, 1 / 1.5, N))
MOVING = LOG_LIK - 200 * (np.arange(N) == 7) * rng().normal(size=(DRAWS, 1)) ** 2

FIRES = {
    prior_predictive: outcome(CLEAN + 60, prior=replicated(sd=10.0)),
    group: outcome(CLEAN + np.random.default_rng(1).normal(size=12)[G]),
    predictor: outcome(CLEAN + 0.8 * X),
    autocorrelation: outcome(STATE / STATE.std()),
    interaction: outcome(CLEAN + 0.8 * X * Z, columns=USED),
    curvature: outcome(CLEAN + 0.8 * X**2, replicated(X), columns=USED),
    unequal_variance: outcome(CLEAN * np.exp(0.7 * X), columns=USED),
    zeros: counts(MANY_ZEROS, POISSON),
    dispersion: counts(DISPERSED, POISSON),
    outliers: outcome(OUTLYING),
    family: outcome(np.exp(CLEAN) - 1.6, replicated(sd=2.0)),
    loo_pit: outcome(CLEAN / 3, log_lik=LOG_LIK),
    repeated: outcome(np.round(CLEAN)),
    influential: outcome(CLEAN, log_lik=MOVING),
}
SILENT = {check: outcome(CLEAN, prior=replicated(sd=10.0), log_lik=LOG_LIK, columns=USED) for check in FIRES}
SILENT |= {zeros: counts(FEW_ZEROS, POISSON), dispersion: counts(FEW_ZEROS, POISSON)}
OTHER_CAUSE = {
    group: counts(DISPERSED, POISSON),
    predictor: counts(MANY_ZEROS, POISSON),
    zeros: counts(DISPERSED, POISSON),
    dispersion: counts(MANY_ZEROS, POISSON),
    family: outcome(OUTLYING),
    curvature: outcome(OUTLYING, columns=USED),
}


PRIOR = Statement(SPAN, "normal", "b", ("0", "1"))


def evidence(draws, prior, log_lik=None, at_posterior=None, at_prior=None):
    total = np.zeros(DRAWS) if log_lik is None else log_lik
    parameter = Parameter("b", "b", SPAN, draws, prior)
    terms = () if at_prior is None else (Prior("b", PRIOR, at_posterior, at_prior),)
    return Evidence((), (parameter,), terms, total, np.zeros(DRAWS))


def standard_normal(x):
    return -0.5 * x**2


OWN = rng().normal(size=DRAWS)
UNCORRELATED = rng().normal(size=(DRAWS, 2))
FAR = 6 + 0.3 * OWN
NEAR = 0.5 + 0.1 * OWN
OF_EVIDENCE = {
    conflict: (
        evidence(FAR, OWN, None, standard_normal(FAR), standard_normal(OWN)),
        evidence(NEAR, OWN, None, standard_normal(NEAR), standard_normal(OWN)),
    ),
    uninformed: (evidence(OWN, OWN), evidence(NEAR, OWN, -50 * (NEAR - 0.5) ** 2)),
    units: (
        Evidence(
            (),
            tuple(Parameter(n, n, SPAN, s * OWN, None) for n, s in (("a", 1.0), ("b", 1e6))),
            (),
            None,
            OWN,
        ),
        evidence(OWN, OWN),
    ),
    dependence: tuple(
        replace(evidence(OWN, OWN), geometry=Geometry(("a", "b"), (SPAN, SPAN), UNCORRELATED, gradient))
        for gradient in (lambda us: -us @ np.array([[1, 0.8], [0.8, 1]]), lambda us: -us)
    ),
}


def is_finding(found):
    return found is not None and found.p <= FALSE_ALARMS / (len(OF_OUTCOMES) + len(OF_ALL))


def test_every_check_and_code_is_tested():
    assert set(FIRES) == set(OF_OUTCOMES) and set(OF_EVIDENCE) == set(OF_ALL)
    codes = [check(FIRES[check]).code for check in FIRES]
    codes += [check(first).code for check, (first, _) in OF_EVIDENCE.items()]
    documented = {page.code for page in pages().values() if "before" in page.examples}
    assert len({*codes}) == len(codes) and {*codes} == documented == {c for tier in TIERS for c in tier}


@pytest.mark.parametrize("check", FIRES, ids=lambda check: check.__name__)
def test_a_check_of_rows_fires_on_what_it_is_for_and_names_the_line(check):
    found = check(FIRES[check])
    assert is_finding(found) and found.span.line == 1 and found.hint.endswith(".")
    if check not in (loo_pit, repeated, influential):
        assert found.reference.observed > np.quantile(found.reference.replicated, 0.99)


@pytest.mark.rotate
@pytest.mark.parametrize("distribution", ["normal", "poisson", "poisson_log", "binomial", "exponential"])
@pytest.mark.parametrize("at", ["", "[n]"])
def test_what_to_write_is_stan(distribution, at):
    args = {"normal": ("mu" + at, "sigma"), "binomial": ("K", "p" + at)}.get(distribution, ("mu" + at,))
    statement = Statement(SPAN, distribution, "y" + at, args, at)
    for check, given in FIRES.items():
        hint = check(replace(given, statement=statement)).hint
        for text in re.findall("`([^`]+;)`", hint):
            block = "parameters" if re.match(r"(real|vector|array)[<\[ ]", text) else "model"
            assert parse(SourceText(f"{block} {{ {text} }}"))


@pytest.mark.parametrize("check", FIRES, ids=lambda check: check.__name__)
def test_a_check_of_rows_is_silent_on_data_of_the_model(check):
    assert not is_finding(check(SILENT[check]))


@pytest.mark.parametrize("check", OTHER_CAUSE, ids=lambda check: check.__name__)
def test_a_check_of_rows_is_silent_on_another_misfit(check):
    assert not is_finding(check(OTHER_CAUSE[check]))


@pytest.mark.parametrize("check", OF_EVIDENCE, ids=lambda check: check.__name__)
def test_a_check_of_parameters_fires_on_what_it_is_for_only(check):
    wrong, right = OF_EVIDENCE[check]
    assert is_finding(check(wrong)) and not is_finding(check(right))


def test_a_parameter_that_depends_on_another_is_informed():
    tied, free = (Parameter("c", "c", SPAN, x, x) for x in (OWN + 1, rng().permutation(OWN)))
    one = Parameter("b", "b", SPAN, OWN, OWN)
    found = [uninformed(Evidence((), (one, c), (), np.zeros(DRAWS), np.zeros(DRAWS))) for c in (tied, free)]
    assert found[0] is None and found[1] is not None


def test_halves_of_the_draws_that_disagree_imply_no_dependence():
    sign = np.where(np.arange(DRAWS) % 2, 0.8, -0.8)[:, None]
    geometry = Geometry(("a", "b"), (SPAN, SPAN), UNCORRELATED, lambda us: -us - sign * us[:, ::-1])
    assert dependence(replace(evidence(OWN, OWN), geometry=geometry)) is None


def test_zeros_and_dispersion_of_trials_are_told_apart():
    statement = replace(made.NORMAL, distribution="binomial", args=("20", "p"))
    rep = rng().binomial(20, 0.3, (DRAWS, N))
    dispersed = np.random.default_rng(1).binomial(20, np.random.default_rng(2).beta(0.6, 1.4, N))
    inflated = np.random.default_rng(1).binomial(20, 0.4 * (np.arange(N) % 3 > 0))
    for y, found, silent in ((dispersed, dispersion, zeros), (inflated, zeros, dispersion)):
        o = outcome(y.astype(float), rep.astype(float), discrete=True, statement=statement)
        assert is_finding(found(o)) and silent(o) is None


def test_a_poor_fit_is_examined_for_its_prior_only():
    wrong = Evidence((FIRES[prior_predictive], FIRES[outliers]), (), (), None, np.zeros(DRAWS))
    codes = [f.code for f in examine(wrong).findings]
    assert codes[0] == "PPL020" and "PPL032" in codes
    assert [f.code for f in examine(wrong, level=Level.POOR).findings] == ["PPL020"]


def test_pages_have_programs_that_compile():
    for page in pages().values():
        for text in (page.examples.get(label) for label in ("before", "after")):
            assert text is None or ppl.compile_model(text)
