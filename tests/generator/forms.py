"""The forms in which a program is run, and what must be the same in all of them.

The reference is the program as it is written, without any pass that could be left out, in plain NumPy and
differentiated as it stands.  Its gradient is held to finite differences of its value.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np
from laws.batches import errors_of_batches
from laws.fixed_draws import Fixed
from laws.passes import NONE, OPTIONAL, Variant, lowered, model_of, only, programs_of

from ppl.arrays import AUTOGRAD, values_and_grads
from ppl.density.rows import by_rows
from ppl.density.tapes import Tapes
from ppl.errors import InferenceError, PPLError, Rejection
from ppl.kernel.emit.located import located
from ppl.kernel.emit.runtime import joined
from ppl.kernel.language.parser import parse
from ppl.kernel.language.printer import print_program
from ppl.model import Model
from ppl.optimise import forms as ir_forms
from ppl.optimise.tracing.namespace import TRACING
from ppl.optimise.tracing.tape import compiled_gradient
from ppl.posterior import Posterior
from ppl.programs.format import format_program
from ppl.records import dataclass, replace
from ppl.source import SourceText

POINTS = 4
VALUE, GRADIENT, DIFFERENCE = 1e-9, 1e-7, 1e-4
"""Tolerances, relative to the larger of 1 and the largest entry."""
SEED = 7

Floats = np.ndarray


@dataclass(frozen=True)
class Refused:
    """A form raised the user's error."""

    message: str


@dataclass(frozen=True)
class Crashed:
    """A form raised what is no PPLError."""

    message: str


Answer = Floats | Refused | Crashed


@dataclass(frozen=True)
class Disagreement:
    form: str
    quantity: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return (
            f"{self.form}: {self.quantity} is {as_text(self.found)}, but should be {as_text(self.expected)}"
        )

    @property
    def kind(self) -> tuple[str, str, str]:
        """What stays the same while the program shrinks."""
        return self.form, self.quantity, type(self.found).__name__


Comparison = tuple[str, Answer, Answer, float, Callable[[], float]]
"""What is compared, the reference's answer, the form's, the tolerance, and how ill-conditioned it is."""


def as_text(answer: Any) -> str:
    if isinstance(answer, Refused | Crashed):
        return f"{type(answer).__name__.lower()} ({answer.message.strip()})"
    return np.array2string(np.asarray(answer), precision=12, threshold=12)


def attempt(f: Callable[[], Any]) -> Answer:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(f(), dtype=float)
    except Rejection as error:
        return Refused(str(error))
    except PPLError as error:
        return Refused(str(error))
    except Exception as error:
        return Crashed(f"{type(error).__name__}: {error}")


@dataclass(frozen=True, eq=False)
class Case:
    """A program with its data, in every form that is asked for."""

    text: str
    data: Mapping[str, Any]

    @cached_property
    def program(self) -> Any:
        return lowered(self.text)

    @cached_property
    def model(self) -> Model:
        """With all passes, as `compile_model` makes it."""
        return Model(Variant(SourceText(self.text), part=self.program))

    @cached_property
    def posterior(self) -> Posterior:
        return self.model.condition(self.data)

    @cached_property
    def reference(self) -> Posterior:
        return model_of(self.text, NONE).condition(self.data)

    @cached_property
    def dim(self) -> int:
        return self.reference.param_unc_num()

    @cached_property
    def points(self) -> Floats:
        return np.random.default_rng(SEED).normal(0.0, 0.4, (POINTS, self.dim))

    @cached_property
    def values(self) -> list[Answer]:
        return [attempt(lambda u=u: self.reference.log_density(u)) for u in self.points]

    @cached_property
    def gradients(self) -> list[Answer]:
        return [attempt(lambda u=u: self.gradient(u)) for u in self.points]

    @cached_property
    def steady(self) -> list[bool]:
        """Where a gradient is one of numbers alone: 0 times a nan that the target leaves out is nan."""
        variables = [
            attempt(lambda u=u: self.reference.param_constrain(u, include_tp=True)) for u in self.points
        ]
        return [
            usable(value) and usable(gradient) and not has_nan(v)
            for value, gradient, v in zip(self.values, self.gradients, variables, strict=True)
        ]

    def gradient(self, u: Floats) -> Floats:
        """Of the reference, by autograd."""
        p, module = self.reference, self.reference.model.load(ir_forms.GRADIENT, AUTOGRAD)
        with np.errstate(all="ignore"), located(module):
            _, parts = values_and_grads(lambda v: module.log_joint(p.d, v, True), p.d.blocks(u))
        return joined(list(p.places.values()), parts)

    def constrained(self, u: Floats) -> Floats:
        return constrained(self.reference, u)

    def noise(self, f: Callable[[Floats], Any], u: Floats) -> float:
        """How much a number moves when its inputs are rounded, a thousand times over."""
        rng, at, change = np.random.default_rng(0), attempt(lambda: f(u)), 0.0
        for _ in range(4):
            near = attempt(lambda: f(u + 1e-14 * (1 + np.abs(u)) * rng.choice([-1, 1], len(u))))
            if isinstance(near, Floats) and isinstance(at, Floats) and near.shape == at.shape:
                with np.errstate(all="ignore"):
                    change = max(change, float(np.max(np.nan_to_num(np.abs(near - at)), initial=0.0)))
        return 1e3 * change


