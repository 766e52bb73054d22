"""The kinds of pictures, in the order of a report."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ppl.results.pictures.effects import EFFECTS_KIND
from ppl.results.pictures.kind import Kind
from ppl.results.pictures.leave_one_out import KHAT, LOO_PIT
from ppl.results.pictures.marginals import FOREST, MARGINALS, PRIOR_KIND
from ppl.results.pictures.material import Material
from ppl.results.pictures.pairs import COVARIANCE, PAIRS
from ppl.results.pictures.ppc import PPC, ROOTOGRAM
from ppl.results.pictures.predictive import GROUPS_KIND, PREDICTIVE
from ppl.results.pictures.trace import ELBO, ENERGY_KIND, RANK, TRACE_KIND

_EVERY = (FOREST, MARGINALS, PRIOR_KIND, PPC, PREDICTIVE, GROUPS_KIND, ROOTOGRAM, LOO_PIT, KHAT, EFFECTS_KIND)
_OF_DRAWS = (PAIRS, COVARIANCE, TRACE_KIND, RANK, ENERGY_KIND, ELBO)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (*_EVERY, *_OF_DRAWS)}


def parts(material: Material, kind: Kind) -> Iterator[tuple[str, Material]]:
    """The material of each picture of a kind; the name of its outcome where there are several."""
    names = [*material.outcomes] or [rows.outcome for rows in material.log_liks]
    if not kind.by_outcome or len(names) < 2:
        yield "", material
        return
    for name in names:
        own = {name: material.outcomes[name]} if name in material.outcomes else {}
        rows = tuple(rows for rows in material.log_liks if rows.outcome == name)
        yield name, replace(material, outcomes=own, log_liks=rows)


def not_drawn(kinds: Iterable[Kind], material: Material) -> Iterator[str]:
    """The needs of each kind that cannot be drawn."""
    for kind in kinds:
        for need in kind.missing(material)[:1]:
            yield f"No picture {kind.name}: it needs {need.how or need.what}."
