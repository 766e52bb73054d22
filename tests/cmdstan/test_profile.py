"""Blocks of `profile("name") { ... }`: what is theirs of a gradient, and the file that says so."""

import csv
from itertools import count

import numpy as np
import pytest

import ppl
from ppl.cmdstan import profile
from ppl.cmdstan.profile import Clock, Timing, profiled
from ppl.run.backend import is_possible

NESTED = """
data { int N; matrix[N, 2] X; array[N] int y; }
parameters { vector[2] b; real a; }
model {
  b ~ std_normal();
  profile("likelihood") {
    vector[N] eta;
    profile("predictor") { eta = exp(X * b + a); }
    y ~ poisson(eta);
  }
}
generated quantities { real s; profile("sum") { s = sum(b); } }
"""
DATA = {"N": 3, "X": [[1, 2], [3, 4], [0.5, 1]], "y": [1, 0, 2]}
U = np.array([0.1, -0.2, 0.3])


@pytest.fixture
def ticks(monkeypatch):
    """A clock that says how often it has been looked at."""
    monkeypatch.setattr(profile, "perf_counter", count().__next__)


def timings_after(model, run, tmp_path) -> dict[str, Timing]:
    with profiled(model, tmp_path / "p.csv") as timed:
        run(timed.condition(DATA if timed.data_schema else {}))
        return timed.clock.timings


def test_each_entry_of_the_tape_belongs_to_the_blocks_it_is_recorded_in(ticks, tmp_path) -> None:
    found = timings_after(ppl.compile_model(NESTED), lambda p: p.log_density_gradient(U), tmp_path)
    inner, outer = found["predictor"], found["likelihood"]
    assert (inner.autodiff_calls, outer.autodiff_calls) == (1, 1)
    assert inner.nodes == 3  # X * b, + a, exp
    assert outer.nodes == inner.nodes + 1  # poisson
    assert (inner.reverse, outer.reverse) == (inner.nodes, outer.nodes)  # a tick for each vjp
    assert (inner.forward, outer.forward) == (1, 3)  # outer: both looks of the inner block are in it


def test_what_is_timed_has_the_same_numbers(tmp_path) -> None:
    model = ppl.compile_model(NESTED)
    value, gradient = model.condition(DATA).log_density_gradient(U)

    def same(posterior) -> None:
        again, slopes = posterior.log_density_gradient(U)
        assert again == value and np.array_equal(slopes, gradient)
        values, many = posterior.log_density_gradients(np.stack([U] * 5))
        assert values == pytest.approx([value] * 5) and many == pytest.approx(np.stack([gradient] * 5))

    timings_after(model, same, tmp_path)


def test_a_run_at_many_points_is_one_call(ticks, tmp_path) -> None:
    def run(posterior) -> None:
        posterior.log_density_gradients(np.stack([U] * 5))
        posterior.log_densities(np.stack([U] * 5))

    found = timings_after(ppl.compile_model(NESTED), run, tmp_path)["likelihood"]
    assert (found.autodiff_calls, found.plain_calls) == (1, 1)
    assert found.reverse == found.nodes > 0


def test_generated_quantities_of_all_draws_are_timed(tmp_path) -> None:
    def run(posterior) -> None:
        posterior.variational(algorithm="laplace", draws=20).draws()

    found = timings_after(ppl.compile_model(NESTED), run, tmp_path)["sum"]
    assert found.plain_calls >= 1 and found.autodiff_calls == 0
    assert found.forward > 0 and (found.reverse, found.nodes) == (0, 0)


def test_a_block_in_a_loop_that_became_arrays_runs_once(ticks, tmp_path) -> None:
    model = ppl.compile_model("""
        data { int N; matrix[N, 2] X; array[N] int y; }
        parameters { vector[2] b; real a; }
        model {
          for (n in 1:N) {
            real eta = a + X[n] * b;
            profile("y") { if (n != 2) y[n] ~ poisson_log(eta); }
          }
        }
    """)
    plain = model.condition(DATA).log_density_gradient(U)
    found = timings_after(model, lambda p: p.log_density_gradient(U), tmp_path)["y"]
    assert found.autodiff_calls == 1 and found.nodes == found.reverse > 0
    timings_after(model, lambda p: np.testing.assert_equal(p.log_density_gradient(U), plain), tmp_path)


def test_a_block_that_is_left_by_reject_is_closed(tmp_path) -> None:
    model = ppl.compile_model("""
        parameters { real x; }
        model { profile("a") { if (x > 0) reject("too large"); x ~ std_normal(); } }
    """)
    with profiled(model, tmp_path / "p.csv") as timed:
        posterior = timed.condition()
        assert posterior.log_density_gradient(np.array([1.0]))[0] == -np.inf
        assert timed.clock.running == () and timed.clock.timings["a"].autodiff_calls == 1


def test_a_block_within_itself_is_timed_once(ticks, tmp_path) -> None:
    model = ppl.compile_model("""
        parameters { real x; }
        model { profile("a") { profile("a") { x ~ std_normal(); } } }
    """)
    found = timings_after(model, lambda p: p.log_density_gradient(np.array([1.0])), tmp_path)["a"]
    assert (found.forward, found.autodiff_calls, found.nodes, found.reverse) == (1, 1, 1, 1)


def test_an_adjoint_is_computed_while_it_is_timed() -> None:
    clock, made = Clock(running=(Timing(),)), []
    adjoints = clock.timed(lambda g: (made.append(k) or g for k in range(3)))(2.0)
    assert made == [0, 1, 2] and adjoints == [2.0] * 3

    def plain(g):
        return (g,)

    assert Clock().timed(plain) is plain  # outside all blocks nothing is timed


def test_no_file_no_clock() -> None:
    model = ppl.compile_model(NESTED)
    with profiled(model, None) as same:
        assert same is model and not same.keeps_time


def test_a_timed_model_is_the_model_in_all_else(tmp_path) -> None:
    model = ppl.compile_model("""
        data { array[4] real y; }
        parameters { array[2] real m; array[4] int<lower=1, upper=2> z; }
        model {
          m ~ normal(0, 3);
          profile("y") {
            for (n in 1:4) { z[n] ~ categorical([0.5, 0.5]'); y[n] ~ normal(m[z[n]], 1); }
          }
        }
    """)
    data = {"y": [-1, 1.5, 2, -2]}
    with profiled(model, tmp_path / "p.csv") as timed:
        assert timed.discrete is model.discrete is not None
        found, plain = (
            m.condition(data).variational(algorithm="laplace", draws=10, seed=1) for m in (timed, model)
        )
        assert found.column_names == plain.column_names and np.array_equal(found.draws(), plain.draws())


def test_auto_leaves_a_timed_model_to_autograd(tmp_path) -> None:
    pytest.importorskip("jax")
    model = ppl.compile_model(NESTED)
    assert is_possible(model.condition(DATA).problem)
    with profiled(model, tmp_path / "p.csv") as timed:
        assert not is_possible(timed.condition(DATA).problem)


def test_the_total_is_the_sum_of_both_passes(ticks, tmp_path) -> None:
    timings_after(ppl.compile_model(NESTED), lambda p: p.log_density_gradient(U), tmp_path)
    rows = {row["name"]: row for row in csv.DictReader((tmp_path / "p.csv").open())}
    assert rows["likelihood"] == {
        **{
            "name": "likelihood",
            "thread_id": "1",
            "total_time": "7",
            "forward_time": "3",
            "reverse_time": "4",
        },
        **{"chain_stack": "4", "no_chain_stack": "0", "autodiff_calls": "1", "no_autodiff_calls": "0"},
    }
