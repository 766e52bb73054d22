"""Variational families."""

from collections.abc import Callable

from ppl.errors import InferenceError
from ppl.inference.families.diagonal import Diagonal
from ppl.inference.families.family import Family
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.low_rank import LowRank
from ppl.inference.families.mean_field import MeanField

FAMILIES: dict[str, Callable[[int], Family]] = {
    "meanfield": MeanField,
    "fullrank": FullRank,
    "lowrank": LowRank.of,
    "diagonal": Diagonal,
}


def family_of(name: str, dim: int, rank: int | None = None) -> Family:
    """The family of that name over R^dim, of that rank where it has one.

    Raises:
        InferenceError: there is no family of that name.
    """
    if name not in FAMILIES:
        raise InferenceError(f"algorithm = {name!r} is unknown; expected one of {', '.join(FAMILIES)}.")
    return LowRank(dim, rank) if name == "lowrank" and rank else FAMILIES[name](dim)
