"""The law of the passes: a program means the same with any of them left out, in every form that runs."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from laws.fixed_draws import Fixed

from ppl.errors import Rejection
from ppl.frontend.check import check
from ppl.frontend.parser import parse
from ppl.ir.forms import DRAWS, GRADIENT, KERNELS, PROPTO, VALUES, Form
from ppl.ir.lower import lower
from ppl.ir.nodes import Program
from ppl.ir.passes.draws_state import DrawByDraw
from ppl.ir.passes.table import PASSES, Pass
from ppl.model import Model
from ppl.posterior import Posterior
from ppl.source import SourceText

OPTIONAL = tuple(each for each in PASSES if not each.required)
NONE = frozenset(each.name for each in OPTIONAL)
"""Left out, they leave the program as it is written but for the passes that nothing runs without."""

LEFT_OUT = {
    "all": frozenset[str](),
    **{f"without {each.name}": frozenset({each.name}) for each in OPTIONAL},
}
"""Each pass left out in turn."""

RUN = (VALUES, GRADIENT, KERNELS, PROPTO, DRAWS)
"""The forms that run; those of rows need a size."""


def only(kept: Pass) -> frozenset[str]:
    """What to leave out so that of the passes that may be left out one is run."""
    return NONE - {kept.name}


def lowered(text: str) -> Program:
    """The resolved program before any pass."""
    tree = parse(SourceText(text))
    return lower(tree, check(tree))


def model_of(text: str, without: Collection[str] = (), kind: type[Model] = Model) -> Model:
    """The model of a program, some passes left out."""
    return kind(SourceText(text), lowered(text), without=frozenset(without))


@dataclass(frozen=True, repr=False)
class Broken(Model):
    """A model of which one form, and all that are made of it, has gone through a wrong pass as its last."""

    at: str = ""
    wrong: Callable[[Program], Program] = lambda program: program

    def program(self, form: Form = VALUES) -> Program:
        program = super().program(form)
        return self.wrong(program) if form.name == self.at else program


def broken(text: str, at: str, wrong: Callable[[Program], Program]) -> Model:
    """The model of a program with a wrong pass at the end of the form of that name."""
    return Broken(SourceText(text), lowered(text), at=at, wrong=wrong)


def posterior(text: str, data: Mapping[str, Any], without: Collection[str] = ()) -> Posterior:
    """The posterior of a program compiled with some passes left out."""
    return model_of(text, without).condition(data)


def reference(text: str, data: Mapping[str, Any]) -> Posterior:
    """The posterior of the program as it is written, no pass run but those without which none is emitted."""
    return posterior(text, data, NONE)


def variants(whole: Model) -> Iterator[Model]:
    """The program with each pass left out that changes one of its forms."""
    for without in LEFT_OUT.values():
        model = Model(whole.source, whole.lowered, without=without)
        if without and programs_of(model) != programs_of(whole):
            yield model


def programs_of(model: Model) -> list[Program | None]:
    """The program in every form that runs."""
    return [form_of(model, form) for form in RUN]


def form_of(model: Model, form: Form) -> Program | None:
    try:
        return model.program(form)
    except DrawByDraw:
        return None


def assert_same(a: Posterior, b: Posterior, u: np.ndarray) -> None:
    """Density, gradient and every value, random draws included, of one point and of many, to rounding."""
    value, (density, gradient) = b.log_density(u), b.log_density_gradient(u)
    close(density, value)
    close(a.log_density(u), value)
    close(a.log_density(u, propto=True), b.log_density(u, propto=True))
    both = np.stack([u, u])
    close(a.log_densities(both), [value, value])
    for got, slope in (a.log_density_gradient(u), [x[1] for x in a.log_density_gradients(both)]):
        close(got, value)
        close(slope, gradient, 1e-11)  # its terms cancel: digits are lost before the sum
    close(values(a, u), values(b, u))
    assert len(values(a, u)) == len(a.param_names(include_tp=True, include_gq=True))
    assert_same_draws(a, b, both)


def assert_same_draws(a: Posterior, b: Posterior, us: np.ndarray) -> None:
    """The variables of all draws at once, where they are had so; random numbers depend on their arguments."""
    if a.draws_at_once == 1:
        return
    try:
        alone = [b.param_constrain(u, include_tp=True, include_gq=True, rng=Fixed()) for u in us]
    except Rejection:
        return
    close(a.param_constrain_draws(us, Fixed()), np.array(alone))


def values(p: Posterior, u: np.ndarray) -> np.ndarray:
    return p.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(3))


def close(got: Any, want: Any, tolerance: float = 1e-12) -> None:
    """Relative to the largest entry: sums in another order round differently."""
    largest = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * largest)
