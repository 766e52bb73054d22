"""Every function of the language.  A new function is one record in its topic's file.

A new file is its import and its name in TOPICS.
"""

from ppl.stdlib.functions import (
    complex_decompositions,
    complex_parts,
    constants,
    constraint_functions,
    conversions,
    covariance_functions,
    decompositions,
    diagonals,
    elementary,
    fills,
    fourier,
    gamma_functions,
    hmm,
    laplace_options,
    links,
    log_sums,
    operators,
    products,
    quadratic_forms,
    sizes,
    slices,
    solves,
    sorting,
    sparse,
    special_functions,
    steps,
    sums,
    symmetric,
    wiener_cumulative,
)
from ppl.stdlib.functions.complex_overloads import with_complex
from ppl.stdlib.record import Function

TOPICS = (
    *(constants, complex_parts, elementary, links, steps),
    *(gamma_functions, special_functions, operators, conversions, diagonals, fills, log_sums),
    *(products, sizes, slices, sorting, sparse, sums, solves, symmetric, quadratic_forms),
    *(decompositions, complex_decompositions, fourier, covariance_functions, hmm),
    *(constraint_functions, laplace_options, wiener_cumulative),
)

FUNCTIONS: tuple[Function, ...] = tuple(with_complex(f) for topic in TOPICS for f in topic.FUNCTIONS)

JACOBIAN_FUNCTIONS = constraint_functions.JACOBIAN_FUNCTIONS
"""Functions that add to the target; their implementations return (value, what to add)."""
