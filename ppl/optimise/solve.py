"""`lib.solve`: differential equations, roots, integrals and marginals of functions of the program."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
from autograd.tracer import isbox

from ppl.arrays import record
from ppl.errors import Rejection
from ppl.floats import Floats
from ppl.kernel.emit.runtime import DrawsRejected
from ppl.optimise.own_likelihood import OwnLikelihood
from ppl.optimise.solver_functions import Each, Placed, ProgramField, leaves
from ppl.stdlib.laplace import own
from ppl.stdlib.solvers import initial_value, kronrod, quadrature, roots
from ppl.stdlib.solvers.field import SolverFunction
from ppl.stdlib.solvers.runge_kutta import DormandPrince, Radau, Scales

SolverValues = Sequence[Any]
"""Arguments, or settings of a solver."""
Pull = Callable[[Floats], tuple[Sequence[Floats], Sequence[Any]]]
"""From the adjoint of an answer (draws, ...) those of the inputs (draws, ...), and those that f pulls."""
Run = Callable[..., tuple[Floats, Pull]]
Solver = Callable[[str, SolverFunction, SolverValues, SolverValues], Any]

EXPLICIT, IMPLICIT = DormandPrince(), Radau()
MOST_TRIES, MOST_TRIES_EACH = 500, 10
"""Steps that a method may try, and as many more for each time: after the explicit one comes the implicit."""
TIGHTER = 0.01
"""Of the explicit method's tolerance: steps that change with the parameters must not show in gradients."""


def solve(
    functions: Callable[[str], SolverFunction],
    solver: str,
    f: Callable[..., Any],
    args: SolverValues,
    settings: SolverValues,
    lifted: Sequence[bool] = (),
) -> Any:
    """The value of `solver` for the function f of the program, begun at `args`.

    The answers are (draws, ...) where arguments and settings that are `lifted` differ from draw to draw.

    Raises:
        DrawsRejected: some of them have no answer; each says why when it is solved alone.
    """
    each = [Each(a) if m else a for a, m in zip_longest((*args, *settings), lifted)]
    return SOLVERS[solver](solver, functions(f.__name__), each[: len(args)], each[len(args) :])


def solved(
    function: SolverFunction, placed: Placed, given: SolverValues, more: SolverValues, run: Run
) -> Any:
    """The answer of run(field, *given), one for each draw where what it depends on differs between draws.

    `more` is what the function gets beside its point.

    Raises:
        Rejection: the only draw has no answer.
        DrawsRejected: some of many have none.
    """
    inputs, shared = list(leaves(given)), list(leaves(more))
    differentiated = [i for i, leaf in enumerate(shared) if isbox(leaf.value)]
    draws = next((len(leaf.plain) for leaf in (*inputs, *shared) if leaf.each), 0)
    field = ProgramField(function, placed, tuple(more), tuple(differentiated))
    answers, pull = run(field, *(leaf.broadcast(draws or 1) for leaf in inputs))
    unsolved = np.flatnonzero(~np.isfinite(answers).reshape(len(answers), -1).all(axis=1))
    if unsolved.size:
        raise DrawsRejected(unsolved, "a solver has no answer")

    def adjoints(g: Floats) -> list[Any]:
        to_inputs, to_shared = pull(g if draws else g[None])
        pairs = zip(inputs, to_inputs, strict=True)
        return [*(leaf.adjoint(each) for leaf, each in pairs if isbox(leaf.value)), *to_shared]

    answer = answers if draws else answers[0]
    boxes = [leaf.value for leaf in (*inputs, *shared) if isbox(leaf.value)]
    return record(boxes, answer, adjoints) if boxes else answer


# --- Differential equations ----------------------------------------------------------------------


