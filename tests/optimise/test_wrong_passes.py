"""The law of the passes notices a wrong pass in any form, on every program whose results it changes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conformance.pack import Case, programs
from laws.fixed_draws import Fixed
from laws.passes import RUN, assert_same, broken, form_of, posterior, reference

from ppl.errors import PPLError
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import changed, rewrite
from ppl.posterior import Posterior
from ppl.types import INT

SAMPLE = programs()[::12]
LAST_BLOCKS = ("model", "transformed_parameters", "generated_quantities")


def rewritten(p: ir.Program, change: Callable[[Any], Any]) -> ir.Program:
    """Every node of the blocks that the parameters enter, changed."""
    blocks = {name: changed(getattr(p, name), lambda node: rewrite(node, change)) for name in LAST_BLOCKS}
    return replace(p, **blocks)


def literals_larger(p: ir.Program) -> ir.Program:
    def change(node: Any) -> Any:
        is_real = isinstance(node, ir.Const) and isinstance(node.value, float)
        return replace(node, value=1.1 * node.value) if is_real else node

    return rewritten(p, change)


def indices_lower(p: ir.Program) -> ir.Program:
    def change(node: Any) -> Any:
        match node:
            case ir.At(index=ir.Const(value=value)) if value > 0:
                return ir.At(ir.Const(value - 1, INT))
        return node

    return rewritten(p, change)


def last_statements_dropped(p: ir.Program) -> ir.Program:
    return replace(p, model=p.model[:-1])


def outputs_twice(p: ir.Program) -> ir.Program:
    twice = {
        name: (*getattr(p, name), *getattr(p, name)[-1:])
        for name in ("parameters", "transformed_parameter_names", "generated_names")
    }
    return replace(p, **twice)


WRONG = (literals_larger, indices_lower, last_statements_dropped, outputs_twice)


def answers(p: Posterior, us: np.ndarray) -> list[np.ndarray]:
    """All that a posterior can be asked for at some points."""
    out = []
    for u in us:
        value, gradient = p.log_density_gradient(u)
        values = p.param_constrain(u, include_tp=True, include_gq=True, rng=Fixed())
        out += [np.array([p.log_density(u), p.log_density(u, propto=True), value]), gradient, values]
    together = [p.param_constrain_draws(us, Fixed())] if p.draws_at_once > 1 else []
    return [*out, p.log_densities(us), *p.log_density_gradients(us), *together]


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    pairs = zip(a, b, strict=True)
    return all(x.shape == y.shape and np.allclose(x, y, 1e-9, 1e-9, equal_nan=True) for x, y in pairs)


def notices(wrong: Posterior, plain: Posterior, points: np.ndarray) -> bool:
    try:
        for u in points:
            assert_same(wrong, plain, u)
    except (AssertionError, PPLError, ValueError, IndexError, KeyError, TypeError):
        return True
    return False


@pytest.mark.rotate
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.id)
def test_a_wrong_pass_is_noticed(case: Case, wrong: Callable[[ir.Program], ir.Program]) -> None:
    plain, whole = reference(case.program, case.data), posterior(case.program, case.data)
    points = np.array([p["u"] for p in case.points[:2]])
    others = np.random.default_rng(3).uniform(-0.5, 0.5, (2, plain.param_unc_num()))
    for form in RUN:
        model = broken(case.program, form.name, wrong)
        if form_of(model, form) == form_of(whole.model, form):
            continue
        spoilt = model.condition(case.data)
        if not notices(spoilt, plain, points):
            assert same(answers(spoilt, others), answers(whole, others)), form.name
