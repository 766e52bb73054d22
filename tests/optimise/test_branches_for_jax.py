"""The form that JAX compiles, run by autograd: masks and functions of branches mean what stood there."""

import numpy as np
import pytest
from laws.passes import lowered
from laws.verifier.compilation import Verified

from ppl.arrays import AUTOGRAD, values_and_grads
from ppl.errors import Rejection
from ppl.kernel.ir.nodes import Apply, For, If, Jump, Return, While
from ppl.kernel.ir.walk import walk
from ppl.model import Model
from ppl.optimise.forms import FOR_JAX
from ppl.source import SourceText
from ppl.stdlib import batching
from tests.optimise.branch_programs import DATA, FUNCTIONS, LOOPS, POINTS, SCALARS, WHILE, in_a_loop, of_two

PROGRAMS = {
    **{name: of_two(model) for name, model in (SCALARS | WHILE).items()},
    **{
        name: of_two(f"target += {'h_lp' if 'h_lp' in f else 'f'}(a, b);", f) for name, f in FUNCTIONS.items()
    },
    **{f"loop {name}": in_a_loop(body) for name, body in LOOPS.items()},
}


@pytest.mark.rotate
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_form_for_jax_has_the_same_numbers(text: str) -> None:
    model = Model(Verified(SourceText(text)))
    posterior = model.condition(DATA if "data {" in text else {})
    d, module = model.prepared(posterior.d, FOR_JAX), model.load(FOR_JAX, AUTOGRAD)
    for u in POINTS:
        want, slopes = posterior.log_density_gradient(u)
        try:
            with np.errstate(all="ignore"):
                value, found = values_and_grads(lambda v: module.log_joint(d, v, True), d.blocks(u))
        except Rejection:
            value = -np.inf
        np.testing.assert_allclose(value, want, rtol=1e-12)
        if np.isfinite(want):
            np.testing.assert_allclose(np.concatenate(found, axis=None), slopes, rtol=1e-9, atol=1e-12)


def test_branches_that_parameters_decide_have_masks() -> None:
    """Index sets would have sizes that differ from point to point."""
    callees = {
        n.callee.impl for n in walk(FOR_JAX.of(lowered(in_a_loop(LOOPS["locals"])))) if isinstance(n, Apply)
    }
    assert batching.count_of in callees or batching.any_of in callees
    assert not callees & {batching.where_true, batching.where_false}


JUMPS = {
    "break": "for (n in 1:9) { if (n * a > b) break; target += -a ^ 2; }",
    "continue": "real y = a; while (y < 5) { y += 1; if (y < b) continue; target += -y; }",
    "nested": "for (n in 1:9) { for (m in 1:n) { if (m * a > b) break; target += -a; } if (a > n) break; }",
}


@pytest.mark.parametrize("model", JUMPS.values(), ids=JUMPS.keys())
def test_no_jump_that_parameters_decide_is_left(model: str) -> None:
    program = FOR_JAX.of(lowered(of_two(model)))
    assert not [n for n in walk(program.model) if isinstance(n, Jump)]


def test_a_jump_that_data_decide_stays() -> None:
    body = "int n = 1; while (n < 9) { if (n > k) break; target += -a ^ n; n += 1; }"
    text = f"data {{ int k; }} parameters {{ real a; }} model {{ {body} }}"
    assert [n for n in walk(FOR_JAX.of(lowered(text)).model) if isinstance(n, Jump)]


def test_functions_return_at_the_end_of_each_side_and_from_no_loop() -> None:
    body = "for (k in 1:4) { if (k * y > x) return k * x; if (k * x > y) return y; } return y;"
    program = FOR_JAX.of(lowered(of_two("target += f(a, b);", f"real f(real x, real y) {{ {body} }}")))
    (f,) = program.functions
    loops = [n for n in walk(f.body) if isinstance(n, For | While)]
    assert loops and not any(isinstance(n, Return) for loop in loops for n in walk(loop))
    assert isinstance(f.body[-1], If | Return)


def test_functions_without_a_value_return_at_the_end_of_each_side() -> None:
    g = FOR_JAX.of(lowered(of_two("target += h_lp(a, b);", FUNCTIONS["no_value"]))).functions[0]
    (last,) = g.body
    assert isinstance(last, If)
    assert isinstance(last.then[-1], Return) and isinstance(last.otherwise[-1], Return)
