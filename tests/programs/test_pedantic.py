"""Each lint is given where it is due, and no likely bug is seen in a program that is right."""

from pathlib import Path

import pytest

from ppl.programs.checked import analyse
from ppl.programs.lints import Lint
from ppl.programs.pedantic import lints
from ppl.source import SourceText

ROOT = Path(__file__).parents[2]
PROGRAMS = [
    *(ROOT / "models").glob("*/*.model"),
    *(ROOT / "tests" / "conformance" / "programs").glob("*.stan"),
]
TRUE_FINDS = {("zero_truncated_counts_vectorised", "PPL002"), ("zero_truncated_counts_vectorised", "PPL006")}
"""What the programs really have: an array without use, and a prior truncated inside the declared bounds."""


def found(text: str) -> list[Lint]:
    return list(lints(*analyse(SourceText(text))))


def codes(parameters: str, model: str, data: str = "") -> list[str]:
    blocks = f"data {{ {data} }} parameters {{ {parameters} }} model {{ {model} }}"
    return [lint.code for lint in found(blocks)]


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_no_false_alarm_in_right_programs(file: Path) -> None:
    given = lints(*analyse(SourceText(file.read_text(), file.name)))
    assert {(file.stem, c.code) for c in given if c.likely} <= TRUE_FINDS


@pytest.mark.parametrize(
    ("parameters", "model", "expected"),
    [
        ("real a; real b;", "a ~ normal(b, 1);", ["PPL001"]),
        ("real a; real b;", "a ~ normal(b, 1); target += normal_lpdf(b | 0, 1);", []),
        ("real a; real b;", "a ~ normal(b, 1); target += -b ^ 2;", []),
        ("real a; real b;", "real c = a + b; c ~ normal(0, 1);", []),
        ("real<lower=0, upper=1> a; simplex[2] s;", "target += log(a) + sum(s);", []),
        ("real a;", "", ["PPL002"]),
        ("real a;", "real c = a; a ~ normal(0, 1);", ["PPL002"]),
        ("real a;", "real c; c = 1; a ~ normal(0, 1);", ["PPL002"]),
        ("real a;", "real c; a ~ normal(c, 1);", ["PPL011"]),
        ("real<lower=2, upper=1> a;", "a ~ normal(0, 1);", ["PPL012"]),
        ("array[2] vector<lower=0, upper=0>[3] a;", "a[1] ~ normal(0, 1);", ["PPL012"]),
        ("real<lower=-1, upper=1> a;", "a ~ normal(0, 1);", []),
        ("real a;", "vector[2] c; c[1] += 2; a ~ normal(c, 1);", []),
        ("real a;", "vector[0] c; a ~ normal(sum(c), 1);", []),
        ("real a;", "real c; real d; (c, d) = (1, 2); a ~ normal(c, d);", []),
        ("real a;", "a ~ normal(1 / 2, 1);", ["PPL005"]),
        ("real a;", "a ~ normal(1 %/% 2, 1);", []),
        ("real a;", "log(a) ~ normal(0, 1);", ["PPL004"]),
        ("real a;", "log(a) ~ normal(0, 1); target += -a;", []),
        ("vector[2] a;", "2 * a[1] - mean(a) ~ normal(0, 1);", []),
        ("vector[2] a;", "a[1] * a[2] ~ normal(0, 1);", ["PPL004"]),
        ("real a;", "a ~ lognormal(0, 1);", ["PPL006"]),
        ("real<lower=-1> a;", "a ~ gamma(1, 1);", ["PPL006"]),
        ("real<lower=0.5> a;", "a ~ gamma(1, 1);", []),
        ("vector<lower=0>[2] a;", "a[1] ~ beta(1, 1);", ["PPL006"]),
        ("vector[2] a;", "a ~ dirichlet([1, 1]');", ["PPL006"]),
        ("real a;", "a ~ normal(0, 1) T[0, ];", ["PPL006"]),
        ("real<lower=0> a;", "a ~ normal(0, 1) T[0, ];", []),
        ("real a; real<lower=0> v;", "a ~ normal(0, v ^ 2); v ~ normal(0, 1);", ["PPL007"]),
        ("real a; real<lower=0> sigma2;", "a ~ normal(0, sigma2); sigma2 ~ normal(0, 1);", ["PPL007"]),
        ("real a;", "a ~ uniform(0, 2);", ["PPL008"]),
        ("real<lower=0, upper=2> a;", "a ~ uniform(0, 2.0);", []),
        ("real<lower=0, upper=3> a;", "a ~ uniform(0, 2);", ["PPL008"]),
        ("real a;", "a ~ normal(student_t_qf(0.5, 3, 0, 1), (1.0, ).1); print((2, ));", ["PPL015", "PPL015"]),
        (
            "real a;",
            "vector[1] b = softmax([a]'); row_vector[1] c = softmax([a]); a ~ normal(b[1], c[1]);",
            ["PPL015"],
        ),
        ("@gpu real a;", "@gpu @f(1, (2)) real b = a, c = 2 * b; a ~ normal(c, 1);", ["PPL014"] * 3),
        ("real a;", "real b = 2 * b; a ~ normal(b, 1);", ["PPL013"]),
        (
            "real a;",
            "array[2] real b = {a, 1}; b[1] = b[1]; b[2] = (b[2]); b[1] = b[2]; b[1] ~ normal(b[2], 1);",
            ["PPL013", "PPL013"],
        ),
        ("vector[9] a; real<lower=0> t;", "a ~ normal(0, t); t ~ normal(0, 1);", ["PPL009"]),
        (
            "real<lower=0> t; vector<multiplier=t>[9] a;",
            "a ~ normal(0, t); t ~ normal(0, 1);",
            [],
        ),
        ("vector[9] a; real<lower=0> t;", "a ~ normal(0, 1); t ~ normal(a[1], 1);", []),
        ("real v; vector[9] a;", "v ~ normal(0, 3); a ~ student_t(4, 0, exp(v / 2));", ["PPL009"]),
        (
            "real<lower=0> t; vector[9] a;",
            "a[1] ~ normal(0, t); a[2:9] ~ normal(a[1:8], t); t ~ normal(0, 1);",
            [],
        ),
        ("real<lower=0> t; ordered[9] a;", "a ~ normal(0, t); t ~ normal(0, 1);", []),
        ("real a; real t;", "a ~ normal(0, t); t ~ normal(0, 1);", ["PPL010"]),
        ("real a; real<lower=0> t;", "1 ~ bernoulli(a + t); a ~ normal(0, 1); t ~ normal(0, 1);", ["PPL010"]),
        ("real a;", "real p = 2 * a; 1 ~ binomial(3, p); a ~ normal(0, 1);", ["PPL010"]),
        ("real a;", "real p = a; p = inv_logit(p); 1 ~ bernoulli(p); a ~ normal(0, 1);", []),
        ("real<lower=0> t;", "1 ~ poisson(2 + t); t ~ normal(0, 1);", []),
        ("real<lower=0, upper=1> a;", "a ~ normal(50, 10);", ["PPL017"]),
        ("real<lower=9> a;", "a ~ student_t(3, 0, 0.1);", ["PPL017"]),
        ("real<lower=9> a;", "a ~ cauchy(0, 1);", []),
        ("real<lower=9, upper=9.0001> a;", "a ~ normal(9, 10);", []),
        ("vector[2] a;", "a[0] ~ normal(a[-1:2], 1); a ~ normal(0, 1);", ["PPL018", "PPL018"]),
        ("vector[2] a;", "for (k in 0:1) { a[k] ~ normal(0, 1); a[k + 1] ~ normal(0, 1); }", ["PPL018"]),
        ("vector[2] a;", "a ~ normal(0, 1); for (k in 0:2) if (k > 0) a[k] ~ normal(0, 1);", []),
    ],
)
def test_caution(parameters: str, model: str, expected: list[str]) -> None:
    assert codes(parameters, model) == expected


