"""Random draws as a program makes them: an rng that looks at its arguments first, as those of Stan do.

What NumPy makes of arguments out of their domain is an error of its own for some, and for others a number.
"""

from typing import Any

import numpy as np

from ppl.errors import Rejection
from ppl.stdlib.constraints.sentences import first_element
from ppl.stdlib.record import Distribution, Impl, Relation
from ppl.stdlib.supports import SUPPORTS, fault


def drawn(family: Distribution) -> Impl:
    """The rng of a family, which raises Rejection for arguments that are not what its record says."""
    draw, relations = family.rng, family.relations
    assert draw is not None
    supports = {name: SUPPORTS[support] for name, support in rng_args(family)}

    def checked(rng: np.random.Generator, *args: Any) -> Any:
        for (name, support), value in zip(supports.items(), args, strict=True):
            if not everywhere(support.contains(value)):
                raise refused(family, name, fault(support, value))
        for relation in relations:
            if not everywhere(relation.holds(*args)):
                raise refused(family, relation.name, unrelated(relation, list(supports), args))
        return draw(rng, *args)

    return checked


def everywhere(holds: Any) -> bool:
    """np.all, which takes its time for the one bool that a scalar has."""
    return holds is True or holds is np.True_ or bool(np.all(holds))


def rng_args(family: Distribution) -> tuple[tuple[str, str], ...]:
    """The name and the support of each argument of the rng."""
    return family.rng_args or family.args[1:]


def unrelated(relation: Relation, names: list[str], args: tuple[Any, ...]) -> str:
    """The sentence on the first entry that does not go with the others."""
    holds = np.asarray(relation.holds(*args))
    value = np.broadcast_to(args[names.index(relation.name)], holds.shape)
    return first_element(value, holds, relation.must_be) or ""


def refused(family: Distribution, name: str, sentence: str) -> Rejection:
    between = "" if sentence.startswith("[") else " "
    return Rejection(f"`{family.name}_rng`: {name}{between}{sentence}.")
