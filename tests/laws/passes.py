"""The law of the passes: a program means the same with any of them left out."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ppl.arrays import AUTOGRAD
from ppl.backend.emit import emit
from ppl.backend.load import Module, compile_text, load
from ppl.frontend.check import check
from ppl.frontend.parser import parse
from ppl.ir.lower import lower
from ppl.ir.nodes import Program
from ppl.ir.passes.apart import prepare_parts
from ppl.ir.passes.table import PASSES, REQUIRED, Pass
from ppl.model import Model
from ppl.posterior import Posterior
from ppl.source import SourceText

ALL = (*PASSES, prepare_parts)
OPTIONAL = tuple(p for p in ALL if p not in REQUIRED)

SUBSETS = {
    "all": ALL,
    **{f"without {p.__name__}": tuple(q for q in ALL if q is not p) for p in OPTIONAL},
}
"""Each pass left out in turn."""


class AsItStands(Model):
    """A model whose gradients run the text that its values run."""

    @cached_property
    def traced(self) -> Module:
        return load(self.emitted, self.code, AUTOGRAD, self.softplus)

    @cached_property
    def quick(self) -> Program:
        return self.program


def lowered(text: str) -> Program:
    """The resolved program before any pass."""
    tree = parse(SourceText(text))
    return lower(tree, check(tree))


def run(program: Program, passes: Sequence[Pass]) -> Program:
    for transform in passes:
        program = transform(program)
    return program


def posterior(
    text: str, data: Mapping[str, Any], passes: Sequence[Pass] = ALL, kind: type[Model] = Model
) -> Posterior:
    """The posterior of a program compiled with some of the passes."""
    return model_of(text, run(lowered(text), passes), kind).condition(data)


def model_of(text: str, program: Program, kind: type[Model] = Model) -> Model:
    """The model that runs a program as its passes left it."""
    source, emitted = SourceText(text), emit(program)
    return kind(source, program, program, emitted, compile_text(emitted, source.name))


def reference(text: str, data: Mapping[str, Any]) -> Posterior:
    """The posterior of the program as it is written, no pass run but those without which none is emitted."""
    return posterior(text, data, REQUIRED, AsItStands)


def assert_same(a: Posterior, b: Posterior, u: np.ndarray) -> None:
    """Density, gradient and every value, random draws included, of one point and of many, to rounding."""
    value, (density, gradient) = b.log_density(u), b.log_density_gradient(u)
    close(density, value)
    close(a.log_density(u), value)
    both = np.stack([u, u])
    close(a.log_densities(both), [value, value])
    for got, slope in (a.log_density_gradient(u), [x[1] for x in a.log_density_gradients(both)]):
        close(got, value)
        close(slope, gradient, 1e-11)  # its terms cancel: digits are lost before the sum
    close(values(a, u), values(b, u))
    assert len(values(a, u)) == len(a.param_names(include_tp=True, include_gq=True))


def values(p: Posterior, u: np.ndarray) -> np.ndarray:
    return p.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(3))


def close(got: Any, want: Any, tolerance: float = 1e-12) -> None:
    """Relative to the largest entry: sums in another order round differently."""
    largest = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * largest)
