"""Every function of the language.  A new function is one record in its topic's file."""

from ppl.stdlib.functions import (
    bessel,
    constants,
    elementary,
    error_functions,
    gamma_functions,
    links,
    log_space,
    operators,
    powers,
    steps,
    trigonometry,
)
from ppl.stdlib.record import Function

TOPICS = (
    constants,
    elementary,
    powers,
    log_space,
    links,
    trigonometry,
    steps,
    gamma_functions,
    bessel,
    error_functions,
    operators,
)

FUNCTIONS: tuple[Function, ...] = tuple(f for topic in TOPICS for f in topic.FUNCTIONS)
