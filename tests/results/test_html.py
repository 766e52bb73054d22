"""What notebooks show: HTML in which no text of a user's becomes a tag."""

from html.parser import HTMLParser

import pytest

import ppl
from ppl import html
from ppl.methods.diagnose.level import Level

PROGRAM = """\
// <script>alert("1 & 2")</script>
data { int<lower=0> N; vector[N] y; }
parameters { real<lower=0> sigma; array[2] vector[3] m; }
model { sigma ~ lognormal(0, 1); for (k in 1:2) m[k] ~ normal(0, 1); y ~ normal(m[1, 1], sigma); }
"""


class Seen(HTMLParser):
    """Which tags stand in a text, whether each is closed, and the text between them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def seen(of):
    found = Seen(of._repr_html_())
    assert not found.open and "script" not in found.tags
    return found


@pytest.fixture(scope="module")
def model():
    return ppl.compile_model(PROGRAM)


@pytest.fixture(scope="module")
def posterior(model):
    return model.condition({"N": 4, "y": [0.1, 1.0, -1.0, 0.5]})


@pytest.fixture(scope="module")
def fit(posterior):
    return posterior.laplace(draws=50, seed=1)


def test_a_model_shows_its_program_in_colours_and_its_plan(model):
    found = seen(model)
    assert PROGRAM in found.text and model.plan in found.text
    assert {"pre", "span", "details"} <= found.tags and repr(model) in found.text


def test_a_model_whose_sum_waits_for_data_says_so():
    waiting = ppl.compile_model(
        "data { int N; array[N] int f; } parameters { array[N] int<lower=0, upper=1> z; real m; } "
        "model { for (n in 1:N) z[n] ~ bernoulli_logit(m + z[f[n]]); m ~ normal(0, 1); }"
    )
    assert waiting.discrete.needs_data and "depends on data" in seen(waiting).text


def test_a_posterior_shows_shapes(posterior):
    found = seen(posterior)
    assert "yvector4" in found.text
    assert "marray[] vector2 x 3" in found.text and "sigmareallower" in found.text


def test_a_fit_shows_its_verdict_and_summary(fit):
    found = seen(fit)
    assert {"table", "b"} <= found.tags and "m.2.3" in found.text and fit.judgement in found.text


def test_a_verdict_shows_its_level(fit):
    found = seen(fit.verdict)
    assert f"Verdict: {fit.verdict.level}" in found.text
    assert html.LEVELS[fit.verdict.level] in fit.verdict._repr_html_()


def test_every_level_has_a_colour():
    assert set(html.LEVELS) == set(Level)


def test_names_and_notes_are_escaped():
    found = Seen(html.table(("<i>",), [("<b>", "a & b")]) + html.notes(["<u>"]) + html.folded("<s>", ""))
    assert found.text == "<i><b>a & b<u><s>"
    assert found.tags.isdisjoint("ibus") and html.notes([]) == ""
    assert Seen(html.judged("poor", "<i> poor <b>")).text == "<i> poor <b>"