def constrained(p: Posterior, u: Floats) -> Floats:
    """Every value by name, with random numbers from one seed."""
    return p.param_constrain(u, include_tp=True, include_gq=True, rng=np.random.default_rng(SEED))


# --- The forms -----------------------------------------------------------------------------------


def of_posterior(case: Case, p: Posterior, points: int = 2) -> Iterator[Comparison]:
    """Everything a posterior can be asked for, at single points and at many."""
    answers = zip(case.points[:points], case.values, case.gradients, case.steady, strict=False)
    for u, value, gradient, is_steady in answers:
        ill, steep = conditions(case, u)
        yield "value", value, attempt(lambda u=u: p.log_density(u)), VALUE, ill
        both = attempt(lambda u=u: flattened(p.log_density_gradient(u)))
        yield "value that comes with the gradient", value, part(both, 0), VALUE, ill
        if is_steady:  # of nan and numbers, each form spreads the nan its own way
            yield "gradient", gradient, part(both, 1), GRADIENT, steep
        values = attempt(lambda u=u: case.constrained(u))
        there = lambda u=u: case.noise(case.constrained, u)  # noqa: E731
        yield "constrained values", values, attempt(lambda u=u: constrained(p, u)), VALUE, there
    yield from at_many(case, p)


def at_many(case: Case, p: Posterior) -> Iterator[Comparison]:
    """Many points at once."""
    if any(not usable(v) for v in case.values):
        return
    ill = lambda: max(case.noise(case.reference.log_density, u) for u in case.points)  # noqa: E731
    steep = lambda: max(case.noise(case.gradient, u) for u in case.points)  # noqa: E731
    values, gradients = np.array(case.values), np.array(case.gradients)
    with errors_of_batches() as errors:
        found_values = attempt(lambda: p.log_densities(case.points))
    yield "values at many points", values, found_values, VALUE, ill
    yield "errors of all together", np.array(0), np.array(len(errors)), 0.0, zero
    both = attempt(lambda: np.column_stack(p.log_density_gradients(case.points)))
    found = both if isinstance(both, Refused | Crashed) else both[:, 0]
    slopes = both if isinstance(both, Refused | Crashed) else both[:, 1:]
    yield "values that come with the gradients of many points", values, found, VALUE, ill
    if all(case.steady):
        yield "gradients at many points", gradients, slopes, GRADIENT, steep
        yield from given_the_first(case, p)


def given_the_first(case: Case, p: Posterior) -> Iterator[Comparison]:
    """Points that agree in the first parameter, with which is computed once."""
    whole, moving = p.log_joint(), tuple(range(1, len(p.d.places)))
    if not moving or not (joint := whole.given(moving)):
        return
    points, first = np.array(case.points), next(iter(p.d.places.values()))
    points[:, first.at] = points[0, first.at]
    values = attempt(lambda: whole.values(points))
    if isinstance(values, Refused | Crashed) or not np.isfinite(values).all():
        return
    steep = lambda: max(case.noise(case.gradient, u) for u in points)  # noqa: E731
    want, found = (attempt(partial(each.gradients, points, moving)) for each in (whole, joint))
    for each in (want, found):
        if not isinstance(each, Refused | Crashed):
            each[:, first.at] = 0.0
    yield "gradients at points that agree in a parameter", want, found, GRADIENT, steep


