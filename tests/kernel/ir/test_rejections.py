"""A call outside its domain rejects the point, whether or not the target reads its value, as in Stan."""

import numpy as np
import pytest
from generator.forms import Case, disagreements, forms_of

import ppl
from ppl.stdlib.library import standard

HEAD = "data { int N; vector[N] x; } parameters { vector[3] p; }"
PROGRAMS = [
    "transformed parameters { real w = lambert_w0(p[1]); }",
    "transformed parameters { vector[3] w = 2 * acosh(p); }",
    "transformed parameters { vector[3] w; for (n in 1:3) { w[n] = inv_Phi(p[n]); } }",
    "model { for (n in 1:N) { real w = log1m(x[n] * p[2]); p[3] ~ normal(x[n], 1); } }",
    "model { { vector[2] w = [atanh(p[1]), 1]'; w[2] = p[2]; } }",
    "transformed parameters { matrix[2, 2] w = cholesky_decompose([[p[1], 0], [0, 1]]); }",
    "model { if (p[1] > 0) { real w = log1p(p[2] - 3); } }",
]
DATA = {"N": 2, "x": [0.5, 2.0]}
INSIDE, OUTSIDE = np.array([1.5, 0.3, 0.4]), np.array([-0.9, 0.8, -0.7])


PRIOR = "model { p ~ std_normal();"


def whole(program: str) -> str:
    """The program with its data, its parameters and their prior."""
    inside = program.removeprefix("model {")
    return f"{HEAD} {PRIOR} {inside}" if inside != program else f"{HEAD} {program} {PRIOR} }}"


def log_density(program: str, u: np.ndarray) -> float:
    return ppl.compile_model(program).condition(DATA).log_density(u)


@pytest.mark.filterwarnings("ignore::ppl.ModelWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_an_unused_call_outside_its_domain_rejects_the_point(program: str) -> None:
    rows = "p[3] ~ normal(x, 1);" if "p[3] ~" in program else ""
    values = []
    for u in (INSIDE, OUTSIDE, 3 - INSIDE, np.full(3, 0.5), np.full(3, 1.5)):
        values.append(log_density(whole(program), u))
        assert np.isnan(values[-1]) or values[-1] == pytest.approx(
            log_density(f"{HEAD} {PRIOR} {rows} }}", u)
        )
    assert 0 < np.isnan(values).sum() < len(values)


@pytest.mark.filterwarnings("ignore::ppl.ModelWarning")
@pytest.mark.parametrize("program", PROGRAMS[:5])
def test_every_form_agrees(program: str) -> None:
    differences = list(disagreements(Case(whole(program), DATA), forms_of(0)))
    assert not differences, "\n".join(map(str, differences))


def test_values_that_the_target_reads_are_not_checked_again() -> None:
    program = "parameters { real p; } model { real w = acosh(p); target += -square(w); }"
    assert "zero_or_nan" not in ppl.compile_model(program).python_source


def test_the_records_of_functions_say_which_reject() -> None:
    assert sum(f.rejects for f in standard().functions) == 19
