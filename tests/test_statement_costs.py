"""What a gradient costs by statement; the clock here ticks once each time that it is read."""

import itertools
import sys

import numpy as np
import pytest

import ppl
from ppl.density import statement_costs as measured
from ppl.stages import show_stage

PROGRAM = """data { int N; }
parameters { real a; vector[3] b; }
model {
  a ~ normal(0, 1);
  real s = a;
  int n = 0;
  while (n < N) {
    s = s > 1 ? s / 2 : s * 1.5 + 0.1;
    n += 1;
  }
  b ~ normal(s, 1);
}
"""


@pytest.fixture
def posterior(monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(measured, "perf_counter", lambda: float(next(ticks)))
    return ppl.compile_model(PROGRAM).condition({"N": 40})


def test_shares_by_statement(posterior):
    costs = measured.statement_costs(posterior, np.array([0.3, 0.1, 0.2, 0.4]))
    shares = {span.line: share for span, share in costs.shares}
    each = [share for _, share in costs.shares]
    assert costs.gradient == 1.0 and sum(each) == pytest.approx(1) and each == sorted(each, reverse=True)
    assert all(shares[line] == pytest.approx(1 / 3, abs=0.03) for line in (7, 8, 9)), "41, 40, 40 of 127"
    assert all(shares[line] == pytest.approx(1 / 127, abs=1e-3) for line in (4, 5, 6, 11))


def test_another_tracer_waits(posterior):
    def tracer(frame, event, arg):
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        measured.statement_costs(posterior, np.zeros(4))
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)


def test_the_plan_ends_with_them():
    text = show_stage(PROGRAM, "plan", data={"N": 40})
    assert text.startswith(show_stage(PROGRAM, "plan"))
    first, *lines = text.removeprefix(show_stage(PROGRAM, "plan")).strip().splitlines()
    assert first.startswith("A gradient by autograd takes ") and "forward pass" in first
    assert any(line.endswith("<string>:8: s = s > 1 ? s / 2 : s * 1.5 + 0.1;") for line in lines)


@pytest.mark.parametrize(
    "program",
    [
        "generated quantities { real x = 1; }",
        "parameters { real a; } model { target += negative_infinity(); }",
    ],
)
def test_where_there_is_none_to_measure(program):
    text = show_stage(program, "plan", data={})
    assert text.splitlines()[-1].startswith("No gradient was measured: ")
