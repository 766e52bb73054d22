"""Initial value problems against exact solutions and SciPy's, their adjoints against finite differences."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from ppl.records import dataclass
from ppl.stdlib.solvers.initial_value import Trajectory, adjoints, joint, trajectory
from ppl.stdlib.solvers.runge_kutta import DormandPrince, Radau, Scales

METHODS = (DormandPrince(), Radau())


@dataclass
class Linear:
    """dy/dt = -rate * A y, the rate of each draw its own."""

    a: np.ndarray
    rates: np.ndarray

    def values(self, t, y, draws):
        return -self.rates[draws, None] * (y @ self.a.T)

    def of(self, draws):
        return lambda t, y: self.values(t, y, draws)

    def linearised(self, t, y, draws):
        return LinearNear(self, y, draws)


@dataclass
class LinearNear:
    field: Linear
    y: np.ndarray
    draws: np.ndarray

    @property
    def jacobians(self):
        return -self.field.rates[self.draws, None, None] * self.field.a

    def pull(self, weights) -> list[Any]:
        out = np.zeros(len(self.field.rates))
        np.add.at(out, self.draws, -(weights * (self.y @ self.field.a.T)).sum(axis=1))
        return [out]


TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
TIMES = np.array([[0.3, 1.0, 2.5], [0.2, 1.1, 9.0]])
START = np.array([[1.0, 0.5], [-0.3, 2.0]])
T0 = np.array([0.0, -0.5])


def solved(method, rates=(1.0, 2.0), start=START, t0=T0, times=TIMES, tolerance=1e-10) -> Trajectory:
    scales = Scales(tolerance, np.array(tolerance))
    return trajectory(Linear(TURN, np.asarray(rates)), method, start, t0, times, scales, 1e5)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_rotation_is_exact(method) -> None:
    angle = np.array([1.0, 2.0])[:, None] * (TIMES - T0[:, None])
    u, v = START.T[..., None]
    exact = np.stack([u * np.cos(angle) - v * np.sin(angle), u * np.sin(angle) + v * np.cos(angle)], axis=2)
    assert solved(method).states == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_a_draw_is_solved_as_if_it_were_alone(method) -> None:
    alone = solved(method, [2.0], START[1:], T0[1:], TIMES[1:])
    assert solved(method).states[1] == pytest.approx(alone.states[0], rel=1e-12)


@pytest.mark.rotate
@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
def test_adjoints_are_finite_differences(method) -> None:
    g, rates, h = np.random.default_rng(1).standard_normal((2, 3, 2)), np.array([1.0, 2.0]), 1e-5
    path = solved(method)
    found = adjoints(Linear(TURN, rates), [path], path.states, g)

    def slope(name: str, value: np.ndarray, at: tuple[int, ...]) -> float:
        step = np.zeros(value.shape)
        step[at] = h
        ends = (solved(method, **{name: value + sign * step}, tolerance=1e-13).states for sign in (1, -1))
        ahead, behind = ((g * states).sum() for states in ends)
        return float((ahead - behind) / (2 * h))

    assert found.start[1, 0] == pytest.approx(slope("start", START, (1, 0)), rel=1e-6)
    assert found.t0[1] == pytest.approx(slope("t0", T0, (1,)), rel=1e-6)
    assert found.times[0, 1] == pytest.approx(slope("times", TIMES, (0, 1)), rel=1e-6)
    assert found.arguments[0][1] == pytest.approx(slope("rates", rates, (1,)), rel=1e-6)


def test_radau_integrates_polynomials_exactly() -> None:
    """Of degree 2s - 2 over a step, and of degree s - 1 up to each node."""
    radau = Radau()
    powers = np.arange(2 * radau.s - 1)
    assert radau.a[-1] @ radau.nodes[:, None] ** powers == pytest.approx(1 / (powers + 1), abs=1e-13)
    low = powers[: radau.s]
    to_nodes = radau.nodes[:, None] ** (low + 1) / (low + 1)
    assert radau.a @ radau.nodes[:, None] ** low == pytest.approx(to_nodes, abs=1e-13)


@pytest.mark.rotate
def test_stiff_equations_are_left_to_the_implicit_method() -> None:
    """Two speeds, a million apart: the explicit method gives up where 200 steps do not do."""
    a = np.array([[1.0, 0.0], [-1.0, 1e6]])
    start, t0, times = np.ones((1, 2)), np.zeros(1), np.array([[0.5, 4.0]])
    field, scales = Linear(a, np.ones(1)), Scales(1e-9, np.array(1e-9))
    explicit = trajectory(field, DormandPrince(), start, t0, times, scales, 200)
    assert not explicit.complete.any()
    implicit = trajectory(field, Radau(), start, t0, times, scales, 1e4, ~explicit.complete)
    states, _ = joint(explicit, implicit)
    exact = solve_ivp(lambda t, y: -a @ y, (0, 4), [1, 1], "Radau", times[0], rtol=1e-12, atol=1e-14).y.T
    assert states[0] == pytest.approx(exact, rel=1e-7)


def test_what_cannot_be_solved_is_nan() -> None:
    """Times that do not increase, and a start that is not finite, leave the other draws alone."""
    path = solved(DormandPrince(), start=np.array([[np.nan, 0.0], START[1]]))
    assert np.isnan(path.states[0]).all()
    assert path.complete.tolist() == [False, True]


def test_the_explicit_method_leaves_a_stiff_draw_soon() -> None:
    fast_and_slow, start = np.diag([1.0, 2000.0]), np.ones((2, 2))
    field, scales = Linear(fast_and_slow, np.array([1e-3, 1.0])), Scales(1e-6, np.array(1e-6))
    path = trajectory(field, DormandPrince(), start, np.zeros(2), np.full((2, 1), 5.0), scales, 1e5)
    assert path.complete.tolist() == [True, False] and len(path.rounds) < 100
    other = trajectory(field, Radau(), start, np.zeros(2), np.full((2, 1), 5.0), scales, 1e5, ~path.complete)
    assert other.states[1, 0] == pytest.approx([np.exp(-5), 0.0], abs=1e-5)


EXCHANGE = np.array([[1.0, -1.0], [-1.0, 1.0]])


def test_a_singular_system_refuses_the_step_of_its_draw_alone() -> None:
    """1 + h rate rounds to h rate, beside which the system of the second draw is singular."""
    rates, start, scales = np.array([1.0, 1e22]), np.array([[2.0, 0.0], [2.0, 0.0]]), Scales(1e-9, 1e-9)
    path = trajectory(Linear(EXCHANGE, rates), Radau(), start, np.zeros(2), np.ones((2, 1)), scales, 100)
    assert path.complete.tolist() == [True, False]
    assert path.states[0, 0] == pytest.approx([1 + np.exp(-2), 1 - np.exp(-2)], abs=1e-8)
    both = Radau().adjoints(-rates[:, None, None, None] * np.tile(EXCHANGE, (2, 5, 1, 1)), np.ones(2))
    alone = Radau().adjoints(-np.tile(EXCHANGE, (1, 5, 1, 1)), np.ones(1))
    assert np.array_equal(both[0], alone[0]) and np.isnan(both[1]).all()


class Jump(Linear):
    """dy/dt = -rate from the start on, but not there."""

    def values(self, t, y, draws):
        return np.where(t > T0[draws], -self.rates[draws], 0.0)[:, None] * np.ones_like(y)


def test_a_jump_at_the_start_takes_few_tries() -> None:
    rates = np.array([1.0, 1e4])
    path = trajectory(Jump(TURN, rates), DormandPrince(), START, T0, TIMES, Scales(1e-10, 1e-10), 1e5)
    exact = START[:, None] - (rates[:, None] * (TIMES - T0[:, None]))[..., None]
    assert path.states == pytest.approx(exact, rel=1e-9, abs=1e-8)
    assert len(path.rounds) < 30  # 42 by the usual order of errors
