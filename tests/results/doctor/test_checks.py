"""Each check fires on the data that it is for, and not on data of the model."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.frontend.pages import pages
from ppl.results.doctor.doctor import FALSE_ALARMS, OF_OUTCOMES
from ppl.results.doctor.prior import prior_predictive
from ppl.results.doctor.structure import group, predictor

spec = importlib.util.spec_from_file_location("made", Path(__file__).with_name("made.py"))
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
G, X, outcome, replicated = made.G, made.X, made.outcome, made.replicated
CLEAN = np.random.default_rng(11).normal(size=made.N)

FIRES = {
    prior_predictive: outcome(CLEAN + 60, prior=replicated(sd=10.0)),
    group: outcome(CLEAN + np.random.default_rng(1).normal(size=12)[G]),
    predictor: outcome(CLEAN + 0.8 * X),
}
SILENT = {check: outcome(CLEAN, prior=replicated(sd=10.0)) for check in OF_OUTCOMES}


@pytest.mark.parametrize("check", OF_OUTCOMES, ids=lambda check: check.__name__)
def test_a_check_fires_on_what_it_is_for_and_names_the_line(check):
    found = check(FIRES[check])
    assert found.p < FALSE_ALARMS / len(OF_OUTCOMES) and found.span.line == 1
    assert found.reference is None or found.reference.observed > np.quantile(found.reference.replicated, 0.99)
    assert found.code in pages() and set(pages()[found.code].examples) == {"before", "after"}


@pytest.mark.parametrize("check", OF_OUTCOMES, ids=lambda check: check.__name__)
def test_a_check_is_silent_on_data_of_the_model(check):
    found = check(SILENT[check])
    assert found is None or found.p > FALSE_ALARMS


def test_pages_have_programs_that_compile():
    for page in pages().values():
        for text in (page.examples.get(label) for label in ("before", "after")):
            assert text is None or ppl.compile_model(text)
