"""Every function of the language.  A new function is one record in its topic's file."""

from ppl.stdlib.functions import elementary, operators, powers
from ppl.stdlib.record import Function

FUNCTIONS: tuple[Function, ...] = (
    *elementary.FUNCTIONS,
    *powers.FUNCTIONS,
    *operators.FUNCTIONS,
)
