"""No run of a program costs more than its rows allow (`laws/cost`).

`python tests/laws/cost/run.py NAME --all` prints the counts of a program.
"""

import numpy as np
import pytest
from generator.program import generated
from laws.batches import assert_as_alone
from laws.cost.as_written import steeper_than_written
from laws.cost.compiling import STATEMENTS, growth_of_compiling
from laws.cost.counting import cost_of
from laws.cost.everyday import EVERYDAY
from laws.cost.known import DEARER_AT_ONCE, STEEPER, TO_MEND, exponent_of
from laws.cost.law import Growth, broken, cost_of_later, dearer_at_once, growths, usable
from laws.cost.programs import Repeatable, programs
from laws.sampled import sampled

import ppl
from ppl.optimise.passes import privatise
from ppl.posterior import Posterior

PROGRAMS = programs()
ALWAYS = [program for program in PROGRAMS if program.name in {*EVERYDAY, *STEEPER, *TO_MEND}]
OTHERS = [program for program in PROGRAMS if program not in ALWAYS]
"""Of these, the pack and the models, a third is counted by default."""
SEED, GENERATED = 22, (2, 3, 5, 7, 8, 9, 11, 12, 13, 14)
"""Programs of the generator that are quickly counted; `laws/cost/run.py --generated` counts others."""


@pytest.mark.rotate
@pytest.mark.parametrize("program", [*sampled(1, ALWAYS), *sampled(3, OTHERS)])
def test_no_run_costs_more_than_its_rows_allow(program: Repeatable) -> None:
    found = broken(growths(program), exponent_of(program.name))
    runs = {growth.run for growth in found}
    assert runs == TO_MEND.get(program.name, set()), "\n".join(map(str, found))


@pytest.mark.rotate
@pytest.mark.parametrize("number", GENERATED)
def test_no_run_of_a_generated_program_costs_more_than_the_program_as_written(number: int) -> None:
    made = generated(SEED, number)
    found = steeper_than_written(f"{number} of seed {SEED}", made.text, made.data)
    assert not found, "\n".join([*map(str, found), made.text])


RAGGED = """
functions {
  real of_both_lpmf(array[] int n, real a, real b, real c) {
    array[min(n) + 1] real s;
    for (u in 0:min(n))
      s[u + 1] = poisson_log_lpmf(n[1] - u | a) + poisson_log_lpmf(n[2] - u | b) + poisson_log_lpmf(u | c);
    return log_sum_exp(s);
  }
  vector terms(array[] int n, real a) {
    vector[min(n) + 1] s;
    if (n[1] == 0) return [a]';
    for (u in 0:min(n)) s[u + 1] = poisson_log_lpmf(n[1] - u | a);
    return s;
  }
  real of_one_lpmf(array[] int n, real a) { return -log_sum_exp(terms(n, a)); }
}
data { int N; array[N, 2] int y; }
parameters { vector[N] a, b, c; }
model { b ~ std_normal(); c ~ std_normal(); for (i in 1:N) %s; }
"""
AT_ONCE = {
    "a function of the data's sizes": "y[i] ~ of_both(a[i], b[i], c[i])",
    "a function that is called one by one": "y[i] ~ of_one(a[i])",
}


def at_several_points(name: str) -> Posterior:
    data = {"N": 24, "y": np.random.default_rng(4).poisson(2.0, (24, 2))}
    return ppl.compile_model(RAGGED % AT_ONCE[name]).condition(data)


@pytest.mark.parametrize("name", AT_ONCE)
def test_points_at_once_cost_no_more_than_one_by_one(name: str) -> None:
    posterior = at_several_points(name)
    assert not dearer_at_once(posterior)
    assert posterior.log_joint().failing == ({True, False} if "one by one" in name else set())
    assert_as_alone(posterior, np.random.default_rng(5).normal(size=(5, posterior.param_unc_num())))


@pytest.mark.parametrize("program", sampled(45, [p for p in PROGRAMS if p.name not in DEARER_AT_ONCE]))
def test_points_at_once_of_a_program_cost_no_more_than_one_by_one(program: Repeatable) -> None:
    assert not dearer_at_once(usable(program.posterior(program.ways[0], 2)))


def test_a_point_with_a_scale_beside_nothing_leaves_the_others_in_a_batch() -> None:
    """As far out in a tail; from then on all points of a fit went one by one, at ten times the cost."""
    text = """data { vector[2] y; } parameters { vector<lower=0>[2] t; cholesky_factor_corr[2] L; }
      model { y ~ multi_normal_cholesky(zeros_vector(2), diag_pre_multiply(t, L)); }"""
    posterior = ppl.compile_model(text).condition({"y": np.ones(2)})
    us = np.random.default_rng(8).normal(size=(5, 3))
    us[2] = [-460.0, 0.0, 300.0]
    joint = posterior.log_joint()
    finite = np.isfinite(joint.gradients(us)).all(axis=1) & np.isfinite(joint.values(us))
    assert finite.tolist() == [True, True, False, True, True] and not joint.failing


