"""The table of a fit's draws: rows that are computed together, and rows that fail."""

import numpy as np
import pytest

import ppl
from ppl.density.log_density import CostModel
from ppl.errors import Stopped
from ppl.run.table import tabulate

HEAD = "parameters { real x; } model { x ~ normal(0, 1); } generated quantities"
REJECTS = '{ real y = 2 * x; if (x > 1) reject("too large"); real z = x + 1; }'
DRAWS_RANDOM = "{ real y = normal_rng(x, 1); int k = poisson_rng(exp(x)); }"


def posterior_of(block):
    return ppl.compile_model(f"{HEAD} {block}").condition({})


def points(n, seed=1):
    return np.random.default_rng(seed).normal(size=(n, 1))


def test_a_draw_that_is_rejected_harms_no_other():
    posterior, us = posterior_of(REJECTS), points(200)
    table = tabulate(posterior, us, seed=1)
    bad = us[:, 0] > 1
    assert posterior.draws_at_once > 200
    assert table.failed == bad.sum() > 0
    assert "too large" in table.reason
    np.testing.assert_array_equal(table.rows[:, 0], us[:, 0])
    np.testing.assert_array_equal(np.isnan(table.rows[:, 1:]), np.repeat(bad[:, None], 2, axis=1))
    np.testing.assert_allclose(table.rows[~bad, 2], us[~bad, 0] + 1)


def test_draws_that_index_by_an_unset_int_are_computed_alone_and_the_others_together(monkeypatch):
    """In two batches, not by halves: of 1,000 draws of a hidden Markov model 50 such took minutes."""
    block = "{ int k; if (x < 1) k = 2; vector[2] y = [1, x]'; real z = y[k]; }"
    posterior, us, batches = posterior_of(block), points(500), list[int]()
    together = type(posterior).param_constrain_draws

    def counted(self, us, rng):
        batches.append(len(us))
        return together(self, us, rng)

    monkeypatch.setattr(type(posterior), "param_constrain_draws", counted)
    table, bad = tabulate(posterior, us, seed=1), us[:, 0] >= 1
    assert batches == [500, 500 - bad.sum()] and table.failed == bad.sum() > 0
    assert "Index -2147483648 of `y`" in table.reason and "entries 1 to 2" in table.reason
    np.testing.assert_array_equal(table.rows[~bad, -1], us[~bad, 0])
    assert np.isnan(table.rows[bad, 1:]).all() and np.isfinite(table.rows[:, 0]).all()


def test_fatal_error_ends_the_table_and_draws_are_computed_together():
    posterior, us = posterior_of(REJECTS.replace("reject", "fatal_error")), points(200)
    assert posterior.draws_at_once > 200
    with pytest.raises(Stopped, match="The program stopped: too large"):
        tabulate(posterior, us, seed=1)
    with pytest.raises(Stopped):
        tabulate(posterior, us[us[:, 0] > 1][:1], seed=1)
    assert tabulate(posterior, us[us[:, 0] < 1], seed=1).failed == 0


def test_one_seed_gives_the_same_numbers_and_another_seed_others():
    posterior, us = posterior_of(DRAWS_RANDOM), points(50)
    first, again, other = (tabulate(posterior, us, seed).rows for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.any(first[:, 1] == other[:, 1])


def test_a_table_of_many_blocks(monkeypatch):
    """The same columns however many rows are computed at once; no two blocks share random numbers."""
    monkeypatch.setattr("ppl.density.log_density.COST", CostModel(of_variables=30))
    posterior, us = posterior_of(DRAWS_RANDOM), np.zeros((95, 1))
    assert posterior.draws_at_once == 10
    rows = tabulate(posterior, us, seed=1).rows
    assert len(np.unique(rows[:, 1])) == 95


@pytest.mark.parametrize(
    "block",
    ['{ real y = 2 * x; print("y = ", y); }', "{ tuple(real, int) y = (2 * x, 1); if (x > 99) y.1 += 1; }"],
)
def test_programs_that_take_one_draw_at_a_time(block):
    posterior, us = posterior_of(block), points(5)
    assert posterior.draws_at_once == 1
    np.testing.assert_allclose(tabulate(posterior, us, seed=1).rows[:, 1], 2 * us[:, 0])


def test_a_draw_without_an_integral_harms_no_other():
    program = """
    functions { real f(real x, real xc, array[] real a, data array[] real r, data array[] int i) {
      return x^a[1]; } }
    parameters { real x; } model { x ~ normal(0, 1); }
    generated quantities { real y = integrate_1d(f, 0, 1, {x}, {0.0}, {0}, 1e-6); }
    """
    posterior, us = ppl.compile_model(program).condition({}), np.array([[0.0], [1.0], [-2.0], [2.0], [3.0]])
    table = tabulate(posterior, us, seed=1)
    assert table.failed == 1
    np.testing.assert_allclose(table.rows[:, 1], [1.0, 1 / 2, np.nan, 1 / 3, 1 / 4], rtol=1e-5)


def test_a_draw_that_breaks_its_constraint_is_named_with_its_place():
    posterior = posterior_of("{ real<lower=0> y = x; }")
    with pytest.raises(ppl.Rejection, match=r"(?s)real<lower=0> y = x.*`y` is -"):
        posterior.param_constrain_draws(points(5) - 9, np.random.default_rng(1))
