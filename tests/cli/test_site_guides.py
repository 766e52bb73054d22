"""The guides of the site: their code runs, they show outputs, and they are found by what users look for."""

import pytest

from ppl.cli.site.running import expected_outputs
from ppl.cli.site.site import GUIDES, written
from tests.cli.pages import run_page


@pytest.mark.rotate
@pytest.mark.parametrize("name", GUIDES)
def test_the_code_of_a_guide_runs_and_gives_the_outputs_shown(name, tmp_path, monkeypatch):
    if name == "formulas":
        pytest.importorskip("formulae")
    monkeypatch.chdir(tmp_path)
    run_page(written()[name].text)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_shows_outputs(name):
    assert any(expected_outputs(written()[name].text))


@pytest.mark.parametrize(
    "words",
    [
        "label switching",
        "posterior predictive checks",
        "choosing priors",
        "hierarchical models",
        "centring",
        "missing data",
        "prediction",
        "expected values",
        "odds ratio",
        "time series",
        "gaussian processes",
        "differential equations",
        "mixtures",
        "model comparison",
        "from brms",
        "coding agents",
    ],
)
def test_a_title_says_what_users_look_for(words):
    assert any(words in written()[name].title.lower() for name in GUIDES)
