"""The contract of targets: one point or many, values or gradients, all ways give one log density."""

import ast
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import ppl
from ppl.cmdstan.methods.sample import Rejecting
from ppl.density.rows import by_rows
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.target import AtPoints, Inner, OfRows, Often, Shared, View
from ppl.methods.initialise.mode import Remembered
from ppl.methods.moves.conditional import GivenFirst
from ppl.methods.objective import ArdTarget, MarginalTarget, WithPrior
from ppl.run.posterior_target import PosteriorTarget, TwoBackends

PROGRAM = (
    "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; } "
    "model { m ~ normal(0, 1); s ~ exponential(1); y ~ normal(m, s); }"
)
ARD = np.array([0])
TARGETS = {
    "PosteriorTarget": PosteriorTarget,
    "ByRows": by_rows,
    "Minibatch": lambda p: by_rows(p).minibatch(np.array([0, 2])),
    "Scaled": lambda p: Scaled(PosteriorTarget(p), np.array([0.3, -0.2]), np.array([0.5, 2.0])),
    "ArdTarget": lambda p: ArdTarget(PosteriorTarget(p), ARD),
    "WithPrior": lambda p: WithPrior(PosteriorTarget(p), ARD, np.array([2.0])),
    "MarginalTarget": lambda p: MarginalTarget(PosteriorTarget(p), (1,)),
    "Remembered": lambda p: Remembered(PosteriorTarget(p), np.zeros(2)),
    "Rejecting": lambda p: Rejecting(PosteriorTarget(p)),
    "TwoBackends": lambda p: TwoBackends(PosteriorTarget(p), PosteriorTarget(p)),
}
ELSEWHERE = {
    "Forwarding": "a base class",
    "OfPosterior": "a base class",
    "LogDensity": "the kernel's own: tests/kernel",
    "PosteriorGiven": "at points that share coordinates: test_points_given.py",
    "GivenFirst": "a point each: below",
    "InFunnels": "many points alone: tests/methods/moves",
    "OneImage": "slopes of the target, values of one image: tests/methods/moves",
    "CompiledTarget": "JAX: tests/jax_backend",
    "CompiledByRows": "JAX: tests/jax_backend",
}
BASES = {"Target", *(name for name, why in ELSEWHERE.items() if why == "a base class")}


@pytest.mark.rotate
def test_every_target_is_in_the_table():
    classes = {
        node.name
        for path in (Path(__file__).parents[2] / "ppl").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef) and BASES & {getattr(base, "id", "") for base in node.bases}
    }
    assert classes == {*TARGETS, *ELSEWHERE}


def test_all_ways_give_one_log_density():
    posterior = ppl.compile_model(PROGRAM).condition({"N": 3, "y": [1.0, 2.0, 4.0]})
    us, h = np.array([[0.1, 0.2], [1.5, -0.7], [-0.4, 1.1]]), 1e-6
    for name, make in TARGETS.items():
        target = make(posterior)
        assert target.dim == 2 and target.width > 0, name
        values, gradients = target.log_density_gradients(us)
        assert values == pytest.approx([target.log_density(u) for u in us], rel=1e-12), name
        assert values == pytest.approx(target.log_densities(us), rel=1e-12), name
        for u, value, gradient in zip(us, values, gradients, strict=True):
            alone, of_alone = target.log_density_gradient(u)
            assert alone == pytest.approx(value, rel=1e-12) and of_alone == pytest.approx(gradient), name
            steps = [(target.log_density(u + d) - target.log_density(u - d)) / (2 * h) for d in h * np.eye(2)]
            assert gradient == pytest.approx(steps, rel=1e-5, abs=1e-5), name
        assert target.gradients_alone(us) == pytest.approx(gradients), name
        assert target.explain(us[0]) == "", name


def test_a_target_given_its_first_coordinates_is_the_whole_at_these():
    whole = PosteriorTarget(ppl.compile_model(PROGRAM).condition({"N": 3, "y": [1.0, 2.0, 4.0]}))
    us = np.array([[0.1, 0.2], [1.5, -0.7], [-0.4, 1.1]])
    given, (values, gradients) = GivenFirst(whole, us[:, :1]), whole.log_density_gradients(us)
    assert given.log_densities(us[:, 1:]) == pytest.approx(values, rel=1e-12)
    assert given.log_density_gradients(us[:, 1:])[0] == pytest.approx(values, rel=1e-12)
    assert given.gradients_alone(us[:, 1:]) == pytest.approx(gradients[:, 1:])


FIRST = np.array([0])
VIEWS = [OfRows(np.arange(3)), Inner(FIRST), Shared(FIRST), Often(0), Often(10**9), AtPoints(np.arange(3))]
OFFERED = {
    "PosteriorTarget": {Inner, Shared},
    "ByRows": {OfRows},
    "TwoBackends": {Often},
    "Scaled": set(),
    "Scaled by rows": {OfRows},
    "Scaled, two backends": {Often},
}


def test_a_target_under_a_view_is_the_same_density():
    """Here all rows count, all points come in their order, and they agree in the first coordinate."""
    assert {type(view) for view in VIEWS} == {*get_args(View)}
    posterior = ppl.compile_model(PROGRAM).condition({"N": 3, "y": [1.0, 2.0, 4.0]})
    us = np.array([[0.1, 0.2], [0.1, -0.7], [0.1, 1.1]])
    scaled = {
        "Scaled by rows": lambda p: Scaled(by_rows(p), np.array([0.3, -0.2]), np.array([0.5, 2.0])),
        "Scaled, two backends": lambda p: Scaled(TARGETS["TwoBackends"](p), np.zeros(2), np.ones(2)),
    }
    for name, make in {**TARGETS, **scaled}.items():
        target = make(posterior)
        values, gradients = target.log_density_gradients(us)
        offered = {view: seen for view in range(len(VIEWS)) if (seen := target.view(VIEWS[view]))}
        assert {type(VIEWS[view]) for view in offered} == OFFERED.get(name, set()), name
        assert (target.n_rows > 0) == (OfRows in OFFERED.get(name, set())), name
        for seen in offered.values():
            assert seen.log_densities(us) == pytest.approx(values, rel=1e-12), name
            assert seen.gradients_alone(us)[:, 1] == pytest.approx(gradients[:, 1]), name
