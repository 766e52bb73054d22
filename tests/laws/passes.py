"""The law of the passes: a program means the same with any of them left out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ppl.backend.emit import emit
from ppl.backend.load import compile_text
from ppl.compile import compile_model
from ppl.frontend.check import check
from ppl.frontend.parser import parse
from ppl.ir.lower import lower
from ppl.ir.nodes import Program
from ppl.ir.passes.counters import count_by_loops
from ppl.ir.passes.fills import fill_whole
from ppl.ir.passes.hoist_data import hoist_data
from ppl.ir.passes.idle import without_idle
from ppl.ir.passes.pairs import lay_out_pairs
from ppl.ir.passes.share import share
from ppl.ir.passes.table import PASSES, Pass
from ppl.ir.passes.vectorise_loops import vectorise_loops
from ppl.ir.passes.write_out import write_out
from ppl.posterior import Posterior
from ppl.source import SourceText

LEFT_OUT = (
    *(write_out, count_by_loops, vectorise_loops, fill_whole, lay_out_pairs),
    *(without_idle, hoist_data, share),
)
NEEDED = tuple(p for p in PASSES if p not in LEFT_OUT)
"""Passes without which nothing can be emitted."""

SUBSETS = {
    "count_by_loops": (write_out, count_by_loops, *NEEDED),
    "fill_whole": tuple(p for p in PASSES if p is not lay_out_pairs),
    "vectorise_loops": tuple(p for p in PASSES if p is not hoist_data),
    "hoist_data": tuple(p for p in PASSES if p is not vectorise_loops),
    "all": PASSES,
}


def lowered(text: str) -> Program:
    """The resolved program before any pass."""
    tree = parse(SourceText(text))
    return lower(tree, check(tree))


def run(program: Program, passes: Sequence[Pass]) -> Program:
    for transform in passes:
        program = transform(program)
    return program


def posterior(text: str, data: Mapping[str, Any], passes: Sequence[Pass] = PASSES) -> Posterior:
    """The posterior of a program compiled with some of the passes."""
    model, program = compile_model(text), run(lowered(text), passes)
    emitted = emit(program)
    code = compile_text(emitted, model.source.name)
    return replace(model, program=program, emitted=emitted, code=code).condition(data)


def assert_same(a: Posterior, b: Posterior, u: np.ndarray) -> None:
    """Density, gradient and every value, random draws included, to rounding."""
    density, gradient = a.log_density_gradient(u)
    other, other_gradient = b.log_density_gradient(u)
    close(b.log_density(u), other)
    close(density, other)
    close(gradient, other_gradient, 1e-11)  # its terms cancel: digits are lost before the sum
    close(values(a, u), values(b, u))


def values(p: Posterior, u: np.ndarray) -> np.ndarray:
    return p.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(3))


def close(got: Any, want: Any, tolerance: float = 1e-12) -> None:
    """Relative to the largest entry: sums in another order round differently."""
    largest = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * largest)
