"""What findings change in a program: the text around stays, and the finding is gone."""

from dataclasses import replace

import numpy as np
import pytest

import ppl
from ppl.cli.examined_fixes import fixed_with
from ppl.cli.fixes import FixedProgram
from ppl.kernel.language import ast
from ppl.kernel.language.include import with_fixes
from ppl.kernel.language.walk import walk
from ppl.results.doctor.counts import overdispersed, zero_inflated
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.doctor.parameters import widened
from ppl.results.doctor.shape import heavy_tailed
from ppl.results.doctor.statement import Site, statement_of
from ppl.source import SourceText, Span
from tests.benchmarks.doctor.programs import PROGRAMS

COMMENTED = """// counts
data {
  int<lower=0> N;
  array[N] int<lower=0> y;
}
parameters {
  real a; // the level
  real phi;   /* slope */
}
model {
  a ~ normal(0, 3);   // wide
  phi ~ normal(0, 3);

  // likelihood
  y ~ poisson_log( a  + /* the rest */
      phi );  // here
}
"""
DISPERSED = (
    COMMENTED.replace("/* slope */\n", "/* slope */\n  real<lower=0> phi_2;\n")
    .replace("phi ~ normal(0, 3);\n", "phi ~ normal(0, 3);\n  phi_2 ~ exponential(0.1);\n")
    .replace("poisson_log(", "neg_binomial_2_log(")
    .replace("phi );", "phi, phi_2 );")
)
LINE = "data {{ vector[9] y; }} parameters {{ real m; }} model {{ {} }}"
DATA, A = "data {\n  int N;\n  vector[N] x;\n  {y} y;\n}\n", "parameters {\n  real a;\n  real b;\n{s}}\n"


def site_of(text, alone=True):
    model = ppl.compile_model(text)
    program = model.compilation.checked[0]
    nodes = [n for n in walk(program.model) if isinstance(n, ast.Tilde | ast.Call) and n.args]
    node = next(n for n in nodes if statement_of(n).left[0] == "y")
    types = model.compilation.checked[1].types
    args = [types[a] for a in node.args if a is not getattr(node, "left", node.args[0])]
    return model.source, Site(node, program, model.source.name, alone, "N", tuple(args))


def changed(advice, text, **more):
    """The text after the change, or why there is none."""
    source, site = site_of(text, **more)
    change = advice(replace(statement_of(site.node), site=site))
    fixes, no_fix = change.edits
    return with_fixes(source.text, fixes) if fixes else no_fix


def test_comments_and_layout_stay():
    assert changed(overdispersed, COMMENTED) == DISPERSED
    assert ppl.compile_model(DISPERSED)


@pytest.mark.parametrize(("model", "expected"), [
    ("y ~ normal(m, 1);", "nu ~ gamma(2, 0.1); y ~ student_t(nu, m, 1);"),
    ("m ~ normal(0, 1); y ~ normal(m, 1);", "m ~ normal(0, 1); nu ~ gamma(2, 0.1); y ~ student_t(nu, m, 1);"),
    ("target += normal_lupdf(y | m, 1);", "nu ~ gamma(2, 0.1); target += student_t_lupdf(y | nu, m, 1);"),
    ("for (n in 1:9) { y[n] ~ normal(m, 1); }",
     "nu ~ gamma(2, 0.1); for (n in 1:9) { y[n] ~ student_t(nu, m, 1); }"),
])  # fmt: skip
def test_a_program_in_one_line(model, expected):
    found = changed(heavy_tailed, LINE.format(model))
    assert found == LINE.format(expected).replace("real m;", "real m; real<lower=2> nu;")
    assert ppl.compile_model(found)


@pytest.mark.parametrize(("model", "reason"), [
    ("y ~ normal((m), 1);", "an argument is in parentheses"),
    ("target += 2 * normal_lpdf(y | m, 1);", "the density is part of an expression"),
    ("y ~ normal(m, 1); } generated quantities { real z = normal_rng(0, 1);",
     "`normal_rng` on line 1 has to change with it"),
    ("y ~ normal(m, 1); } generated quantities { real z = normal_rng((m), 1);",
     "an argument is in parentheses"),
])  # fmt: skip
def test_a_change_that_is_not_certain_is_left_to_the_user(model, reason):
    assert changed(heavy_tailed, LINE.format(model)) == reason


