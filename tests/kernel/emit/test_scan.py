"""A scan gives the values of the loop it stands for, and their derivatives."""

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import elementwise_grad, grad

from ppl.arrays import AUTOGRAD, NUMPY, value_and_grad
from ppl.kernel.emit import scan as module
from ppl.kernel.emit.scan import scan

A = np.array([[0.5, 0.2], [-0.3, 0.8]])
SHIFTS = np.array([0.3, -0.2, 0.7, 0.1])


def step(lib, x, m, shift, a):
    """One number and a vector, each moved by the other."""
    return anp.tanh(a * x + shift + m[0]), anp.sin(A @ m) * x


def batch(lib, x, m, shift, a):
    return anp.tanh(a * x + shift + m[:, 0]), anp.sin(m @ A.T) * x[:, None]


def run(xp, u):
    """The sum of squares of all states that start at u[:3], with the coefficient u[3] and shifts u[4:]."""
    out = scan(xp, None, lambda: None, step, batch, (u[0], u[1:3]), (u[4:],), (u[3],))
    return sum(xp.np.sum((k + 1) * s**2) for k, s in enumerate(out))


def looped(u):
    x, m, total = u[0], u[1:3], 0.0
    for shift in u[4:]:
        x, m = step(None, x, m, shift, u[3])
        total = total + x**2 + 2 * anp.sum(m**2)
    return total


U = np.concatenate([[0.4, 1.0, -0.5, 0.9], SHIFTS])


def test_its_states_are_those_of_the_loop() -> None:
    assert run(NUMPY, U) == pytest.approx(looped(U), rel=1e-14)


@pytest.mark.parametrize("widest", [24, 0], ids=["blocks", "tape"])
def test_its_gradient_is_that_of_the_loop(widest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WIDEST_STATE", widest)
    value, gradient = value_and_grad(lambda u: run(AUTOGRAD, u), U)
    assert value == pytest.approx(looped(U), rel=1e-14)
    np.testing.assert_allclose(gradient, grad(looped)(U), rtol=1e-12)


def test_it_can_be_differentiated_twice() -> None:
    def slopes(f):
        return elementwise_grad(lambda u: anp.sum(grad(f)(u)))(U)

    np.testing.assert_allclose(slopes(lambda u: run(AUTOGRAD, u)), slopes(looped), rtol=1e-12)


def apart(begin, rest):
    """What `run` gives, of a start and coefficients that may be on two tapes."""
    start, entries = (begin[0], begin[1:]), (rest[1:],)
    parts = scan(AUTOGRAD, None, lambda: None, step, batch, start, entries, (rest[0],))
    return sum(anp.sum((k + 1) * s**2) for k, s in enumerate(parts))


def whole(begin, rest):
    return looped(anp.concatenate([begin, rest]))


def test_its_slope_in_the_start_can_be_differentiated_by_the_rest() -> None:
    def slopes(f):
        return grad(lambda rest: anp.sum(grad(f)(U[:3], rest)))(U[3:])

    np.testing.assert_allclose(slopes(apart), slopes(whole), rtol=1e-12)


def test_its_slope_in_everything_can_be_differentiated_by_the_rest() -> None:
    def slopes(f):
        return grad(lambda rest: sum(map(anp.sum, grad(lambda u: f(*u))((U[:3], rest)))))(U[3:])

    np.testing.assert_allclose(slopes(apart), slopes(whole), rtol=1e-12)


def alone(lib, x, y, a):
    return (a * anp.sqrt(1 + x**2) + y,)


def test_of_a_state_of_one_number() -> None:
    data, u = np.array([0.2, -1.0, 0.4]), np.array([0.7, 1.3])

    def scanned(u):
        return anp.sum(scan(AUTOGRAD, None, lambda: None, alone, alone, (u[0],), (data,), (u[1],))[0])

    def plain(u):
        x, total = u[0], 0.0
        for y in data:
            (x,) = alone(None, x, y, u[1])
            total = total + x
        return total

    assert scanned(u) == pytest.approx(plain(u), rel=1e-14)
    np.testing.assert_allclose(value_and_grad(scanned, u)[1], grad(plain)(u), rtol=1e-13)
