"""Iterations in one compiled loop against the same iterations one by one."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import ppl
from ppl.arrays import NUMPY

pytest.importorskip("jax")

import jax

from ppl.jax_backend.iterations import FusedParts
from ppl.jax_backend.namespace import JAX
from ppl.jax_backend.target import COMPILED, CompiledTarget, compiled_target
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.estimators.reparameterised import reparameterised, sticking_the_landing
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.families.low_rank import LowRank
from ppl.kernel.advi.families.marginal import Marginal, Point
from ppl.kernel.advi.families.mean_field import ArdDiagonal, MeanField
from ppl.kernel.advi.families.standard import StudentT
from ppl.kernel.advi.fused_steps import fused_steps
from ppl.kernel.advi.optimise import Algorithm, Run, advance, begin
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.steps.adaptive import Adam, AdviSequence
from ppl.kernel.advi.steps.decaying import RobbinsMonro, Staged
from ppl.kernel.advi.steps.step_rule import Last, Polynomial
from ppl.kernel.advi.stopping.stopping_rule import FixedIterations

DIM = 4
PROGRAM = "parameters { vector[3] m; real<lower=0> s; } model { m ~ student_t(3, 1, s); s ~ gamma(3, 2); }"

FAMILY = [
    *[make(DIM) for make in FAMILIES.values()],
    MeanField(DIM, StudentT(5.0)),
    ArdDiagonal(DIM, ard=np.array([0, 2])),
    Marginal(DIM, (1, 3)),
]
STEP = [
    *[make(0.02) for make in STEPS.values()],
    Staged(0.02, every=4, rates=np.linspace(0.5, 1.0, 2 * DIM), positive=np.arange(DIM, 2 * DIM)),
]


@pytest.fixture(scope="module")
def target() -> CompiledTarget:
    return compiled_target(ppl.compile_model(PROGRAM).condition())


def algorithm(**parts: Any) -> Algorithm:
    plain = Algorithm(
        MeanField(DIM), reparameterised, AdviSequence(0.1), FixedIterations(25), Last(), 25, 2, 10, 10
    )
    return replace(plain, **parts)


def one_by_one(parts: Algorithm, target: Any, run: Run, rng: np.random.Generator, count: int) -> Run:
    for _ in range(count):
        run = advance(parts, target, run, rng)
    return run


def assert_same(ahead: Run, expected: Run) -> None:
    assert ahead.iteration == expected.iteration
    for name in ("params", "average", "gradient", "bounds"):
        np.testing.assert_allclose(getattr(ahead, name), getattr(expected, name), rtol=1e-9, atol=1e-9)


def name_of(parts: Algorithm) -> str:
    return f"{type(parts.family).__name__}-{type(parts.step_rule).__name__}"


CASES = [
    *[algorithm(family=family) for family in FAMILY],
    *[algorithm(step_rule=rule) for rule in STEP],
    algorithm(averaging=Polynomial()),
]


@pytest.mark.rotate
@pytest.mark.parametrize(
    "parts", CASES, ids=lambda a: f"{type(a.family).__name__}-{type(a.step_rule).__name__}"
)
def test_fused_steps_end_where_single_iterations_do(parts: Algorithm, target: CompiledTarget) -> None:
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    run = begin(parts, parts.family.start(np.full(DIM, 0.2)) + 0.01)
    for count in (10, 10, 5):
        ahead = fused_steps(parts, target, run, first, run.iteration + count)
        assert_same(ahead, one_by_one(parts, target.posterior, run, second, count))
        run = ahead
    assert first.bit_generator.state == second.bit_generator.state


@pytest.mark.parametrize("factor", [np.array([0.5, 1.0, 2.0, 0.3]), np.tril(np.full((DIM, DIM), 0.4))])
def test_in_scaled_coordinates(factor: np.ndarray, target: CompiledTarget) -> None:
    parts, centre = algorithm(), np.linspace(-0.5, 0.5, DIM)
    run = begin(parts, parts.family.start(np.zeros(DIM)))
    ahead = fused_steps(parts, Scaled(target, centre, factor), run, np.random.default_rng(2), 10)
    expected = Scaled(target.posterior, centre, factor)
    assert_same(ahead, one_by_one(parts, expected, run, np.random.default_rng(2), 10))


def test_draws_of_a_wide_target_are_taken_a_few_at_a_time(target: CompiledTarget) -> None:
    parts, wide = algorithm(grad_samples=6), replace(target, largest=2**20)
    run = begin(parts, parts.family.start(np.zeros(DIM)))
    assert [FusedParts.of(parts, most).batch_size for most in (1, 2, 4, 5, 6, 10**9)] == [1, 2, 3, 3, 6, 6]
    ahead = fused_steps(parts, wide, run, np.random.default_rng(2), 10)
    assert_same(ahead, one_by_one(parts, target.posterior, run, np.random.default_rng(2), 10))


def test_a_number_that_is_not_finite_ends_the_leap_and_gives_the_noise_back(target: CompiledTarget) -> None:
    parts = algorithm()
    run = begin(parts, parts.family.start(np.array([0.0, 0.0, 0.0, 800.0])))
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    assert fused_steps(parts, target, run, rng, 10) is None
    assert rng.bit_generator.state == before


def test_a_leap_goes_as_far_as_numbers_are_finite(target: CompiledTarget) -> None:
    parts = algorithm(step_rule=RobbinsMonro(1e3))
    run = begin(parts, parts.family.start(np.zeros(DIM)))
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    ahead = fused_steps(parts, target, run, rng, 10)
    assert 0 < ahead.iteration < 10
    assert_same(ahead, one_by_one(parts, target.posterior, run, other, ahead.iteration))
    assert rng.bit_generator.state == other.bit_generator.state


def test_params_that_are_not_finite_end_the_leap_before_them(target: CompiledTarget) -> None:
    """The density and its gradient are finite there; the step overflows."""
    parts = algorithm(step_rule=RobbinsMonro(1e308))
    run = begin(parts, parts.family.start(np.array([0.0, 0.0, 0.0, 3.0])))
    rng = np.random.default_rng(3)
    before = rng.bit_generator.state
    assert fused_steps(parts, target, run, rng, 10) is None
    assert rng.bit_generator.state == before
    with np.errstate(over="ignore"), pytest.raises(ppl.PPLError, match="parameters that are not finite"):
        advance(parts, target.posterior, run, rng)


def test_another_estimator_is_left_alone(target: CompiledTarget) -> None:
    parts = algorithm(estimator=sticking_the_landing)
    run = begin(parts, parts.family.start(np.zeros(DIM)))
    assert fused_steps(parts, target, run, np.random.default_rng(4), 10) is None


def test_a_quick_target_leaves_a_loop_of_few_iterations_uncompiled(target: CompiledTarget) -> None:
    quick = compiled_target(target.posterior, quick=True)
    parts = algorithm(iterations=COMPILED.interpreted_iterations + 10)
    run = begin(parts, parts.family.start(np.zeros(DIM)))
    assert fused_steps(parts, quick, run, np.random.default_rng(6), 10) is None
    late = run._replace(iteration=COMPILED.interpreted_iterations)
    ahead = fused_steps(parts, quick, late, np.random.default_rng(6), COMPILED.interpreted_iterations + 10)
    assert_same(ahead, one_by_one(parts, target.posterior, late, np.random.default_rng(6), 10))


def test_step_sizes_share_a_compilation(target: CompiledTarget, traces: list[object]) -> None:
    for k, eta in enumerate((0.1, 0.2, 0.3)):
        parts = algorithm(step_rule=Adam(eta), eval_elbo=7)
        run = begin(parts, parts.family.start(np.zeros(DIM)))
        fused_steps(parts, target, run, np.random.default_rng(5), 7)
        if not k:
            traced = len(traces)
    assert len(traces) == traced


@pytest.mark.parametrize(
    "family", [*FAMILY, LowRank(DIM, 3), Point(DIM)], ids=lambda family: type(family).__name__
)
def test_what_a_family_computes_of_params_is_the_same_under_jax(family: Any) -> None:
    rng = np.random.default_rng(7)
    params = family.start(np.zeros(DIM)) + 0.3 * rng.standard_normal(family.size)
    z, gradients = family.noise(5, rng), rng.standard_normal((5, DIM))

    def computed(params: Any, xp: Any) -> list[Any]:
        return [
            family.transform(params, z, xp),
            family.pull_back(params, z, gradients, xp),
            family.entropy(params, xp),
            family.entropy_gradient(params, xp),
        ]

    with jax.enable_x64(True):
        found = jax.jit(partial(computed, xp=JAX))(params)
    for one, other in zip(found, computed(params, NUMPY), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