@pytest.mark.parametrize(("prior", "means", "expected"), [
    ("y_0 ~ normal(-2, // sd\n 0.5);", [3.0, 3.4], "y_0 ~ normal(-2, // sd\n 6);"),
    ("y_0 ~ student_t(3, 0, 1) T[0, ];", [12.0], "y_0 ~ student_t(3, 0, 20) T[0, ];"),
    ("y_0 ~ exponential(9);", [2.1], "y_0 ~ exponential(0.3);"),
    ("y_0 ~ normal(-2, 0.5);", [-2.4, -1.8], None), ("y_0 ~ normal(0, 1 + 1);", [9.0], None),
    ("y_0 ~ lognormal(0, 1);", [9.0], None),
])  # fmt: skip
def test_a_prior_is_widened_where_it_stands(prior, means, expected):
    text = "parameters { real<lower=0> y_0; } model { %s }\n"
    text += "generated quantities { real z = normal_rng(0, 1) + student_t_rng(3, 0, 1); }"
    source, site = site_of(text % prior)
    statement = replace(statement_of(site.node), site=replace(site, is_prior=True))
    change = widened(statement, [np.array([mean]) for mean in means])
    assert (change and with_fixes(source.text, change.edits[0])) == (expected and text % expected)
    assert expected is None or change.hint.startswith("Write `y_0 ~ ")


@pytest.mark.parametrize(("declared", "m"), [("real m;", "m"), ("vector[9] m;", "m[n]")])
def test_what_generated_quantities_draw_and_evaluate_changes_with_the_statement(declared, m):
    text = f"""data {{ vector[9] y; }} parameters {{ {declared} }} model {{ y ~ normal(m, 1); }}
generated quantities {{
  array[9] real y_rep; vector[9] log_lik;
  for (n in 1:9) {{
    y_rep[n] = normal_rng({m}, 1);
    log_lik[n] = normal_lpdf(y[n] | {m}, 1);
  }}
}}"""
    expected = text.replace(declared, f"{declared} real<lower=2> nu;")
    expected = expected.replace("y ~ normal(m", "nu ~ gamma(2, 0.1); y ~ student_t(nu, m")
    expected = expected.replace("normal_rng(", "student_t_rng(nu, ")
    expected = expected.replace("normal_lpdf(y[n] | ", "student_t_lpdf(y[n] | nu, ")
    assert changed(heavy_tailed, text) == expected and ppl.compile_model(expected)


def test_an_outcome_with_several_statements_is_left_to_the_user():
    assert changed(heavy_tailed, LINE.format("y ~ normal(m, 1);"), alone=False).endswith("several statements")


def test_an_included_file_is_not_changed(tmp_path):
    (tmp_path / "p.stan").write_text("real m;\n")
    (tmp_path / "m.stan").write_text(
        LINE.format("y ~ normal(m, 1);").replace(" real m; ", "\n#include p.stan\n")
    )
    assert changed(heavy_tailed, tmp_path / "m.stan") == "it concerns an included file"


@pytest.mark.parametrize(("model", "expected"), [
    ("for (n in 1:9) y[n] ~ poisson_log(m);",
     "for (n in 1:9) target += log_mix(zero, poisson_lpmf(y[n] | 0), poisson_log_lpmf(y[n] | m));"),
    ("y ~ poisson_log(m);",
     "for (n in 1 : N) {\n  target += log_mix(zero, poisson_lpmf(y[n] | 0), poisson_log_lpmf(y[n] | m));\n}"),
    ("y ~ binomial_logit(y, m + v);",
     "{\n  vector[N] eta = m + v;\n  for (n in 1 : N) {\n    target += log_mix(zero, poisson_lpmf(y[n] | 0), "
     "binomial_logit_lpmf(y[n] | y[n], eta[n]));\n  }\n}"),
    ("target += poisson_log_lpmf(y | m);", "the statement is not of the form `y ~ distribution(...);`"),
    ("y ~ poisson_log(m + /* v */ v);", "there is a comment inside of what has to change"),
])  # fmt: skip
def test_zeros_are_mixed_by_row(model, expected):
    text = "data {{ int N; array[N] int y; vector[N] v; }} parameters {{ real m; }} model {{ {} }}"
    found = changed(zero_inflated, text.format(model))
    now = text.replace("real m;", "real m; real<lower=0, upper=1> zero;").format(expected)
    assert found == (now if "zero" in expected else expected)
    assert "zero" not in expected or ppl.compile_model(found)


def test_the_changed_program_is_that_of_the_fix_where_the_finding_is_in_an_included_file():
    source, site = site_of(LINE.format("y ~ normal(m, 1);"))
    change = heavy_tailed(replace(statement_of(site.node), site=site))
    span = Span(SourceText("z ~ normal(0, 1);", "included.stan"), 1, 1, 1, 18)
    finding = Finding(span, "PPL032", "", "", reference=Reference("", 0.0, np.zeros(1)), change=change)
    assert finding.fixed_source.name == source.name and "student_t(nu" in finding.fixed_source.text


