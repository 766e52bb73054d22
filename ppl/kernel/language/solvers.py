"""Solvers and integrals, which take a function of the program: what they want, and what it gets.

Stan Functions Reference, "Higher-order functions" and "Removed and deprecated functions".
"""

from collections.abc import Sequence

from ppl.kernel.language import ast
from ppl.kernel.language.calls import refuse_parameters
from ppl.kernel.language.facts import Check, UserMatch
from ppl.records import dataclass, replace
from ppl.stdlib.signatures import promotes
from ppl.types import INT, REAL, VECTOR, ArrayType, Type

REALS, INTS = ArrayType(REAL), ArrayType(INT)


@dataclass(frozen=True)
class Solver:
    """The call name(f, *leads, *shared, *tail), f being called with `own` and what is shared.

    `shared` are the types of what is shared, None for any; the settings in `tail` may be left out.  The leads
    at `start` are what f gets first, those at `settings` are the solver's alone.  All but the first `free`
    leads must be data, all but the first of the types that are shared, and the tail.
    """

    leads: tuple[Type, ...]
    own: tuple[Type, ...]
    gives: Type
    result: Type
    start: tuple[int, ...]
    settings: tuple[int, ...] = ()
    free: int = 0
    shared: tuple[Type, ...] | None = None
    tail: tuple[Type, ...] = ()

    def split(self, args: Sequence[Type]) -> tuple[int, int] | None:
        """How many arguments come before the tail, and how many there are; None where they do not fit."""
        before = len(args) if self.shared is None else len(self.leads) + len(self.shared)
        expected = [*self.leads, *(self.shared or args[len(self.leads) :]), *self.tail]
        if len(args) not in (before, before + len(self.tail)) or len(args) < len(self.leads):
            return None
        fits = all(promotes(a, w) is not None for a, w in zip(args, expected, strict=False))
        return (before, len(args)) if fits else None


def ode(*more: Type, settings: tuple[int, ...] = (2, 3, 4, 5)) -> Solver:
    """dy/dt = f(t, y, ...) from (y0, t0) at the times ts; `more` are tolerances."""
    leads = (VECTOR, REAL, REALS, *more)
    known = tuple(i for i in settings if i < len(leads))
    return Solver(leads, (REAL, VECTOR), VECTOR, ArrayType(VECTOR), (1, 0), known, 3)


ODE, ODE_TOL = ode(), ode(REAL, REAL, INT)
ODE_ADJOINT = ode(REAL, VECTOR, REAL, VECTOR, REAL, REAL, INT, INT, INT, INT, INT, settings=(2, 3, 4, 9))
OLD_ODE = Solver(
    leads=(REALS, REAL, REALS),
    own=(REAL, REALS),
    gives=REALS,
    result=ArrayType(REAL, 2),
    start=(1, 0),
    settings=(2,),
    free=3,
    shared=(REALS, REALS, INTS),
    tail=(REAL, REAL, REAL),
)
ROOT = Solver((VECTOR,), (VECTOR,), VECTOR, VECTOR, (0,), (), 1)
ROOT_TOL = replace(ROOT, leads=(VECTOR, REAL, REAL, INT), settings=(1, 2, 3))
OLD_ROOT = replace(ROOT, shared=(VECTOR, REALS, INTS), tail=(REAL, REAL, REAL))
INTEGRAL = Solver((REAL, REAL), (REAL, REAL), REAL, REAL, (0, 1), (), 2)
INTEGRAL_TOL = replace(INTEGRAL, leads=(REAL, REAL, REAL, REAL, INT), settings=(2, 3, 4))
OLD_INTEGRAL = replace(INTEGRAL, shared=(REALS, REALS, INTS), tail=(REAL,))

SOLVERS: dict[str, Solver] = {
    **dict.fromkeys(("ode_rk45", "ode_ckrk", "ode_adams", "ode_bdf"), ODE),
    **dict.fromkeys(("ode_rk45_tol", "ode_ckrk_tol", "ode_adams_tol", "ode_bdf_tol"), ODE_TOL),
    "ode_adjoint_tol_ctl": ODE_ADJOINT,
    **dict.fromkeys(("integrate_ode_rk45", "integrate_ode_adams", "integrate_ode_bdf"), OLD_ODE),
    "integrate_ode": replace(OLD_ODE, tail=()),
    **dict.fromkeys(("solve_newton", "solve_powell"), ROOT),
    **dict.fromkeys(("solve_newton_tol", "solve_powell_tol"), ROOT_TOL),
    **dict.fromkeys(("algebra_solver", "algebra_solver_newton"), OLD_ROOT),
    **dict.fromkeys(("integrate_1d_double_exponential", "integrate_1d_gauss_kronrod"), INTEGRAL),
    **dict.fromkeys(("integrate_1d_double_exponential_tol", "integrate_1d_gauss_kronrod_tol"), INTEGRAL_TOL),
    "integrate_1d": OLD_INTEGRAL,
}


def function_arguments(name: str, args: Sequence[Type]) -> list[Type] | None:
    """The types of the function's arguments if `name` is called with these; None if they do not fit."""
    solver = SOLVERS[name]
    parts = solver.split(args)
    if parts is None:
        return None
    extra = args[len(solver.leads) : parts[0]]
    return [*solver.own, *(solver.shared or extra)]


def check_data_only(c: Check, e: ast.Call, called: UserMatch) -> None:
    """Tolerances are data, what is shared from the second on, and what the function itself wants as data."""
    solver = SOLVERS[e.name]
    leads = len(solver.leads)
    before = len(e.args) - 1 if solver.shared is None else leads + len(solver.shared)
    shared = called.function.data_only[len(solver.own) :]
    positions = [*range(solver.free, leads), *range(before, len(e.args) - 1)]
    known = solver.shared is not None
    positions += [leads + i for i, data_only in enumerate(shared) if data_only or (known and i > 0)]
    refuse_parameters(c, e, sorted(i + 1 for i in positions))


def shape_of_call(name: str) -> str:
    """The call as a message shows it."""
    solver = SOLVERS[name]
    shared = (
        ["..."] if solver.shared is None else [f"{'data ' * (i > 0)}{t}" for i, t in enumerate(solver.shared)]
    )
    leads = [f"{'data ' * (i >= solver.free)}{t}" for i, t in enumerate(solver.leads)]
    return f"{name}({', '.join(['f', *leads, *shared])})"