def ode(
    defaults: tuple[float, float, float],
    solver: str,
    function: SolverFunction,
    args: SolverValues,
    settings: SolverValues,
) -> Any:
    t0, y0, *shared = args
    ts, *tolerances = settings
    relative, absolute, most_steps = tolerances or defaults
    scales = Scales(float(tighter(np, relative)), tighter(np, absolute))

    def run(f: ProgramField, t0: Floats, y0: Floats, ts: Floats) -> tuple[Floats, Pull]:
        y0 = np.where(in_order(t0, ts)[:, None], y0, np.nan)
        outputs = ts.shape[1]
        most = min(most_steps * outputs, MOST_TRIES + MOST_TRIES_EACH * outputs)
        path = initial_value.trajectory(f, EXPLICIT, y0, t0, ts, scales, most)
        states, paths = path.states, [path]
        if not path.complete.all():
            loose, left = Scales(relative, np.asarray(absolute)), ~path.complete
            other = initial_value.trajectory(f, IMPLICIT, y0, t0, ts, loose, most, left)
            states, paths = initial_value.joint(path, other)
        if len(t0) == 1 and not np.isfinite(states).all():
            raise Rejection(complaint(solver, paths[-1], most))

        def pull(g: Floats) -> tuple[Sequence[Floats], Sequence[Any]]:
            adjoints = initial_value.adjoints(f, paths, states, g)
            return (adjoints.t0, adjoints.start, adjoints.times), adjoints.arguments

        return states, pull

    return solved(function, lambda t, y: (t, y), (t0, y0, ts), shared, run)


def tighter(xp: Any, tolerance: Any) -> Any:
    """A tolerance of the explicit method, which costs little to tighten unless it is tight already."""
    return xp.maximum(TIGHTER * xp.asarray(tolerance), xp.minimum(tolerance, TIGHT[0]))


def in_order(t0: Floats, ts: Floats) -> Any:
    """Which draws have t0 < ts[1] <= ts[2] <= ..."""
    return ((ts[:, :1] > t0[:, None]) & (np.diff(ts, axis=1, prepend=ts[:, :1]) >= 0)).all(axis=1)


def complaint(solver: str, path: initial_value.Trajectory, most: float) -> str:
    t0, ts = path.t0[0], path.times[0]
    if not in_order(path.t0, path.times)[0]:
        return f"`{solver}`: the times must increase from the initial time, {t0:g}; they are {ts.tolist()}."
    if not np.isfinite(path.start).all():
        return f"`{solver}`: the initial state is not finite: {path.start[0].tolist()}."
    known = np.isfinite(path.states[0]).all(axis=1)
    last = ts[known][-1] if known.any() else t0
    return (
        f"`{solver}` stopped at about t = {last:g}: {most:g} steps did not reach the next time. "
        "The solution may diverge there, or change faster than the output times."
    )


# --- Equations and integrals ---------------------------------------------------------------------


def root(solver: str, function: SolverFunction, args: SolverValues, settings: SolverValues) -> Any:
    guess, *shared = args

    def run(f: ProgramField, guess: Floats) -> tuple[Floats, Pull]:
        solution = roots.root(f, guess)
        if len(guess) == 1 and not np.isfinite(solution).all():
            raise Rejection(
                f"`{solver}` found no root from {guess[0].tolist()}. Start closer to it; there may be none."
            )
        return solution, lambda g: ((np.zeros_like(guess),), roots.adjoints(f, solution, g))

    return solved(function, alone, (guess,), shared, run)


def alone(t: Any, y: Any) -> tuple[Any, ...]:
    return (y,)


def integral(
    rule_of: Callable[..., quadrature.Quadrature],
    solver: str,
    function: SolverFunction,
    args: SolverValues,
    settings: SolverValues,
) -> Any:
    low, high, *shared = args
    precision = quadrature.Precision(*settings)
    if not (precision.absolute >= 0 and precision.refinements >= 0):
        raise Rejection(
            f"`{solver}`: the absolute tolerance and the number of refinements must be nonnegative."
        )

    def run(f: ProgramField, low: Floats, high: Floats) -> tuple[Floats, Pull]:
        forwards = (low < high) | ((low == high) & np.isfinite(low))
        rule = rule_of(f, low, np.where(forwards, high, low), precision)
        values = np.where(forwards, rule.value, np.nan)
        if len(low) == 1 and not np.isfinite(values).all():
            raise Rejection(f"`{solver}` from {low[0]:g} to {high[0]:g} {fault(bool(forwards[0]))}")
        return values, lambda g: quadrature.adjoints(f, rule, g)

    return solved(function, by_complement, (low, high), shared, run)


def fault(forwards: bool) -> str:
    if not forwards:
        return "is not an integral: the lower limit may not exceed the upper one, nor equal it if infinite."
    return "did not converge: the integrand may have a singularity inside, or be too heavy in the tails."


def by_complement(x: Any, from_end: Any) -> tuple[Any, ...]:
    return x, from_end[..., 0]


# --- Laplace's approximation ---------------------------------------------------------------------