def simulated(kind):
    """A program, data that it misfits, and the code of the finding."""
    rng, n = np.random.default_rng(2), 300 if kind == "PPL033" else 120
    x, z, g = rng.normal(size=n), rng.normal(size=n), rng.integers(1, 9, n)
    mean, e, w = 1 + 0.5 * x, rng.normal(size=n), rng.normal(size=n)
    data, real = {"N": n, "x": x, "z": z, "g": g}, "vector[N]"
    priors = "a ~ normal(0, 5); b ~ normal(0, 5);"
    normal = f"{priors} s ~ exponential(1); y ~ normal(a + b * x, s);"
    rate = np.exp(mean) * rng.gamma(1.0, 1.0, n)
    some = np.exp(mean) * (rng.uniform(size=n) < 0.6)
    share = rng.beta(1.5, 1.5, n)
    counts = "array[N] int<lower=0>"
    match kind:
        case "PPL023":
            data |= {"x": 1e7 * x, "y": 300 + 20 * x + e}
            normal = normal.replace("normal(0, 5); b ~ normal(0, 5)", "normal(0, 500); b ~ normal(0, 1e-4)")
        case "PPL024":
            data |= {"y": mean + 2 * rng.normal(size=9)[g] + e}
        case "PPL020":
            normal, data = normal.replace("a ~ normal(0, 5)", "a ~ normal(40, 1)"), data | {"y": mean + e}
        case "PPL021":
            normal, data = normal.replace("exponential(1)", "exponential(90)"), data | {"y": mean + e}
        case "PPL025":
            data |= {"y": mean + z + e}
        case "PPL025 of two columns":
            data |= {"w": w, "y": mean + z - w + e}
        case "PPL026":
            data |= {"y": mean + 3 * np.sin(np.arange(n) / 9) + 0.5 * e}
        case "PPL028":
            data |= {"y": mean + x**2 + e}
        case "PPL033":
            data |= {"y": mean + 2 * rng.exponential(size=n) - 3}
        case "PPL027":
            data |= {"y": mean + 1.5 * x * z + e}
        case "PPL029":
            data |= {"y": mean + np.exp(x) * e}
        case "PPL032":
            row = np.arange(n)  # on both sides: on one the change for skewed errors does as well
            data |= {"y": mean + e + 12 * ((row % 50 == 0) * 1.0 - (row % 50 == 25))}
        case "PPL030":
            return counts, "", f"{priors} y ~ poisson_log(a + b * x);", data | {"y": rng.poisson(some)}
        case "PPL031":
            return counts, "", f"{priors} y ~ poisson_log(a + b * x);", data | {"y": rng.poisson(rate)}
        case _:
            binomial = f"{priors} for (n in 1:N) y[n] ~ binomial_logit(20, a + b * x[n]);"
            return counts, "", binomial, data | {"y": rng.binomial(20, share)}
    return real, "  real<lower=0> s;\n", normal, data


def text_of(kind):
    of_y, s, model, data = simulated(kind)
    return DATA.replace("{y}", of_y) + A.replace("{s}", s) + f"model {{\n  {model}\n}}\n", data


KINDS = (
    "PPL020, PPL021, PPL023, PPL024, PPL025, PPL025 of two columns, PPL026, PPL027, PPL028, PPL029, PPL030, "
    "PPL031, PPL031 of a binomial, PPL032, PPL033"
)


@pytest.mark.rotate
@pytest.mark.parametrize("kind", KINDS.split(", "))
def test_a_finding_is_gone_after_its_change(kind):
    text, data = text_of(kind)
    found = fixed_with(FixedProgram(SourceText(text), (), ()), data, (), 1)
    assert [f.code for f in found.applied][:1] == [kind[:6]], found.left
    assert not any(kind[:6] in line for line in found.left)
    assert ppl.compile_model(found.source.text).condition(data)


@pytest.mark.rotate
@pytest.mark.parametrize(("codes", "applied", "left"), [
    ((), ["PPL028"], ""), (("PPL025",), ["PPL025"], "--codes omits it"),
])  # fmt: skip
def test_one_change_for_all_findings_is_preferred(codes, applied, left):
    """A coefficient of `w`, a noisy square of `x`, leaves residuals bent; one of the square serves both."""
    text, data = text_of("PPL028")
    w = data["x"] ** 2 + 2 * np.random.default_rng(5).normal(size=data["N"])
    found = fixed_with(FixedProgram(SourceText(text), (), ()), {**data, "w": w}, codes, 1)
    assert [f.code for f in found.applied] == applied and left in " ".join(found.left)


@pytest.mark.rotate
def test_causes_of_a_finding_have_to_go():
    program = PROGRAMS["normal, mean"]
    source, data = SourceText(program.text("wrong family")), program.data("wrong family", 1)
    found = fixed_with(FixedProgram(source, (), ()), data, (), 1)
    assert not found.applied and "PPL032: not changed: its change leaves PPL033" in " ".join(found.left)
