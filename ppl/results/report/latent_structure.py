"""The latent structure of a program with its data in words: which parameters are independent given which."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.density.statement_costs import point_of
from ppl.methods.nested.sparse import Field
from ppl.methods.nested.structure import structure_of
from ppl.run.posterior_target import PosteriorTarget

NONE_FOUND = (
    "No latent structure was found: given a few parameters, the remaining ones do not form a sparse graph."
)
WIDEST_BLOCK = 6
"""Parameters of a set that meets no others up to which it is called a block."""


def latent_lines(posterior: LogDensity) -> Iterator[str]:
    """The structure that `auto` and `nested` use, as the end of a plan; nothing without a finite density."""
    u = point_of(posterior) if posterior.param_unc_num() else None
    if u is None:
        return
    with np.errstate(all="ignore"):
        structure = structure_of(PosteriorTarget(posterior), u, np.random.default_rng(0))
    if structure is None:
        yield NONE_FOUND
        return
    yield "Latent structure:"
    names = posterior.param_unc_names()
    widest = np.bincount(structure.components).max()
    in_words = blocks_in_words if widest <= WIDEST_BLOCK else field_in_words
    lines = in_words(structure, names)
    yield from (f"  {line}" for line in lines)


def blocks_in_words(field: Field, names: Sequence[str]) -> Iterator[str]:
    """A line for the blocks of each set of variables, such as `theta[1:8]: independent given mu, tau ...`."""
    given = ", ".join(entries(names[k] for k in field.outer))
    alike = defaultdict[tuple[str, ...], list[list[str]]](list)
    order = np.lexsort((field.latent, field.components))
    ends = np.flatnonzero(np.diff(field.components[order])) + 1
    for block in sorted(np.split(field.latent[order], ends), key=lambda block: int(block[0])):
        own = [names[k] for k in block]
        alike[tuple(name.partition(".")[0] for name in own)].append(own)
    for variables, blocks in alike.items():
        latent = ", ".join(entries(name for block in blocks for name in block))
        count = f"{len(blocks):,} block{'s' if len(blocks) > 1 else ''} of {len(variables)}"
        yield f"{latent}: independent given {given} ({count})"


def field_in_words(field: Field, names: Sequence[str]) -> Iterator[str]:
    """A line such as `h[1:500]: each depends on at most 2 others given mu, phi, sigma (bandwidth 1)`."""
    latent, given = (
        ", ".join(entries(names[k] for k in some)) for some in (sorted(field.latent), field.outer)
    )
    first, second = field.pairs[:, field.pairs[0] != field.pairs[1]]
    most = int(np.bincount(np.concatenate([first, second])).max())
    count = f"at most {most} other{'s' if most > 1 else ''}"
    yield f"{latent}: each depends on {count} given {given} (bandwidth {field.bandwidth})"


def entries(names: Iterable[str]) -> list[str]:
    """Names of unconstrained elements by variable: `b.1`, `b.2` and `mu` are `b[1:2]` and `mu`."""
    indices = defaultdict[str, list[tuple[int, ...]]](list)
    for name in names:
        variable, *index = name.split(".")
        indices[variable].append(tuple(map(int, index)))
    return [variable + (range_of(some) if some[0] else "") for variable, some in indices.items()]


def range_of(indices: list[tuple[int, ...]]) -> str:
    """Indices as ranges, `[1:2, 1:60]`, where they are all within these; else how many they are."""
    ends = [(min(axis), max(axis)) for axis in zip(*indices, strict=True)]
    if np.prod([last - first + 1 for first, last in ends]) != len(indices):
        return f" ({len(indices):,} entries)"
    return f"[{', '.join(str(first) if first == last else f'{first}:{last}' for first, last in ends)}]"