def test_vectors_at_several_points_make_no_covariance_each() -> None:
    text = """data { int N; array[N] vector[3] y; } parameters { vector[3] mu; cov_matrix[3] Sigma; }
      model { y ~ multi_normal(mu, Sigma); }"""
    y = np.random.default_rng(6).normal(size=(40, 3))
    posterior = ppl.compile_model(text).condition({"N": len(y), "y": y})
    assert not dearer_at_once(posterior)
    assert_as_alone(posterior, np.random.default_rng(7).normal(0, 0.3, (4, posterior.param_unc_num())))


def test_a_function_of_the_data_s_sizes_is_called_once_for_each_size() -> None:
    few, many = (
        ppl.compile_model(RAGGED % AT_ONCE["a function of the data's sizes"]).condition(
            {"N": 4 * n, "y": [[k % 4 + 1, 9] for k in range(4 * n)]}
        )
        for n in (2, 64)
    )
    few_lines, many_lines = (
        cost_of_later(lambda p: p.log_density_gradient(np.zeros(p.param_unc_num())), p).lines
        for p in (few, many)
    )
    assert many_lines < 1.2 * few_lines


@pytest.mark.rotate
@pytest.mark.parametrize(
    "name",
    [
        "an entry set and read by its iteration",
        "a row filled by an inner loop",
        "scratch of a branch, read in the loop",
        "quantities by row",
    ],
)
def test_arrays_taken_for_scratch_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(privatise, "has_own_entries", lambda s, name: False)
    assert broken(growths(next(program for program in programs() if program.name == name)))


@pytest.mark.rotate
@pytest.mark.parametrize("name", STATEMENTS)
def test_compiling_costs_what_the_statements_allow(name: str) -> None:
    found = growth_of_compiling(name)
    assert not broken([found]), str(found)


def test_the_tables_name_programs() -> None:
    assert {*STEEPER, *TO_MEND, *DEARER_AT_ONCE} <= {program.name for program in PROGRAMS}


# --- What is counted ---------------------------------------------------------------------------------------


def test_numbers_are_those_of_every_array() -> None:
    x = np.ones(1000)
    cost_of(lambda: x[:10].sum())  # what NumPy and the counting make once
    cost = cost_of(lambda: (x * x + 1.0)[:10].sum())
    assert 2000 <= cost.numbers < 2010
    assert 2000 <= cost.alive < 2500  # two arrays and Python's own objects, which are more from 3.13 on


def test_lines_are_those_of_loops() -> None:
    def loop(steps: int) -> int:
        total = 0
        for i in range(steps):
            total += i
        return total

    assert cost_of(lambda: loop(200)).lines - cost_of(lambda: loop(100)).lines == 200


def test_counts_are_the_same_each_time() -> None:
    x = np.linspace(0, 1, 50)
    costs = [cost_of(lambda: np.linalg.inv(np.outer(x, x) + np.eye(50))) for _ in range(3)]
    assert len({(cost.numbers, cost.lines) for cost in costs}) == 1
    assert np.ptp([cost.alive for cost in costs]) < 500  # Python's own objects come from lists of free ones


# --- What growth is ----------------------------------------------------------------------------------------


def growth(*costs: int, of: str = "numbers") -> Growth:
    return Growth("p", ("N",), "density", of, costs)


@pytest.mark.parametrize(
    "costs",
    [
        (1000, 1100, 1300, 1700),
        (7, 7, 7, 7),
        (30_000, 30_000, 30_000, 30_100),
        (80, 160, 320, 700),
        (147_243, 285_051, 450_075, 890_715),
    ],
    ids=["and a constant", "none", "hardly any", "below 1.3 times", "another way from 4 times on"],
)
def test_linear_growth_is_allowed(costs: tuple[int, ...]) -> None:
    assert not broken([growth(*costs)])


@pytest.mark.parametrize("of", ["numbers", "alive", "lines"])
def test_a_square_is_noticed_beside_a_hundred_linear_terms(of: str) -> None:
    square = growth(*(500 + 100 * n + n * n for n in (64, 128, 256, 512)), of=of)
    assert broken([square]) == [square]
    assert not broken([square], 2)


def test_a_power_more_than_is_allowed_is_noticed() -> None:
    cube = growth(*(n**3 for n in (8, 16, 32, 64)))
    assert broken([cube], 2) == [cube]
