"""Like statements of many scalar parameters are few operations on arrays, with the same values."""

import numpy as np
import pytest

import ppl
from ppl.optimise.forms import GRADIENT, POINTS_GRADIENT
from ppl.optimise.passes.reroll import FEWEST_STATEMENTS

SIZE = FEWEST_STATEMENTS + 4
NUMBERS = range(1, SIZE + 1)


def lines(text: str) -> str:
    """A line for each number, in which K is that number and L the one before."""
    return "\n".join(text.replace("K", str(k)).replace("L", str(k - 1 or SIZE)) for k in NUMBERS)


SCALARS = f"""
data {{ vector[{SIZE}] y; {lines("real xK;")} }}
parameters {{
  real mu;
  {lines("real bK; real<lower=0> cK; real<lower=0, upper=3> pK;")}
  real<lower=b3> w;
}}
transformed parameters {{ real t = b1 + c4; }}
model {{
  mu ~ normal(0, 1);
  w ~ normal(t, 1);
  b1 ~ normal(mu, c1);
  {lines("cK ~ exponential(K.5); pK ~ normal(K, 2) T[0, 3];")}
  {lines("bK ~ normal(bL, cK);")}
  {lines("y[K] ~ normal(bL + xK * pK, cL + w);")}
  {lines("target += -0.5 * square(bK - K);")}
}}
generated quantities {{ real g = b5 + c3; }}
"""
DATA = {"y": np.linspace(-1, 1, SIZE), **{f"x{k}": np.sin(k) for k in NUMBERS}}


def pair(text: str, data: dict[str, object]) -> tuple[ppl.Posterior, ppl.Posterior]:
    """The posterior, and that of the program compiled statement by statement."""
    model = ppl.compile_model(text)
    return model.condition(data), model.changed(without=frozenset({"reroll"})).condition(data)


@pytest.fixture(scope="module")
def posteriors() -> tuple[ppl.Posterior, ppl.Posterior]:
    return pair(SCALARS, DATA)


def test_densities_and_gradients_are_those_of_the_statements(posteriors):
    us = np.random.default_rng(1).normal(size=(6, 2 + 3 * SIZE))
    (found, gradients), (wanted, others) = (p.log_density_gradients(us) for p in posteriors)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(gradients, others, rtol=1e-9, atol=1e-10)
    for propto in (False, True):
        (value, slope), (plain, other) = (p.log_density_gradient(us[0], propto=propto) for p in posteriors)
        np.testing.assert_allclose(value, plain, rtol=1e-12)
        np.testing.assert_allclose(slope, other, rtol=1e-9, atol=1e-10)


def test_names_and_values_are_those_of_the_scalars(posteriors):
    rolled, plain = posteriors
    assert rolled.param_unc_names() == plain.param_unc_names()
    assert rolled.param_names(include_tp=True) == plain.param_names(include_tp=True)
    u = np.random.default_rng(2).normal(size=2 + 3 * SIZE)
    x = rolled.param_constrain(u, include_tp=True)
    np.testing.assert_array_equal(x, plain.param_constrain(u, include_tp=True))
    values = {name: x[k] for k, name in enumerate(rolled.param_names())}
    np.testing.assert_allclose(rolled.param_unconstrain(values), u, atol=1e-10)


@pytest.mark.parametrize("form", [GRADIENT, POINTS_GRADIENT], ids=lambda form: form.name)
def test_operations_do_not_grow_with_the_number_of_scalars(form):
    def count(size: int) -> int:
        each = "\n".join(f"b{k} ~ normal(0, c{k}); y[{k}] ~ normal(b{k}, 1);" for k in range(1, size + 1))
        scalars = "".join(f"real b{k}; real<lower=0> c{k};" for k in range(1, size + 1))
        text = f"data {{ vector[{size}] y; }} parameters {{ {scalars} }} model {{ {each} }}"
        return ppl.compile_model(text).code_of(form).emitted.text.count("\n")

    assert count(20) == count(40)


def test_a_print_between_terms_sees_the_target_before_it():
    terms = "".join(f"target += -square(a{k});" for k in NUMBERS)
    text = f"parameters {{ {lines('real aK;')} }} model {{ {terms} print(target()); {terms} }}"
    rolled, plain = pair(text, {})
    u = np.ones(SIZE)
    assert rolled.log_density(u) == plain.log_density(u) == -2.0 * SIZE


def test_fewer_statements_are_left_as_they_are():
    each = "".join(f"b{k} ~ normal(0, 1);" for k in range(1, FEWEST_STATEMENTS))
    scalars = "".join(f"real b{k};" for k in range(1, FEWEST_STATEMENTS))
    text = f"parameters {{ {scalars} }} model {{ {each} }}"
    assert (
        ppl.compile_model(text).code_of(GRADIENT).emitted.text.count("normal_lpdf") == FEWEST_STATEMENTS - 1
    )


def test_parameters_that_are_read_often_stay_scalars():
    squares = (" + ".join(f"square(b{k} - {j})" for k in NUMBERS) for j in range(6))
    terms = "".join(f"target += -({each});" for each in squares)
    text = f"parameters {{ {lines('real bK;')} }} model {{ {lines('bK ~ normal(0, 1);')} {terms} }}"
    rolled, plain = pair(text, {})
    u = np.linspace(-1, 1, SIZE)
    np.testing.assert_allclose(
        rolled.log_density_gradient(u)[1], plain.log_density_gradient(u)[1], rtol=1e-10
    )
    assert len(rolled.d.places) == SIZE


def test_messages_name_the_statement_itself():
    text = SCALARS.replace("c3 ~ exponential(3.5);", "c3 ~ exponential(-3.5);")
    posterior = ppl.compile_model(text).condition(DATA)
    assert "c3 ~ exponential(-3.5)" in posterior.explain(np.zeros(2 + 3 * SIZE))
