"""Branches and loops that parameters decide, under JAX: the numbers of autograd, on both sides."""

from typing import Any

import numpy as np
import pytest

import ppl
from tests.optimise.branch_programs import DATA, FUNCTIONS, LOOPS, POINTS, SCALARS, WHILE, in_a_loop, of_two

pytest.importorskip("jax")

from ppl.jax_backend.branches import MOST_NESTED
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.target import compiled_target


def assert_same(program: str, data: dict[str, Any] | None = None, us: np.ndarray = POINTS) -> None:
    """At each point alone, and at all of them at once."""
    posterior = ppl.compile_model(program).condition(data or {})
    target = compiled_target(posterior)
    values, gradients = target.log_density_gradients(us)
    for u, value, gradient in zip(us, values, gradients, strict=True):
        alone, slopes = target.log_density_gradient(u)
        want, slopes_wanted = posterior.log_density_gradient(u)
        np.testing.assert_allclose([value, alone], want, rtol=1e-12)
        if np.isfinite(want):
            np.testing.assert_allclose([gradient, slopes], [slopes_wanted] * 2, rtol=1e-9, atol=1e-12)


@pytest.mark.rotate
@pytest.mark.parametrize("model", SCALARS.values(), ids=SCALARS.keys())
def test_branches_outside_loops(model: str) -> None:
    assert_same(of_two(model))


UNSAFE = {
    "log": ("log(a)", "a"),
    "sqrt": ("sqrt(a)", "a ^ 2"),
    "division": ("b / fmax(a, 0)", "b"),
    "lgamma": ("lgamma(fmax(a, 0))", "a * b"),
    "pow": ("pow(fmax(a, 0), -b)", "-a"),
    "density": ("gamma_lpdf(2 | a, 1)", "normal_lpdf(b | a, 1)"),
}


@pytest.mark.rotate
@pytest.mark.parametrize(("then", "otherwise"), UNSAFE.values(), ids=UNSAFE.keys())
def test_the_side_not_taken_may_have_no_value_there(then: str, otherwise: str) -> None:
    us = np.vstack([POINTS, [[-0.0, 1.0], [0.0, 1.0], [-1e300, 0.5]]])
    assert_same(of_two(f"target += a > 0 ? {then} : {otherwise};"), us=us)
    assert_same(of_two(f"if (a > 0) target += {then}; else target += {otherwise};"), us=us)


@pytest.mark.rotate
@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_functions_that_return_early(text: str) -> None:
    name = "h_lp" if "h_lp" in text else "f"
    assert_same(of_two(f"target += {name}(a, b);", text))


def test_a_tuple_that_both_sides_give_has_the_sizes_of_the_one_before() -> None:
    """Of a function that is inlined in a loop, as it loops."""
    assert_same("""
        functions {
          real total(vector v, real a) {
            real b = 0;
            for (i in 1:size(v)) { if (b > 9) continue; b += v[i] + a; }
            return b;
          }
          tuple(vector, real) both(vector v, real a) {
            if (a > 0.5) return (v, total(v, a));
            return (tanh(v), a);
          }
          void add_lp(real a, vector v) {
            vector[2] x = v;
            real r = a;
            for (i in 1:2) (x, r) = both(x, r);
            target += sum(x) * r - a^2;
          }
        }
        parameters { real a; real b; }
        model { add_lp(a, [a, b]'); }""")


@pytest.mark.parametrize("model", WHILE.values(), ids=WHILE.keys())
def test_loops_that_parameters_end(model: str) -> None:
    assert_same(of_two(model))


def test_functions_called_for_each_row_may_branch_and_loop() -> None:
    text = """
      functions {
        real f(real x, real a) { if (x > a) return log(x - a); return x * a; }
        real g(real x, real a) { real y = x; while (y < 3) y += exp(a); return y; }
      }
      data { int N; vector[N] x; }
      parameters { real a, b; }
      model {
        for (n in 1:N) { target += -square(f(x[n], a)); target += g(x[n], b); }
      }
    """
    assert_same(text, {"N": 4, "x": [-2.0, 0.1, 0.5, 4.0]})


@pytest.mark.rotate
@pytest.mark.parametrize("body", LOOPS.values(), ids=LOOPS.keys())
def test_branches_in_loops(body: str) -> None:
    us = np.vstack([POINTS, [[-9.0, 9.0], [9.0, -9.0], [0.3, 0.31], [30.0, -30.0]]])
    assert_same(in_a_loop(body), DATA, us)


def test_what_is_out_of_reach_says_why() -> None:
    chain = " else ".join(f"if (a > {-k}) target += {k} * a;" for k in range(MOST_NESTED + 2))
    wide = "vector[200] v = rep_vector(a, 200); while (v[1] < b) v += 1; target += sum(v);"
    asks = "void f_lp(real x) { target += x; target += 0.25 * target(); }"
    with pytest.raises(NotTraceable, match="a branch depends on parameters"):
        compiled_target(ppl.compile_model(of_two("if (a > b) f_lp(a); else f_lp(b);", asks)).condition())
    for model, why in (
        (chain, f"more than {MOST_NESTED} nested branches"),
        (wide, "carries too many numbers"),
    ):
        with pytest.raises(NotTraceable, match=why):
            compiled_target(ppl.compile_model(of_two(model)).condition())


SOLVED = {
    "ode": "target += -ode_rk45(decay, [1.0]', 0, {0.5, 1.0}, exp(a))[2][1] ^ 2",
    "stiff": "target += -ode_bdf(decay, [1.0]', 0, {0.5, 1.0}, exp(a))[2][1] ^ 2",
    "root": "target += -solve_newton(fixed_point, [0.5]', a / 3)[1]",
    "integral": "target += -integrate_1d(bump, 0, 1, {a}, {0.0}, {1})",
}


@pytest.mark.rotate
@pytest.mark.parametrize("statement", SOLVED.values(), ids=SOLVED.keys())
def test_solvers_on_one_side(statement: str) -> None:
    functions = """
      vector decay(real t, vector y, real k) { return -k * y; }
      vector fixed_point(vector z, real k) { return z - k * cos(z); }
      real bump(real t, real tc, array[] real k, data array[] real xr, data array[] int xi) {
        return exp(-k[1] * t);
      }
    """
    assert_same(of_two(f"if (a > b) {statement}; else target += -a ^ 2;", functions))
