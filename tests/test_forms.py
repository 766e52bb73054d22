"""What `ppl show --form` prints is what runs."""

import numpy as np
import pytest

import ppl
from ppl.density import compiled_program
from ppl.density.rows import by_rows
from ppl.kernel.emit import load as loading
from ppl.optimise.forms import FORMS, form_named
from ppl.optimise.passes.table import PASSES
from ppl.stages import show_stage

PROGRAM = """
data { int N; array[N] int y; vector[N] x; }
parameters { real a; real<lower=0> b; }
transformed parameters { vector[N] eta; for (n in 1:N) eta[n] = a + b * x[n]; }
model { a ~ normal(0, 1); b ~ normal(0, 1); for (n in 1:N) y[n] ~ poisson_log(eta[n]); }
generated quantities { array[N] int again; for (n in 1:N) again[n] = poisson_log_rng(eta[n]); }
"""
DATA = {"N": 3, "y": [1, 0, 4], "x": [0.1, -0.3, 1.2]}
RUN = [
    *(form.name for form in FORMS.values() if form.runs),
    "rows:N",
    "rest:N",
    "points-rows:N",
    "points-rest:N",
    "points-given:b",
]


def test_what_is_printed_is_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ran, load = set(), loading.load

    def watched(code, *args, **kwargs):
        ran.add(code.emitted.text)
        return load(code, *args, **kwargs)

    for user in (loading, compiled_program):
        monkeypatch.setattr(user, "load", watched)
    posterior = ppl.compile_model(PROGRAM).condition(DATA)
    u, us = np.zeros(2), np.zeros((5, 2))
    for propto in (False, True):
        posterior.log_density(u, propto), posterior.log_density_gradient(u, propto)
        posterior.log_densities(us, propto), posterior.log_density_gradients(us, propto)
    posterior.param_constrain(u, include_tp=True, include_gq=True)
    posterior.param_constrain_draws(us, np.random.default_rng(1))
    posterior.log_joint().given((0,)).values_and_gradients(us, (0,))
    some = by_rows(posterior, "N").minibatch(np.array([0, 2]))
    some.log_density_gradient(u), some.log_density_gradients(us)
    assert [name for name in RUN if show_stage(PROGRAM, "python", name) not in ran] == []
    assert ran <= {show_stage(PROGRAM, "python", name) for name in RUN}


@pytest.mark.parametrize("name", ["lowered", "loops", "arrays", *RUN])
def test_every_form_is_printed(name: str) -> None:
    assert "parameters" in show_stage(PROGRAM, "ir", name)


def test_forms_are_made_of_one_another_and_have_names_of_their_own() -> None:
    assert FORMS["gradient"].all_passes[: len(FORMS["values"].all_passes)] == FORMS["values"].all_passes
    assert all(form_named(name) is form for name, form in FORMS.items())
    names = [each.name for each in FORMS["gradient"].all_passes]
    assert len(names) == len(set(names))


def test_a_pass_can_be_left_out() -> None:
    text = "parameters { real a; } model { vector[2] x = [1, 2]'; [3, 1]' ~ normal(a * x, 1); }"
    whole, less = ppl.compile_model(text), ppl.compile_model(text, without=["hoist-data"])
    assert whole.python_source != less.python_source
    u = np.array([0.1])
    assert whole.condition().log_density(u) == less.condition().log_density(u)


@pytest.mark.parametrize(
    ("without", "why"), [("fuse", "there is no pass 'fuse'"), ("zero-based", "cannot be skipped")]
)
def test_a_pass_that_cannot_be_left_out_is_refused(without: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ppl.compile_model(PROGRAM, without=[without])


def test_a_form_that_does_not_run_has_no_python() -> None:
    with pytest.raises(ValueError, match="is not run"):
        show_stage(PROGRAM, "python", "loops")


def test_forms_run_the_passes_of_the_table() -> None:
    run = {each for form in FORMS.values() for each in form.all_passes}
    assert run <= set(PASSES.values())
    assert all(PASSES[each.name] is each for each in run)
