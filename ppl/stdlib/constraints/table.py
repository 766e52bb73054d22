"""Every constraint of the language.  A new constraint is one file, its import and its name here."""

from collections.abc import Mapping
from types import MappingProxyType

from ppl.stdlib.constraints.bounds import LOWER, LOWER_UPPER, UPPER
from ppl.stdlib.constraints.complex_numbers import COMPLEX
from ppl.stdlib.constraints.correlation import CHOLESKY_FACTOR_CORR, CORR_MATRIX
from ppl.stdlib.constraints.covariance import CHOLESKY_FACTOR_COV, COV_MATRIX
from ppl.stdlib.constraints.identity import IDENTITY
from ppl.stdlib.constraints.offset_multiplier import OFFSET_MULTIPLIER
from ppl.stdlib.constraints.ordered import ORDERED, POSITIVE_ORDERED
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.simplex import COLUMN_STOCHASTIC_MATRIX, ROW_STOCHASTIC_MATRIX, SIMPLEX
from ppl.stdlib.constraints.sum_to_zero import SUM_TO_ZERO_MATRIX, SUM_TO_ZERO_VECTOR
from ppl.stdlib.constraints.unit_vector import UNIT_VECTOR

CONSTRAINTS: tuple[Constraint, ...] = (
    *(IDENTITY, COMPLEX, LOWER, UPPER, LOWER_UPPER, OFFSET_MULTIPLIER),
    *(ORDERED, POSITIVE_ORDERED, SIMPLEX, UNIT_VECTOR, SUM_TO_ZERO_VECTOR, SUM_TO_ZERO_MATRIX),
    *(COV_MATRIX, CORR_MATRIX, CHOLESKY_FACTOR_COV, CHOLESKY_FACTOR_CORR),
    *(ROW_STOCHASTIC_MATRIX, COLUMN_STOCHASTIC_MATRIX),
)

CONSTRAINT_BY_KEYWORD: Mapping[str, Constraint] = MappingProxyType({c.keyword: c for c in CONSTRAINTS})

ELEMENTWISE = frozenset(c.keyword for c in (IDENTITY, LOWER, UPPER, LOWER_UPPER, OFFSET_MULTIPLIER))
"""Maps of each element by itself: their unconstrained elements are named like the constrained ones."""