def marginal(solver: str, function: SolverFunction, args: SolverValues, settings: SolverValues) -> Any:
    """log p(y) where the function of the program is log p(y | theta, ...), theta ~ normal(0, K)."""
    k, *shared = args

    def run(f: ProgramField, k: Floats) -> tuple[Floats, Pull]:
        like, solution = approximated(solver, f, k, settings)

        def pull(g: Floats) -> tuple[Sequence[Floats], Sequence[Any]]:
            sigma = own.blocks_of(solution.sigma, solution.weight.shape[-1])
            with np.errstate(all="ignore"):
                third = like.third(solution.theta, np.arange(len(k)), sigma)
                by_k, mode_shift = own.slopes(solution, third.by_theta())
                return (g[:, None, None] * by_k,), third.pull(g, mode_shift)

        return solution.value, pull

    return solved(function, alone, (k,), shared, run)


def latent(solver: str, function: SolverFunction, args: SolverValues, settings: SolverValues) -> Any:
    """The mode of theta as the first column, and F beside it: Laplace's covariance of theta is F F'."""
    k, *shared = args

    def run(f: ProgramField, k: Floats) -> tuple[Floats, Pull]:
        _, solution = approximated(solver, f, k, settings)
        mode = np.where(np.isfinite(solution.value)[:, None], solution.theta, np.nan)

        def pull(g: Floats) -> tuple[Sequence[Floats], Sequence[Any]]:
            raise TypeError("A random draw has no derivatives.")

        return np.concatenate([mode[:, :, None], solution.factor], axis=2), pull

    return solved(function, alone, (k,), shared, run)


def approximated(
    solver: str, f: ProgramField, k: Floats, settings: SolverValues
) -> tuple[OwnLikelihood, own.LaplaceApproximation]:
    """Raises Rejection where sizes do not fit, or the only draw has no mode."""
    tolerance, most_steps, block, *start = settings
    like = OwnLikelihood(solver, f)
    first = np.asarray(start[0] if start else (), dtype=float)
    with np.errstate(all="ignore"):
        approximation = own.approximated(
            own.problem(like, k, first, int(block)), float(tolerance), int(most_steps)
        )
    if len(k) == 1 and not np.isfinite(approximation.value).all():
        raise Rejection(
            f"`{solver}` found no maximum of the log density of theta in {int(most_steps)} steps of Newton's "
            "method. If the log likelihood is not finite at theta = 0, or not concave, give theta_init (the "
            "`_tol` forms). The covariance must be symmetric and positive semidefinite."
        )
    return like, approximation


LOOSE = (1e-6, 1e-6, 1e6)
"""Relative and absolute tolerance and steps of the explicit solvers, as in Stan."""
TIGHT = (1e-10, 1e-10, 1e8)
"""Those of the multistep solvers, as in Stan."""

ODES: Mapping[str, tuple[float, float, float]] = {
    **{
        f"{family}_{name}{tol}": defaults
        for name, defaults in (("rk45", LOOSE), ("ckrk", LOOSE), ("adams", TIGHT), ("bdf", TIGHT))
        for family, tol in (("ode", ""), ("ode", "_tol"), ("integrate_ode", ""))
    },
    "integrate_ode": LOOSE,
    "ode_adjoint_tol_ctl": TIGHT,
}
"""The solvers of initial value problems, by their tolerances and steps where none are given."""

ROOTS = (
    *("solve_newton", "solve_newton_tol", "solve_powell", "solve_powell_tol"),
    *("algebra_solver", "algebra_solver_newton"),
)
"""The solvers of equations."""
INTEGRALS = {
    "integrate_1d": quadrature.rule,
    **{f"integrate_1d_double_exponential{tol}": quadrature.rule for tol in ("", "_tol")},
    **{f"integrate_1d_gauss_kronrod{tol}": kronrod.rule for tol in ("", "_tol")},
}
"""The rules of integrals over an interval."""

SOLVERS: Mapping[str, Solver] = {
    **{name: partial(ode, defaults) for name, defaults in ODES.items()},
    **dict.fromkeys(ROOTS, root),
    **{name: partial(integral, rule) for name, rule in INTEGRALS.items()},
    **dict.fromkeys(("laplace_marginal", "laplace_marginal_tol"), marginal),
    **dict.fromkeys(
        (
            *("laplace_latent_rng", "laplace_latent_tol_rng"),
            *("laplace_latent_solve", "laplace_latent_solve_tol"),
        ),
        latent,
    ),
}
