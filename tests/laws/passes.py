"""The law of the passes: a program means the same with any of them left out, in every form that runs."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

import numpy as np
from laws.fixed_draws import Fixed
from laws.verifier.compilation import verify_pass

from ppl.compilation.phases import Compilation
from ppl.density.many_points import BATCH
from ppl.errors import Rejection
from ppl.kernel.emit.load import Code
from ppl.kernel.ir.lower import lower
from ppl.kernel.ir.nodes import Program
from ppl.kernel.language.check import check
from ppl.kernel.language.parser import parse
from ppl.model import Model
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import DRAWS, GRADIENT, PROPTO, VALUES, Form
from ppl.optimise.passes.table import PASSES, Pass
from ppl.posterior import Posterior
from ppl.records import dataclass, field, replace
from ppl.source import SourceText

Floats = np.ndarray

OPTIONAL = tuple(each for each in PASSES.values() if not each.required)
NONE = frozenset(each.name for each in OPTIONAL)
"""Left out, they leave the program as it is written but for the passes that nothing runs without."""

LEFT_OUT = {
    "all": frozenset[str](),
    **{f"without {each.name}": frozenset({each.name}) for each in OPTIONAL},
}
"""Each pass left out in turn."""

RUN = (VALUES, GRADIENT, PROPTO, DRAWS)
"""The forms that run; those of rows need a size."""


def only(kept: Pass) -> frozenset[str]:
    """What to leave out so that of the passes that may be left out one is run."""
    return NONE - {kept.name}


@cache
def lowered(text: str) -> Program:
    """The resolved program before any pass; several laws of a program share it."""
    tree = parse(SourceText(text))
    return lower(tree, check(tree))


def model_of(text: str, without: Collection[str] = ()) -> Model:
    """The model of a program, some passes left out."""
    return Model(Compilation(SourceText(text), without=frozenset(without)))


@dataclass(frozen=True, repr=False)
class Broken(Compilation):
    """A program of which one form, and all that are made of it, has gone through a wrong pass as its last."""

    at: str = ""
    wrong: Callable[[Program], Program] = lambda program: program

    def program(self, form: Form = VALUES) -> Program:
        program = super().program(form)
        return self.wrong(program) if form.name == self.at else program


def broken(text: str, at: str, wrong: Callable[[Program], Program]) -> Model:
    """The model of a program with a wrong pass at the end of the form of that name."""
    return Model(Broken(SourceText(text), at=at, wrong=wrong))


def posterior(text: str, data: Mapping[str, Any], without: Collection[str] = ()) -> Posterior:
    """The posterior of a program compiled with some passes left out."""
    return model_of(text, without).condition(data)


def reference(text: str, data: Mapping[str, Any]) -> Posterior:
    """The posterior of the program as it is written, no pass run but those without which none is emitted."""
    return posterior(text, data, NONE)


@dataclass(frozen=True, repr=False)
class Variant(Compilation):
    """A program with passes left out that shares its forms and their code with its siblings.

    A pass that returns an equal program has returned its argument, so equal programs are one object here;
    `runs` is what a pass made of an object, `checked_ids` are the objects found well formed if what passes
    make is `verified`, and `first` is the sibling that emits the code of an object.
    """

    verified: bool = False
    runs: dict[tuple[Pass, int], Program | DrawByDraw] = field(default_factory=dict, compare=False)
    checked_ids: set[int] = field(default_factory=set, compare=False)
    first: dict[tuple[str, int], Compilation] = field(default_factory=dict, compare=False)
    discrete = None

    def program(self, form: Form = VALUES) -> Program:
        """A form of the program; a pass runs once on equal programs."""
        if form.name not in self.programs:
            program = self.program(form.base) if form.base else self.lowered
            for each in form.passes:
                if each.name not in self.without:
                    program = self.result(each, program)
                    self.check_once(form, each, program)
            self.programs[form.name] = program
        return self.programs[form.name]

    def check_once(self, form: Form, last: Pass, program: Program) -> None:
        if self.verified and id(program) not in self.checked_ids:
            verify_pass(form, program, last)
            self.checked_ids.add(id(program))

    def result(self, each: Pass, program: Program) -> Program:
        key = each, id(program)  # by its name alone the rows of one size would be those of another
        if key not in self.runs:
            try:
                made = each.run(program)
                known = (program, *(found for (one, _), found in self.runs.items() if one == each))
                self.runs[key] = next((found for found in known if found == made), made)
            except DrawByDraw as why:
                self.runs[key] = why
        found = self.runs[key]
        if isinstance(found, DrawByDraw):
            raise found
        return found

    def code(self, form: Form = VALUES) -> Code:
        """The code of the first sibling that has the same program in this form."""
        owner = self.first.setdefault((form.name, id(self.program(form))), self)
        return super().code(form) if owner is self else owner.code(form)


def shared(text: str) -> Variant:
    """The program with all passes, which shares what is compiled with its variants."""
    return Variant(SourceText(text), part=lowered(text))


def variants(whole: Variant) -> Iterator[tuple[str, Model]]:
    """The program with all passes, and with each left out in turn, by what is left out."""
    for name, without in LEFT_OUT.items():
        yield name, Model(replace(whole, without=without))


def programs_of(model: Model) -> list[Program | None]:
    """The program in every form that runs."""
    return [form_of(model, form) for form in RUN]


def form_of(model: Model, form: Form) -> Program | None:
    try:
        return model.program(form)
    except DrawByDraw:
        return None


@dataclass(frozen=True, eq=False)
class Expected:
    """What a posterior says at a point, computed once for all that are compared with it."""

    posterior: Posterior
    u: Floats

    @cached_property
    def value(self) -> float:
        value = self.posterior.log_density(self.u)
        close(self.gradient[0], value)
        return value

    @cached_property
    def propto(self) -> float:
        return self.posterior.log_density(self.u, propto=True)

    @cached_property
    def gradient(self) -> tuple[float, Floats]:
        return self.posterior.log_density_gradient(self.u)

    @cached_property
    def values(self) -> Floats:
        return values(self.posterior, self.u)

    @cached_property
    def draw(self) -> Floats | None:
        """All columns; random numbers depend on their arguments. None if the program rejects the point."""
        try:
            return self.posterior.param_constrain(self.u, include_tp=True, include_gq=True, rng=Fixed())
        except Rejection:
            return None

    @cached_property
    def many(self) -> Floats:
        """As many points as are evaluated at once."""
        return np.stack([self.u] * BATCH.fewest_points)


def same_value(p: Posterior, expected: Expected) -> None:
    close(p.log_density(expected.u), expected.value)


def same_propto(p: Posterior, expected: Expected) -> None:
    close(p.log_density(expected.u, propto=True), expected.propto)


def same_gradient(p: Posterior, expected: Expected) -> None:
    close_gradient(p.log_density_gradient(expected.u), expected)


def same_at_many_points(p: Posterior, expected: Expected) -> None:
    close(p.log_densities(expected.many), [expected.value] * len(expected.many))
    for pair in zip(*p.log_density_gradients(expected.many), strict=True):
        close_gradient(pair, expected)


def close_gradient(got: tuple[float, Floats], expected: Expected) -> None:
    close(got[0], expected.value)
    close(got[1], expected.gradient[1], 1e-11)  # its terms cancel: digits are lost before the sum


def same_values(p: Posterior, expected: Expected) -> None:
    found = values(p, expected.u)
    close(found, expected.values)
    assert len(found) == len(p.param_names(include_tp=True, include_gq=True))


def same_draws(p: Posterior, expected: Expected) -> None:
    """The variables of all draws at once, where the program has that form."""
    if p.draws_at_once > 1 and expected.draw is not None:
        found = p.param_constrain_draws(expected.many, Fixed())
        close(found, [expected.draw] * len(expected.many))


CHECKS: Mapping[Callable[[Posterior, Expected], None], tuple[Form, ...]] = {
    same_value: (VALUES, GRADIENT),
    same_gradient: (VALUES, GRADIENT),
    same_propto: (VALUES, PROPTO),
    same_at_many_points: (VALUES, GRADIENT),
    same_values: (VALUES,),
    same_draws: (VALUES, DRAWS),
}
"""What is compared, and the forms that it runs; those of many points follow from the kernels."""


def assert_same(a: Posterior, b: Posterior, u: Floats) -> None:
    """Density, gradient and every value, random draws included, of one point and of many, to rounding."""
    expected = Expected(b, u)
    for same in CHECKS:
        same(a, expected)


def assert_law(text: str, data: Mapping[str, Any], *points: Floats) -> None:
    """The program means what is written with all passes and with each left out."""
    assert_law_of(shared(text), data, *points)


def assert_law_of(whole: Variant, data: Mapping[str, Any], *points: Floats) -> None:
    """The same of a program that other laws or data share: each pass runs once.

    What runs the same programs is compared once; the message names every comparison that failed.
    """
    plain = Model(replace(whole, without=NONE)).condition(data)
    expected = [Expected(plain, u) for u in points]
    made: set[tuple[object, ...]] = set()
    failures = []
    for name, model in variants(whole):
        compiled = None
        for same, forms in CHECKS.items():
            ran = (same, *(id(form_of(model, form)) for form in forms))
            if ran in made:
                continue
            made.add(ran)
            compiled = compiled or model.condition(data)
            for each in expected:
                try:
                    same(compiled, each)
                except Exception as error:
                    failures.append(f"{name}, {same.__name__}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


def values(p: Posterior, u: Floats) -> Floats:
    return p.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(3))


def close(got: Any, want: Any, tolerance: float = 1e-12) -> None:
    """Relative to the largest entry: sums in another order round differently."""
    largest = np.max(np.abs(want), initial=1.0, where=np.isfinite(want))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * largest)
