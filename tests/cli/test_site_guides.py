"""The guides of the site: their code runs, and they are found by what users look for."""

import pytest

from ppl.cli.site.running import BLOCK, run
from ppl.cli.site.site import GUIDES, written


@pytest.mark.parametrize("name", GUIDES)
def test_the_code_of_a_guide_runs(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    text = written()[name].text
    assert len([*run(text)]) == len(BLOCK.findall(text)) > 0


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
