"""Lower and upper bounds, element by element.

Stan Reference Manual, "Constraint Transforms": lower bounded, upper bounded, lower and upper bounded
scalars.  An infinite bound is no bound, for each element by itself.  Softplus in place of exp is the
second map of Kucukelbir et al. 2017 (ADVI), section 3.3.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ppl.arrays import NUMPY, Array, Namespace, with_partials
from ppl.stdlib.constraints.conditions import Condition, constraint
from ppl.stdlib.constraints.layout import flatten, unflatten
from ppl.stdlib.constraints.record import ELEMENTWISE, ConstraintPage, Shape
from ppl.stdlib.constraints.sentences import number
from ppl.stdlib.functions.elementary import log_inv_logit
from ppl.stdlib.record import guarded
from ppl.stdlib.special.log_add import expit

Rule = Callable[[Namespace, Array, Array, Array], tuple[Array, ...]]  # (xp, value, lower, upper)


@with_partials(lambda xp, ans, u: -xp.np.tanh(0.5 * u))
def log_inv_logit_slope(xp: Namespace, u: Array) -> Array:
    """log(inv_logit(u) inv_logit(-u))."""
    return -xp.np.abs(u) - 2.0 * xp.np.log1p(xp.np.exp(-xp.np.abs(u)))


@with_partials(
    lambda xp, ans, u, a, b: (b - a) * expit(xp, u) * expit(xp, -u),
    lambda xp, ans, u, a, b: expit(xp, -u),
    lambda xp, ans, u, a, b: expit(xp, u),
)
def between(xp: Namespace, u: Array, a: Array, b: Array) -> Array:
    """nan unless a < b."""
    return a + guarded(xp, a < b, b - a) * expit(xp, u)


@with_partials(lambda xp, ans, u, a: xp.np.exp(u), lambda xp, ans, u, a: 1.0)
def above(xp: Namespace, u: Array, a: Array) -> Array:
    return a + xp.np.exp(u)


@with_partials(lambda xp, ans, u, b: -xp.np.exp(u), lambda xp, ans, u, b: 1.0)
def below(xp: Namespace, u: Array, b: Array) -> Array:
    return b - xp.np.exp(u)


def _interval(xp: Namespace, u: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return between(xp, u, a, b), xp.np.log(b - a) + log_inv_logit_slope(xp, u)


def _above(xp: Namespace, u: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return above(xp, u, a), u


def _above_softplus(xp: Namespace, u: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return a + xp.np.logaddexp(0.0, u), log_inv_logit(xp, u)


def _below(xp: Namespace, u: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return below(xp, u, b), u


def _free(xp: Namespace, u: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return u, 0.0 * u


def _from_interval(xp: Namespace, x: Array, a: Array, b: Array) -> tuple[Array]:
    return (xp.np.log(x - a) - xp.np.log(b - x),)


def _from_above_softplus(xp: Namespace, x: Array, a: Array, b: Array) -> tuple[Array]:
    return (x - a + xp.np.log(-xp.np.expm1(a - x)),)


def _from_below(xp: Namespace, x: Array, a: Array, b: Array) -> tuple[Array]:
    return (xp.np.log(b - x),)


def _from_free(xp: Namespace, x: Array, a: Array, b: Array) -> tuple[Array]:
    return (x,)


# Rules for an element with both bounds, a lower one, an upper one, none.
CONSTRAIN = (_interval, _above, _below, _free)
CONSTRAIN_SOFTPLUS = (_interval, _above_softplus, _below, _free)
UNCONSTRAIN = (_from_interval, lambda xp, x, a, b: (xp.np.log(x - a),), _from_below, _from_free)
UNCONSTRAIN_SOFTPLUS = (_from_interval, _from_above_softplus, _from_below, _from_free)
NEUTRAL = (0.5, 0.0, 1.0)
"""Stands in for (value, lower, upper) where a rule does not apply."""


def by_bounds(xp: Namespace, rules: tuple[Rule, ...], v: Array, a: Array, b: Array) -> tuple[Array, ...]:
    """Apply to every element of `v` the rule of its bounds; bounds broadcast against `v`.

    Under JAX bounds that are no constants are not known here, and every rule is computed.
    """
    if isinstance(a, int | float) and isinstance(b, int | float):
        return rules[2 * (a == -np.inf) + (b == np.inf)](xp, v, a, b)
    lower, upper = xp.np.not_equal(xp.plain(a), -np.inf), xp.np.not_equal(xp.plain(b), np.inf)
    cases = (both(lower, upper), both(lower, ~upper), both(~lower, upper), both(~lower, ~upper))
    parts = []
    for here, rule in zip(map(xp.mask, cases), rules, strict=True):
        known = isinstance(here, np.ndarray | np.bool_)
        if known and here.all():
            return rule(xp, v, a, b)
        if not known or here.any():
            tame = (xp.np.where(here, *pair) for pair in zip((v, a, b), NEUTRAL, strict=True))
            parts.append([xp.np.where(here, result, 0.0) for result in rule(xp, *tame)])
    return tuple(sum(part) for part in zip(*parts, strict=True))


def both(x: Array, y: Array) -> Array:
    """`x & y`, which is known where one of them is a False that is."""
    return np.False_ if any(isinstance(side, np.bool_) and not side for side in (x, y)) else x & y


def _constrain(rules: Any, xp: Namespace, u: Array, shape: Shape, a: Array, b: Array) -> Any:
    return by_bounds(xp, rules, unflatten(xp, u, shape), a, b)


def _unconstrain(rules: Any, x: Array, shape: Shape, a: Array, b: Array, xp: Namespace = NUMPY) -> Array:
    (u,) = by_bounds(xp, rules, x, a, b)
    return flatten(xp, u, shape)


def _one_sided(function: Callable[..., Any], lower: bool) -> Callable[..., Any]:
    """`function(..., a, b)` with the other bound infinite."""
    if lower:
        return lambda *args, **named: function(*args, np.inf, **named)
    return lambda *args, **named: function(*args[:-1], -np.inf, args[-1], **named)


AT_LEAST = Condition(
    lambda xp, x, a, *_: x >= a, lambda x, _, a, *__: f"is {number(x)}, but must be at least {number(a)}"
)
AT_MOST = Condition(
    lambda xp, x, *bounds: x <= bounds[-1],
    lambda x, _, *bounds: f"is {number(x)}, but must be at most {number(bounds[-1])}",
)

LOWER = constraint(
    keyword="lower",
    meaning="a number not below the lower bound: x = lower + exp(u)",
    arguments=("lower",),
    constrain=_one_sided(partial(_constrain, CONSTRAIN), lower=True),
    unconstrain=_one_sided(partial(_unconstrain, UNCONSTRAIN), lower=True),
    conditions=(AT_LEAST,),
    value="real",
    function="lower_bound",
    page=ConstraintPage(
        "real<lower=a> x;", ELEMENTWISE, ("x = a + exp(u)", "x = u if a is -inf"), "u", (), (1.0,)
    ),
)

LOWER_SOFTPLUS = replace(
    LOWER,
    meaning="a number not below the lower bound: x = lower + log(1 + exp(u))",
    constrain=_one_sided(partial(_constrain, CONSTRAIN_SOFTPLUS), lower=True),
    unconstrain=_one_sided(partial(_unconstrain, UNCONSTRAIN_SOFTPLUS), lower=True),
)

UPPER = constraint(
    keyword="upper",
    meaning="a number not above the upper bound: x = upper - exp(u)",
    arguments=("upper",),
    constrain=_one_sided(partial(_constrain, CONSTRAIN), lower=False),
    unconstrain=_one_sided(partial(_unconstrain, UNCONSTRAIN), lower=False),
    conditions=(AT_MOST,),
    value="real",
    function="upper_bound",
    page=ConstraintPage(
        "real<upper=b> x;", ELEMENTWISE, ("x = b - exp(u)", "x = u if b is inf"), "u", (), (1.0,)
    ),
)

LOWER_UPPER = constraint(
    keyword="lower_upper",
    meaning="a number between the bounds: x = lower + (upper - lower) inv_logit(u)",
    arguments=("lower", "upper"),
    constrain=partial(_constrain, CONSTRAIN),
    unconstrain=partial(_unconstrain, UNCONSTRAIN),
    conditions=(AT_LEAST, AT_MOST),
    value="real",
    function="lower_upper_bound",
    page=ConstraintPage(
        "real<lower=a, upper=b> x;",
        ELEMENTWISE,
        ("x = a + (b - a) * inv_logit(u)", "as with one bound, or none, where the other is infinite"),
        "log(b - a) + log(inv_logit(u)) + log(inv_logit(-u))",
        (),
        (0.0, 2.0),
    ),
)