def test_a_prior_on_a_nonlinear_variable_is_said_only_when_asked() -> None:
    blocks = "parameters { real a; } transformed parameters { real b = exp(a); real c = 2 * a; } model { %s }"
    (lint,) = found(blocks % "b ~ normal(0, 1);")
    assert (lint.code, lint.likely) == ("PPL004", False)
    assert found(blocks % "c ~ normal(0, 1);") == []


def test_calls_that_adjust_the_target_in_transformed_parameters() -> None:
    text = """
    functions {{ real f_lp(real x) {{ target += x; return x; }} }}
    data {{ real d; }}
    parameters {{ real a; }}
    transformed parameters {{ real b = {call}; }}
    model {{ real c = f_lp(a + b + d); a ~ normal(c, 1); }}
    """
    calls = (
        "f_lp(a)",
        "lower_bound_jacobian(d, 0)",
        "lower_bound_jacobian(a, d)",
        "lower_bound_constrain(d, 0)",
    )
    lints = [found(text.format(call=call)) for call in calls]
    assert [[(x.code, x.likely) for x in some] for some in lints] == [
        [("PPL016", True)],
        [("PPL016", True)],
        [],
        [],
    ]


def test_unused_data_is_said_only_when_asked() -> None:
    (lint,) = found("data { int N; } parameters { real a; } model { a ~ normal(0, 1); }")
    assert (lint.code, lint.likely, lint.span.line) == ("PPL003", False, 1)


def test_a_size_is_a_use() -> None:
    assert codes("vector[N] a;", "a ~ normal(0, 1);", "int N;") == []


def test_the_declaration_to_write_instead_compiles() -> None:
    (lint,) = found("parameters { array[3] vector[2] a; } model { a[1] ~ exponential(1); }")
    assert "`array[3] vector<lower=0>[2] a;`" in lint.hint