def compiled_tapes(case: Case) -> Iterator[Comparison]:
    """Tapes compiled at one point give the bits of autograd's at others."""
    p = case.posterior
    if p.model.load_over_draws(ir_forms.POINTS_GRADIENT, AUTOGRAD) and case.dim:
        for n in (2, POINTS):
            yield from compiled_tape(p.log_joint().tapes_at_many(), p.d.blocks(case.points[:n]))
    for u in case.points[1:]:
        yield from compiled_tape(p.log_joint().tapes, p.d.blocks(u), p.d.blocks(case.points[0]))


def compiled_tape(tapes: Tapes, xs: list[Any], traced_at: list[Any] | None = None) -> Iterator[Comparison]:
    """With the value and without it."""
    function, at = tapes.function(TRACING), xs if traced_at is None else traced_at
    with np.errstate(all="ignore"):
        gradient, alone = (compiled_gradient(function, at, with_value) for with_value in (True, False))
        last = compiled_gradient(function, at, moving=[len(xs) - 1])
    if gradient is None or alone is None or last is None:
        return
    found = attempt(lambda: bits(*gradient(*xs)))
    if isinstance(found, Crashed):  # then the tape is asked
        return
    of_tape = attempt(lambda: bits(*values_and_grads(tapes.function(AUTOGRAD), xs)))
    yield "bits of the gradient", of_tape, found, 0.0, zero
    slopes = attempt(lambda: bits([], alone(*xs)[1]))
    if not isinstance(slopes, Crashed):
        yield "bits of the gradient alone", found[found.size - slopes.size :], slopes, 0.0, zero
    slopes = attempt(lambda: bits([], last(*xs)[1][-1:]))
    if not isinstance(slopes, Crashed):
        yield "bits of the gradient in one parameter", found[found.size - slopes.size :], slopes, 0.0, zero


def bits(value: Any, parts: list[Any]) -> Floats:
    """Value and gradients in one array, what is not finite as a number of its own."""
    whole = np.concatenate([np.ravel(x) for x in (value, *parts)])
    return np.nan_to_num(whole, nan=12345.678, posinf=1e200, neginf=-1e200)


def conditions(case: Case, u: Floats) -> tuple[Callable[[], float], Callable[[], float]]:
    return lambda: case.noise(case.reference.log_density, u), lambda: case.noise(case.gradient, u)


def flattened(pair: tuple[float, Floats]) -> Floats:
    return np.concatenate([[pair[0]], pair[1]])


def part(answer: Answer, which: int) -> Answer:
    """The value or the gradient of both in one array."""
    return answer if isinstance(answer, Refused | Crashed) else answer[0] if which == 0 else answer[1:]


def usable(answer: Answer) -> bool:
    return isinstance(answer, Floats) and bool(np.all(np.isfinite(answer)))


def has_nan(answer: Answer) -> bool:
    return isinstance(answer, Floats) and bool(np.any(np.isnan(answer)))


def all_passes(case: Case) -> Iterator[Comparison]:
    names = attempt(lambda: len(case.posterior.param_names(True, True)))
    found = attempt(lambda: len(constrained(case.posterior, case.points[0])))
    if isinstance(found, Floats):
        yield "how many values there are", names, found, 0.0, zero
    yield from of_posterior(case, case.posterior)
    without = lambda p: attempt(lambda: p.log_density(case.points[0], jacobian=False))  # noqa: E731
    ill, _ = conditions(case, case.points[0])
    yield "value without Jacobian", without(case.reference), without(case.posterior), VALUE, ill


def finite_differences(case: Case) -> Iterator[Comparison]:
    """The reference's slope in one direction; steps of two lengths must agree, or it is too steep to tell."""
    u, gradient = case.points[0], case.gradients[0]
    if not usable(case.values[0]) or not usable(gradient):
        return
    direction = np.random.default_rng(SEED).uniform(0.5, 1.0, case.dim)
    f = case.reference.log_density
    with np.errstate(all="ignore"):
        wide, narrow = (slope(f, u, h * direction) / h for h in (1e-3, 3e-4))
    largest = max(1.0, abs(narrow), float(np.max(np.abs(gradient), initial=0.0)))
    rounding = np.finfo(float).eps * abs(case.values[0]) / 3e-4  # a huge constant swallows what moves
    if abs(wide - narrow) < 1e-5 * largest and rounding < 1e-6 * largest:
        found = np.asarray(gradient @ direction)
        yield "slope", np.array(narrow), found, DIFFERENCE, lambda: DIFFERENCE * largest


def slope(f: Callable[[Floats], float], u: Floats, step: Floats) -> float:
    return (8 * (f(u + step) - f(u - step)) - (f(u + 2 * step) - f(u - 2 * step))) / 12


