"""The laws of a constraint: inverse both ways, lands inside, log-Jacobian, gradient, array axes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY, Array, Namespace, value_and_grad
from ppl.floats import Floats
from ppl.records import dataclass
from ppl.stdlib.constraints.record import Constraint, Shape
from ppl.testing.law import Law, jacobian

FREE = 1.5
"""Free numbers are drawn from (-FREE, FREE), where an inverse loses few digits."""
FAR = 8.0
"""The same, for the laws that hold to rounding of the value alone."""


def everything(x: Array) -> Array:
    return np.concatenate([x.real.ravel(), x.imag.ravel()]) if np.iscomplexobj(x) else x.ravel()


@dataclass(frozen=True)
class Sample:
    """A constraint with the shape of a value and arguments; the rest is explained in check_constraint."""

    constraint: Constraint
    shape: Shape
    arguments: tuple[Any, ...] = ()
    chart: Callable[[Array], Array] = everything
    refused: Sequence[Any] = ()
    identity: bool = False
    one_to_one: bool = True

    def draw(self, arrays: Shape = (), scale: float = FREE, seed: int = 1) -> Floats:
        size = (*arrays, *self.constraint.free_shape(self.shape))
        return np.random.default_rng(seed).uniform(-scale, scale, size)

    def constrain(self, xp: Namespace, u: Array) -> tuple[Array, Array]:
        """The value, and the whole log-Jacobian."""
        x, terms = self.constraint.constrain(xp, u, self.shape, *self.arguments)
        return x, xp.np.sum(terms)

    def unconstrain(self, x: Array) -> Array:
        return self.constraint.unconstrain(x, self.shape, *self.arguments)

    def check(self, x: Array) -> str | None:
        return self.constraint.check(x, self.shape, *self.arguments)


def check_constraint(
    constraint: Constraint,
    shape: Shape,
    arguments: tuple[Any, ...] = (),
    chart: Callable[[Array], Array] = everything,
    refused: Sequence[Any] = (),
    identity: bool = False,
    one_to_one: bool = True,
) -> None:
    """Test a constraint against the laws, for values of one shape and these arguments.

    `chart(x)` are coordinates that determine a value, where its elements depend on each other: all but the
    last of a simplex.  The log-Jacobian is log|det J| of their derivatives J, or where these are more than
    there are free numbers, half log|det J'J|.  `refused` are values that `check` must refuse.  `identity`
    marks a map that leaves all as it is; one that is not `one_to_one`, as that to unit vectors, is inverted
    up to the value alone, and its log-Jacobian is not looked at.

    Raises:
        AssertionError: a law does not hold; the message says which, and gives the numbers.

    Example:
        >>> from ppl.stdlib.constraints.simplex import SIMPLEX
        >>> check_constraint(SIMPLEX, (4,), chart=lambda x: x[:-1], refused=[[0.3, 0.3, 0.3, 0.3]])
    """
    sample = Sample(constraint, shape, arguments, chart, tuple(refused), identity, one_to_one)
    for law in LAWS:
        if law.applies(sample):
            law.check(sample, constraint.keyword)


def lands_inside(s: Sample) -> None:
    x, _ = s.constrain(NUMPY, s.draw())
    assert np.shape(x) == s.shape, f"a value of shape {s.shape} has the shape {np.shape(x)}"
    complaint = s.check(x)
    assert complaint is None, f"the value {x} {complaint}"


def inverse_both_ways(s: Sample) -> None:
    for scale in (FREE, FAR):
        u = s.draw(scale=scale)
        x, _ = s.constrain(NUMPY, u)
        back = s.unconstrain(x)
        again, _ = s.constrain(NUMPY, back)
        assert_allclose(again, x, rtol=1e-7, atol=1e-9, err_msg="constrain(unconstrain(x)) and x")
        if scale == FREE and s.one_to_one:
            assert_allclose(back, u, rtol=1e-9, atol=1e-9, err_msg="unconstrain(constrain(u)) and u")


def log_jacobian_is_that_of_the_difference(s: Sample) -> None:
    u = s.draw()
    _, log_jacobian = s.constrain(NUMPY, u)
    j = jacobian(lambda u: s.chart(s.constrain(NUMPY, u)[0]), u)
    assert_allclose(log_jacobian, 0.5 * np.linalg.slogdet(j.T @ j)[1], rtol=1e-6, atol=1e-6)


def gradient_is_the_difference(s: Sample) -> None:
    u = s.draw()
    weights = np.random.default_rng(2).normal(size=s.shape)

    def objective(xp: Namespace, u: Array) -> Array:
        x, log_jacobian = s.constrain(xp, u)
        parts = (xp.np.real(x), xp.np.imag(x) ** 2) if np.iscomplexobj(xp.plain(x)) else (x,)
        return sum(xp.np.sum(weights * part) for part in parts) + log_jacobian

    value, gradient = value_and_grad(lambda u: objective(AUTOGRAD, u), u)
    assert_allclose(value, objective(NUMPY, u), err_msg="the values of both namespaces")
    expected = jacobian(lambda u: objective(NUMPY, u), u)
    assert_allclose(np.ravel(gradient), np.ravel(expected), rtol=1e-6, atol=1e-7)


def array_axes_are_a_loop(s: Sample) -> None:
    u = s.draw(arrays=(2, 3))
    x, log_jacobian = s.constrain(NUMPY, u)
    one_by_one = [s.constrain(NUMPY, u[i]) for i in np.ndindex(2, 3)]
    assert_allclose(x.reshape(6, *s.shape), [value for value, _ in one_by_one])
    assert_allclose(log_jacobian, sum(term for _, term in one_by_one))
    _, terms = s.constraint.constrain(NUMPY, u, s.shape, *s.arguments)
    if np.ndim(terms):
        each = [np.sum(terms[i]) for i in np.ndindex(2, 3)]
        assert_allclose(each, [term for _, term in one_by_one], rtol=1e-12, atol=1e-12)
    expected = [s.unconstrain(value) for value, _ in one_by_one]
    assert_allclose(s.unconstrain(x).reshape(6, -1), np.reshape(expected, (6, -1)), rtol=1e-10, atol=1e-12)


def is_not_the_identity(s: Sample) -> None:
    u = s.draw()
    x, _ = s.constrain(NUMPY, u)
    assert np.size(u) != np.size(x) or not np.allclose(u, x.ravel()), f"{u} is left as it is"


def others_are_refused(s: Sample) -> None:
    for value in s.refused:
        assert s.check(np.array(value)), f"check has nothing to say of {value}"


LAWS: tuple[Law[Sample], ...] = (
    Law("a value has its shape and lands inside", lands_inside),
    Law("the inverse, both ways", inverse_both_ways),
    Law(
        "the log-Jacobian is log|det| of the finite differences",
        log_jacobian_is_that_of_the_difference,
        lambda s: s.one_to_one,
    ),
    Law("the gradient is the finite difference", gradient_is_the_difference),
    Law("array axes are a loop", array_axes_are_a_loop),
    Law("it is not the identity", is_not_the_identity, lambda s: not s.identity),
    Law("values outside are refused", others_are_refused, lambda s: bool(s.refused)),
)
"""Every law of a constraint."""
