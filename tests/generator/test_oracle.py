"""Programs beside an interpreter of Stan 2.40, the extra `oracle`; the long run: `against_stan.py --oracle`.

The interpreter is young.  What is known to be wrong with it is `FAULTS` of known.py, and some of it `WRONG`.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
import scipy.stats
from generator.against_stan import (
    Case,
    Difference,
    by_differences,
    case_of,
    models,
    outcome,
    pack,
    random_programs,
    report,
    unexplained,
)
from generator.interpreted_stan import INSTALLED, InterpretedStan
from laws.sampled import sampled

import ppl

SEED, PROGRAMS, EVERY = 23, 60, 12

pytestmark = pytest.mark.skipif(not INSTALLED, reason="the extra `oracle` is not installed")


@pytest.fixture(scope="module")
def stan() -> Iterator[InterpretedStan]:
    found = InterpretedStan()
    yield found
    found.close()


@pytest.mark.parametrize("number", sampled(EVERY, range(PROGRAMS)))
def test_a_random_program_agrees(number: int, stan: InterpretedStan) -> None:
    assert_agrees(next(random_programs(SEED, number, longest=10**9)), stan)


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("group", "step"),
    [
        (models, 12),
        (pack, 100),
        *(pytest.param(group, 1, marks=pytest.mark.whole) for group in (models, pack)),
    ],
)
def test_written_programs_agree(group, step: int, stan: InterpretedStan) -> None:
    for case in islice(group(), 0, None, step):
        assert_agrees(case, stan)


def assert_agrees(case: Case, stan: InterpretedStan) -> None:
    ((_, answer),) = stan.ask([case.question])
    found = outcome(case, answer, stan)
    assert not unexplained(found), f"{report(found)}\n{case.question.program}"


def test_an_interpreter_that_ends_settles_no_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "parameters { real a; } model { a ~ std_normal(); }"
    stan = InterpretedStan()
    monkeypatch.setattr(stan, "at", lambda q, points: ())
    posterior = ppl.compile_model(program).condition({})
    difference = Difference("gradient", (0.5,), "[1]", "[-0.5]")
    assert by_differences(stan, case_of("ends", program, {}).question, posterior, difference) == ""


def test_the_interpreter_leaves_out_calls_outside_their_domain(stan: InterpretedStan) -> None:
    program = "parameters { real a; } model { real b = std_normal_qf(a); a ~ std_normal(); }"
    (at,) = stan.at(case_of("outside", program, {}).question, [[2.0]])
    assert "lp" in at and np.isnan(ppl.compile_model(program).condition({}).log_density(np.array([2.0])))


X, ZERO, AT = [0.36, 0.55, 0.43], np.zeros(9), np.linspace(-0.7, 1.1, 9)
WRONG = [
    (
        """
        data { int N; array[N] int y; vector[N] x; }
        parameters { array[N] vector[N] p; }
        model { for (i in 2:N) for (j in 1:y[i]) target += student_t_lupdf(p[1] | square(2), x[j], 1); }
        """,
        {"N": 3, "y": [2, 3, 3], "x": X},
        lambda p: sum(scipy.stats.t(4, x).logpdf(p[:3]).sum() for x in (*X, *X)),
    ),
    (
        """
        data { int N; vector[N] x; }
        parameters { vector[9] p; }
        model { if (p[9] > 0) for (i in 2:N) target += poisson_log_lupmf(1 | p[2]); p[2:3] ~ std_normal(); }
        """,
        {"N": 3, "x": X},
        lambda p: -0.5 * np.sum(p[1:3] ** 2) + (p[8] > 0) * 2.0 * (p[1] - np.exp(p[1])),
    ),
    (
        """
        data { int N; array[N] int y; }
        parameters { vector[9] p; }
        model {
          for (i in 1:N) {
            vector[N] w = p[(3 * i - 2):(3 * i)];
            for (j in 1:y[i]) { w[j % N + 1] = 1; if (p[9] > 0) { continue; } break; }
            target += w;
          }
        }
        """,
        {"N": 3, "y": [3, 2, 1]},
        lambda p: 6.0 + p[3] + p[6] + p[8] if p[8] > 0 else np.sum(p[[0, 2, 3, 5, 6, 8]]) + 3.0,
    ),
    (
        """
        data { int N; vector[N] x; }
        parameters { vector[9] p; }
        model { for (i in 1:N) target += normal_lupdf(p[1:4] | x[i] + p[9], exp(p[5:8])); }
        """,
        {"N": 4, "x": [*X, 0.2]},
        lambda p: sum(scipy.stats.norm(x + p[8], np.exp(p[4:8])).logpdf(p[:4]).sum() for x in (*X, 0.2)),
    ),
    (
        "data { int N; } parameters { vector[9] p; } model { for (j in 1:N - 6) p[1] ~ std_normal(); }",
        {"N": 4},
        lambda p: 0.0,
    ),
    (
        "data { int N; } parameters { vector[9] p; } model { for (j in 2:N) p[3] ~ pareto(exp(p[1]), 1); }",
        {"N": 1},
        lambda p: 0.0,
    ),
    (
        """
        data { int N; vector[N] x; }
        parameters { vector[9] p; }
        model { for (i in 1:N) { vector[N] s = x; s[i] - (1 - p[1:4]) ~ std_normal(); } }
        """,
        {"N": 4, "x": [*X, 0.2]},
        lambda p: -0.5 * sum(np.sum((x - 1 + p[:4]) ** 2) for x in (*X, 0.2)),
    ),
    (
        """
        data { int N; array[N] int y; }
        parameters { vector[9] p; }
        model { for (i in 1:N) for (j in 1:y[i]) target += von_mises_lpdf(p[1:3] | p[i + j], exp(p[9])); }
        """,
        {"N": 3, "y": [1, 2, 3]},
        lambda p: sum(
            scipy.stats.vonmises(np.exp(p[8]), p[k]).logpdf(p[:3]).sum() for k in (1, 2, 3, 3, 4, 5)
        ),
    ),
    (
        """
        data { int N; }
        parameters { vector[9] p; }
        model { for (i in 1:N) target += normal_lupdf(p[1:4] | 1, exp(p[i + 4])); }
        """,
        {"N": 4},
        lambda p: sum(scipy.stats.norm(1, np.exp(sigma)).logpdf(p[:4]).sum() for sigma in p[4:8]),
    ),
    (
        "parameters { vector[9] p; } model { real a = 1; if (p[9] > 0) a = 2; if (a > 1.5) target += p[1]; }",
        {},
        lambda p: (p[8] > 0) * p[0],
    ),
    (
        """
        data { int N; array[N] int y; }
        parameters { vector[9] p; }
        model { int b = 1; for (i in 1:N) { if (p[9] > 0) b = i; target += p[b]; b = y[i]; } }
        """,
        {"N": 3, "y": [1, 3, 1]},
        lambda p: p[:3].sum() if p[8] > 0 else 2 * p[0] + p[2],
    ),
]


@pytest.mark.rotate
@pytest.mark.parametrize(("program", "data", "exact"), WRONG)
def test_where_the_interpreter_is_wrong(program, data, exact, stan: InterpretedStan) -> None:
    """Differences of two points, as constants do not matter; what a release mends goes, also in known.py."""
    posterior = ppl.compile_model(program).condition(data)
    right = exact(AT) - exact(ZERO)
    assert posterior.log_density(AT) - posterior.log_density(ZERO) == pytest.approx(right, abs=1e-12)
    zero, at = stan.at(case_of("wrong", program, data).question, [ZERO.tolist(), AT.tolist()])
    assert at.get("lp", np.nan) - zero.get("lp", np.nan) != pytest.approx(right, rel=1e-6, abs=1e-6)
