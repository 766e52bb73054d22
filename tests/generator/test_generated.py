"""Programs that nobody wrote, from a fixed seed; `run.py` is the long run.

`python tests/generator/run.py --seed SEED --first NUMBER --count 1` says more of one, and makes it small.
"""

from dataclasses import replace
from typing import Any

import pytest
from generator import run
from generator.forms import Case, disagreements, forms_of
from generator.program import generated
from generator.shrink import shrunk
from laws.passes import broken
from laws.sampled import sampled

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import changed, rewrite

SEED, PROGRAMS, EVERY = 22, 200, 40


@pytest.mark.rotate
@pytest.mark.parametrize("number", sampled(EVERY, range(PROGRAMS)))
def test_every_form_agrees(number: int) -> None:
    made = generated(SEED, number)
    found = list(disagreements(Case(made.text, made.data), forms_of(number)))
    assert not found, "\n".join([*map(str, found), made.text, f"--seed {SEED} --first {number}"])


def test_the_same_seed_makes_the_same_program() -> None:
    assert generated(3, 5) == generated(3, 5)


PROGRAM = """
data {
  int N;
  vector[N] x;
}
parameters {
  real a;
}
model {
  a ~ std_normal();
  for (n in 1:N) {
    x[n] ~ normal(a + 0.5, 2);
  }
}
"""
SMALL = """data {
  int N;
  vector[N] x;
}
model {
  x ~ normal(0.5, 2);
}
"""


def test_a_wrong_pass_is_found_and_its_program_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator finds what it is there for: here a pass that makes every real literal larger."""
    monkeypatch.setattr(Case, "model", property(lambda case: broken(case.text, "values", enlarged)))

    def fails(text: str, data: Any) -> bool:
        return any(d.form == "all passes" for d in disagreements(Case(text, data), ["all passes"]))

    text, _ = shrunk(PROGRAM, {"N": 3, "x": [0.1, 0.2, 0.3]}, fails)
    assert text == SMALL


def test_an_exception_inside_a_long_run_names_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "disagreements", lambda case, forms: 1 // 0)
    outcome = run.tried(run.Task(seed=3, number=5, each=0, jax_every=0, shrink=False, oracle=False))
    assert outcome.verdict in run.WRONG
    assert "program 5 of seed 3" in outcome.report
    assert "ZeroDivisionError" in outcome.report


def enlarged(p: ir.Program) -> ir.Program:
    def change(node: Any) -> Any:
        is_real = isinstance(node, ir.Const) and isinstance(node.value, float)
        return replace(node, value=1.1 * node.value) if is_real else node

    return replace(p, model=changed(p.model, lambda node: rewrite(node, change)))
