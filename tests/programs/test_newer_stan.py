"""What a program needs that an older Stan lacks."""

import re
from collections.abc import Iterable

import pytest

from ppl.kernel.language.higher_order import HIGHER_ORDER
from ppl.kernel.language.laplace import LAPLACE
from ppl.programs.checked import analyse
from ppl.programs.newer_stan import NAMES, newer_than
from ppl.programs.nodes import Nodes
from ppl.source import SourceText
from ppl.stdlib.library import standard

PROGRAM = """
functions {
  real trace_dot(real a, real b) { return a * b; }  // of the program: Stan's own takes matrices
  tuple(real, real) two(real x) { return (x, 2 * x); }
  vector decay(real t, vector y, real r) { return -r * y; }
}
data { int N; array[N] int y; complex z; matrix[2, 2] A; }
parameters { real<lower=0> x; sum_to_zero_vector[3] s; real a; }
transformed parameters {
  real b, c;
  (b, c) = two(x);
  jacobian += x;
  vector[2] p = simplex_jacobian([a]');
  array[1] vector[1] rate = ode_ckrk(decay, [1]', 0, {1}, x);
}
model {
  y ~ beta_neg_binomial(1, x, 2);
  1.2 ~ wiener(1, 0.1, 0.5, 0);
  1.2 ~ wiener(1, 0.1, 0.5, 0, 0.1);
  y ~ yule_simon(x);
  target += trace_dot(a, a) + std_normal_qf(p[1]) + sum(softmax(p')) + (a, ).1;
  if (N < 0) fatal_error("N");
}
"""


def required(version: int) -> Iterable[tuple[str, str]]:
    """What the notes name, and the version."""
    for lint in newer_than(version, Nodes(*analyse(SourceText(PROGRAM)))):
        what = re.fullmatch(r"(.*) requires Stan (.*)\.", lint.message)
        assert what, lint.message
        yield what[1], what[2]


@pytest.mark.parametrize("version", [26, 33, 37, 40])
def test_notes_name_all_that_came_later_once(version: int) -> None:
    expected = [
        ("The type `tuple`", 33),
        ("The type `complex`", 28),
        ("The type `sum_to_zero_vector`", 36),
        ("Assignment of a tuple to several variables", 34),
        ("`jacobian +=`", 36),
        ("`simplex_jacobian`", 37),
        ("`ode_ckrk`", 27),
        ("`beta_neg_binomial`", 36),
        ("`wiener` of 6 arguments", 35),
        ("`yule_simon`", 39),
        ("`std_normal_qf`", 31),
        ("`softmax` of a value of type row_vector", 40),
        ("A tuple of one item", 39),
        ("`fatal_error`", 35),
    ]
    wanted = sorted((what, f"2.{since}") for what, since in expected if since > version)
    assert sorted(required(version)) == wanted


def test_each_pattern_of_the_table_is_a_name_of_the_library() -> None:
    names = {*standard().callees, *HIGHER_ORDER, *LAPLACE}
    assert [p.pattern for _, p in NAMES if not any(map(p.fullmatch, names))] == []
