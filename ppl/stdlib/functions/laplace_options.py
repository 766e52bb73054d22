"""The settings of the embedded Laplace approximation: Stan Functions Reference 2.39, "Control parameters"."""

from typing import Any

from ppl.arrays import Array, Namespace
from ppl.stdlib.laplace.mode import NEWTON
from ppl.stdlib.record import Function, function
from ppl.types import INT, REAL, VECTOR, Type

LAPLACE_OPTIONS: tuple[tuple[str, Type], ...] = (
    ("theta_init", VECTOR),
    ("tol", REAL),
    ("max_steps", INT),
    ("solver", INT),
    ("max_steps_linesearch", INT),
    ("allow_fallback", INT),
)
"""The settings of the `_tol` forms as one tuple, all of it data."""
SETTINGS_TEXT = f"tuple({', '.join(str(t) for _, t in LAPLACE_OPTIONS)})"
UNUSED_DEFAULTS = (1, 1000, 1)
"""Stan's solver, max_steps_linesearch and allow_fallback, which have no effect here."""


def from_start(xp: Namespace, theta_init: Array) -> tuple[Any, ...]:
    return theta_init, NEWTON.objective, NEWTON.most_steps, *UNUSED_DEFAULTS


FUNCTIONS: tuple[Function, ...] = (
    function(
        "generate_laplace_options",
        "the default settings of the embedded Laplace approximation, for n thetas or from theta_init",
        (f"(int) => {SETTINGS_TEXT}", lambda xp, size: from_start(xp, xp.np.zeros(int(size)))),
        (f"(vector) => {SETTINGS_TEXT}", from_start),
    ),
)