def zero() -> float:
    return 0.0


def propto(case: Case) -> Iterator[Comparison]:
    """Densities without their constants: the same gradient, and values that differ by one number."""
    p = case.posterior
    if not all(case.steady):
        return
    for u, gradient in zip(case.points[:2], case.gradients, strict=False):
        found = attempt(lambda u=u: p.log_density_gradient(u, propto=True)[1])
        yield "gradient", gradient, found, GRADIENT, conditions(case, u)[1]
    both = attempt(lambda: np.column_stack(p.log_density_gradients(case.points, propto=True)))
    found = both if isinstance(both, Refused | Crashed) else both[:, 1:]
    steep = lambda: max(case.noise(case.gradient, u) for u in case.points)  # noqa: E731
    yield "gradients at many points", np.array(case.gradients), found, GRADIENT, steep
    one = attempt(lambda: [p.log_density(u, propto=True) for u in case.points])
    ill = lambda: max(case.noise(case.reference.log_density, u) for u in case.points)  # noqa: E731
    yield "values at many points", one, attempt(lambda: p.log_densities(case.points, propto=True)), VALUE, ill


def explaining(case: Case) -> Iterator[Comparison]:
    """Nothing to explain where value and gradient are finite."""
    if case.steady[0]:
        found = attempt(lambda: len(case.posterior.explain(case.points[0])))
        yield "length of the explanation", np.array(0.0), found, 0.0, zero


def printed(case: Case) -> Iterator[Comparison]:
    yield from rewritten(case, lambda: print_program(parse(SourceText(case.text))))


def formatted(case: Case) -> Iterator[Comparison]:
    yield from rewritten(case, lambda: format_program(SourceText(case.text)))


def rewritten(case: Case, write: Callable[[], str]) -> Iterator[Comparison]:
    """The text comes out as the same program."""

    def differs() -> float:
        again = model_of(write(), NONE).python_source
        return float(again != model_of(case.text, NONE).python_source)

    yield "difference of the emitted code", np.array(0.0), attempt(differs), 0.0, zero


def minibatches(case: Case) -> Iterator[Comparison]:
    """The mean over the batches of an epoch is the whole, by every size that the target is a sum over."""
    u = case.points[0]
    if not usable(case.values[0]) or not usable(case.gradients[0]):
        return
    ill, steep = conditions(case, u)
    for size in [name for name, value in case.data.items() if isinstance(value, int) and value > 1]:
        try:
            batches = by_rows(case.posterior, size)
        except InferenceError:
            continue
        except Exception as error:
            yield f"split by {size}", np.array(0.0), Crashed(f"{type(error).__name__}: {error}"), 0.0, zero
            continue
        n = case.posterior.d.of(size)
        parts = [np.arange(1), np.arange(1, n)]

        def epoch(parts: list[Floats] = parts, n: int = n, batches: Any = batches) -> Floats:
            pairs = [flattened(batches.minibatch(rows).log_density_gradient(u)) for rows in parts]
            return sum(len(rows) / n * pair for rows, pair in zip(parts, pairs, strict=True))

        def many(parts: list[Floats] = parts, n: int = n, batches: Any = batches) -> Floats:
            found = [batches.minibatch(rows).log_densities(case.points) for rows in parts]
            return sum(len(rows) / n * values for rows, values in zip(parts, found, strict=True))

        both = attempt(epoch)
        yield f"value by {size}", case.values[0], part(both, 0), VALUE, ill
        yield f"gradient by {size}", case.gradients[0], part(both, 1), GRADIENT, steep
        if all(map(usable, case.values)):
            yield f"values by {size} at many points", np.array(case.values), attempt(many), VALUE, ill


def left_out(without: frozenset[str]) -> Callable[[Case], Iterator[Comparison]]:
    """Some passes left out."""

    def form(case: Case) -> Iterator[Comparison]:
        model = Model(replace(case.model.compilation, without=without))
        if programs_of(model) == programs_of(case.model):
            return  # as with all passes
        yield from of_posterior(case, model.condition(case.data), 1)

    return form


