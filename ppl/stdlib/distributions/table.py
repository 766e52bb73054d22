"""Every distribution of the language.  A new family is one file and one line here."""

from ppl.stdlib.distributions import normal
from ppl.stdlib.record import Distribution

DISTRIBUTIONS: tuple[Distribution, ...] = (*normal.FAMILIES,)
