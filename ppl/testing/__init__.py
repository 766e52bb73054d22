"""The laws that a record of the language obeys, for the records of the package and for a user's own.

Each check raises AssertionError, which names the record and the law and gives the numbers.
"""

from ppl.testing.constraints import check_constraint
from ppl.testing.distributions import check_distribution
from ppl.testing.functions import Domain, check_function, exactly, interval

__all__ = [
    "Domain",
    "check_constraint",
    "check_distribution",
    "check_function",
    "exactly",
    "interval",
]