def compiled(case: Case) -> Iterator[Comparison]:
    """Under JAX, where the program is within its reach."""
    import jax

    from ppl.jax_backend.not_traceable import NotTraceable
    from ppl.jax_backend.target import compiled_target

    if not usable(case.values[0]):
        return
    try:
        target = compiled_target(case.posterior)
    except NotTraceable:
        return
    u = case.points[0]
    ill, steep = conditions(case, u)
    both = attempt(lambda: flattened(target.log_density_gradient(u)))
    yield "value that comes with the gradient", case.values[0], part(both, 0), VALUE, ill
    yield "gradient", case.gradients[0], part(both, 1), GRADIENT, steep
    if all(map(usable, case.values)):
        found = attempt(lambda: target.log_densities(case.points))
        yield "values at many points", np.array(case.values), found, VALUE, ill
    jax.clear_caches()


def over_draws(case: Case) -> Iterator[Comparison]:
    """The variables of all draws at once; those of a draw that is refused alone are left out."""
    alone = [attempt(lambda u=u: fixed_values(case.reference, u)) for u in case.points]
    usable_rows = [k for k, found in enumerate(alone) if isinstance(found, Floats)]
    if not usable_rows or case.posterior.draws_at_once == 1:
        return
    found = attempt(lambda: case.posterior.param_constrain_draws(case.points[usable_rows], Fixed()))
    moves = lambda: max(  # noqa: E731
        case.noise(lambda v: fixed_values(case.reference, v), case.points[k]) for k in usable_rows
    )
    yield "constrained values", np.array([alone[k] for k in usable_rows]), found, VALUE, moves


def fixed_values(p: Posterior, u: Floats) -> Floats:
    return p.param_constrain(u, include_tp=True, include_gq=True, rng=Fixed())


ALWAYS: dict[str, Callable[[Case], Iterator[Comparison]]] = {
    "all passes": all_passes,
    "compiled tapes": compiled_tapes,
    "finite differences": finite_differences,
    "without constants": propto,
    "explaining": explaining,
    "over draws": over_draws,
}
IN_TURN: dict[str, Callable[[Case], Iterator[Comparison]]] = {
    **{f"{p.name} alone": left_out(only(p)) for p in OPTIONAL},
    **{f"without {p.name}": left_out(frozenset({p.name})) for p in OPTIONAL},
    "printed": printed,
    "formatted": formatted,
    "minibatches": minibatches,
}
FORMS = {**ALWAYS, **IN_TURN, "JAX": compiled}


def forms_of(number: int, each: int = 3, jax_every: int = 0) -> list[str]:
    """The forms that a program is run in: some always, the others in turn."""
    names = list(IN_TURN)
    turn = [names[(number * each + k) % len(names)] for k in range(each)]
    return [*ALWAYS, *turn, *(["JAX"] if jax_every and number % jax_every == 0 else [])]


# --- What is the same ----------------------------------------------------------------------------


def disagreements(case: Case, names: list[str]) -> Iterator[Disagreement]:
    """What the forms say that the reference does not.

    Raises:
        ModelError: the program is refused, which is the generator's mistake.
    """
    case.program  # noqa: B018
    for name in names:
        try:
            for quantity, expected, found, tolerance, noise in FORMS[name](case):
                if not same(expected, found, tolerance, noise):
                    yield Disagreement(name, quantity, expected, found)
        except PPLError as error:
            if not refuses(case):
                yield Disagreement(name, "the posterior", np.array(0.0), Refused(str(error)))
        except Exception as error:
            yield Disagreement(
                name, "the posterior", np.array(0.0), Crashed(f"{type(error).__name__}: {error}")
            )


def refuses(case: Case) -> bool:
    """Whether the reference refuses the data, or every point."""
    try:
        return all(isinstance(v, Refused) for v in case.values)
    except PPLError:
        return True


def same(expected: Answer, found: Answer, tolerance: float, noise: Callable[[], float]) -> bool:
    if isinstance(found, Crashed):
        return False
    if isinstance(expected, Refused | Crashed):
        return isinstance(found, Refused) or not np.all(np.isfinite(found))
    if isinstance(found, Refused):
        return not np.all(np.isfinite(expected))
    if np.shape(expected) != np.shape(found):
        return False
    sure = np.isfinite(expected)
    if not np.all(sure) and np.ndim(expected) == 0:
        return not np.all(np.isfinite(found))
    if not np.all(np.isfinite(found[sure])):
        return False
    largest = max(1.0, float(np.max(np.abs(expected), initial=0.0, where=sure)))
    off = float(np.max(np.abs(found - expected), initial=0.0, where=sure))
    return off <= tolerance * largest or off <= tolerance * largest + noise()


__all__ = ["FORMS", "Case", "Disagreement", "disagreements", "forms_of", "replace"]
