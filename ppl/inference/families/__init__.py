"""Variational families."""

from collections.abc import Callable, Mapping
from typing import Any

from ppl.errors import InferenceError
from ppl.inference.families.diagonal import Diagonal
from ppl.inference.families.family import Family
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.low_rank import LowRank
from ppl.inference.families.marginal import Marginal
from ppl.inference.families.mean_field import MeanField
from ppl.inference.families.point import Point
from ppl.inference.families.standard import STANDARDS

FAMILIES: dict[str, Callable[[int], Family]] = {
    "meanfield": MeanField,
    "fullrank": FullRank,
    "lowrank": LowRank.of,
    "diagonal": Diagonal,
}


KINDS: dict[type, str] = {
    MeanField: "meanfield",
    FullRank: "fullrank",
    LowRank: "lowrank",
    Diagonal: "diagonal",
    Point: "point",
    Marginal: "marginal",
}


def describe(family: Family) -> dict[str, Any]:
    """What `family_from` needs beside the dimension, fit for JSON."""
    standard = next(name for name, kind in STANDARDS.items() if kind is type(family.standard))
    own: dict[str, Any] = {}
    if isinstance(family, LowRank):
        own = {"rank": family.rank}
    if isinstance(family, Marginal):
        own = {"at": list(family.at)}
    return {"family": KINDS[type(family)], "standard": standard, **vars(family.standard), **own}


def family_from(description: Mapping[str, Any], dim: int) -> Family:
    """The family over R^dim that was described."""
    rest = dict(description)
    kind = {name: kind for kind, name in KINDS.items()}[rest.pop("family")]
    own = {name: rest.pop(name) for name in ("rank", "at") if name in rest}
    if "at" in own:
        own["at"] = tuple(own["at"])
    made: Family = kind(dim, **own, standard=STANDARDS[rest.pop("standard")](**rest))
    return made


def family_of(name: str, dim: int, rank: int | None = None) -> Family:
    """The family of that name over R^dim, of that rank where it has one.

    Raises:
        InferenceError: there is no family of that name.
    """
    if name not in FAMILIES:
        raise InferenceError(f"algorithm = {name!r} is unknown; expected one of {', '.join(FAMILIES)}.")
    return LowRank(dim, rank) if name == "lowrank" and rank else FAMILIES[name](dim)
