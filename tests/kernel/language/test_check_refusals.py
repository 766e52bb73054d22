"""Every sentence of the checker: a program that gets it, with the place it points at between « and »."""

import re
from pathlib import Path

import pytest

import ppl
from ppl.kernel.language import call_messages, messages

HEADER = """functions {
  real f(real a) { return a; }
  real g(data real a) { return a; }
  void say(real a) { print(a); }
  vector ode(real t, vector y, data real a, real b) { return -a * b * y; }
  real part_sum(array[] real xs, int start, int end, real m) { return sum(xs) * m; }
  real part_sum_lp(array[] real xs, int start, int end, real m) { return sum(xs) * m; }
  real part_sum_of_data(array[] real xs, int start, int end, data real m) { return sum(xs) * m; }
  real own_lpdf(real y) { return -y; }
  real own_lcdf(real y) { return -y; }
}
data {
  int N;
  real r;
  vector[3] v;
  row_vector[3] w;
  matrix[3, 3] A;
  array[3] int k;
  array[3] real q;
}
parameters {
  real p;
  vector[3] pv;
}
"""

IN_MODEL = (
    # Names
    ("PPL201", "target += «nothing»;"),
    ("PPL203", "real «v» = 1;"),
    ("PPL203", "for («v» in 1:3) target += 1;"),
    ("PPL204", "target += «expp»(p);"),
    ("PPL204", "real a = «normal»(0, 1);"),
    ("PPL205", "target += «v(1)»;"),
    ("PPL206", "target += «f» + 1;"),
    ("PPL207", "target += sum(dae(«f», v, v, 0, q)[1]);"),
    ("PPL208", "target += «normal_log»(p, 0, 1);"),
    # Assignment
    ("PPL301", "«r» = 1;"),
    ("PPL301", "«p» = 1;"),
    ("PPL301", "for (i in 1:3) «i» = 2;"),
    ("PPL303", "real a; «(a, a)» = (1.0, 2.0);"),
    ("PPL303", "real a; tuple(real, real) b; «(b.1, (a, b))» = (1.0, (1.0, (2.0, 3.0)));"),
    ("PPL303", "array[3] int a; «(a[1], a[2])» = (1, 2);"),
    ("PPL304", "array[3] int a = k; a[«a»[1]] = 2;"),
    ("PPL304", "array[3] int a = k; a[size(«a»)] += 2;"),
    ("PPL304", "array[3] int a = k; int i = 1; (i, a[«i»]) = (1, 2);"),
    ("PPL304", "tuple(array[3] int, int) a = (k, 1); a.1[«a».2] = 2;"),
    ("PPL305", "vector[3] a; «a[:][1]» = 2;"),
    ("PPL305", "matrix[3, 3] a; «a[k, 1][2]» = 2;"),
    ("PPL302", "int i; i = «1.5»;"),
    ("PPL302", "real a = 1; «a ./= 2;»"),
    ("PPL302", "real a = 1; «a .*= r;»"),
    ("PPL302", "vector[3] a; a = «w»;"),
    ("PPL302", "vector[3] a = v; «a *= A;»"),
    ("PPL302", "matrix[3, 3] a = A; «a /= A;»"),
    ("PPL302", "int i = «2.0»;"),
    ("PPL302", "tuple(real, ) t = («2»);"),
    # Types
    ("PPL401", "target += sum(«v + w»);"),
    ("PPL401", "target += sum(«v * v»);"),
    ("PPL401", "target += «r % 2»;"),
    ("PPL401", "target += sum(«q + q»);"),
    ("PPL401", "target += sum(«q'»);"),
    ("PPL401", "target += «!v»;"),
    ("PPL401", "target += «v && 1»;"),
    ("PPL401", "target += «r && 1»;"),
    ("PPL402", "if («r») target += 1;"),
    ("PPL402", "if («v») target += 1;"),
    ("PPL402", "while («q») target += 1;"),
    ("PPL402", "target += «A» ? 1 : 2;"),
    ("PPL403", "target += sum(«r > 0 ? v : w»);"),
    ("PPL404", "for (i in «r»:3) target += 1;"),
    ("PPL404", "for (i in 1:«p») target += 1;"),
    ("PPL405", "for (i in «N») target += 1;"),
    ("PPL406", "target += v[«r»];"),
    ("PPL406", "target += sum(v[1:«p»]);"),
    ("PPL407", "target += «r[1]»;"),
    ("PPL407", "target += «v[1, 2]»;"),
    ("PPL407", "target += «A[1, 2, 3]»;"),
    ("PPL408", "target += size({v, «w»});"),
    ("PPL409", "target += sum([«v», v]);"),
    ("PPL410", "target += «r.1»;"),
    ("PPL411", "tuple(int, real) t = (1, 2.0); target += «t.3»;"),
    ("PPL414", "vector[«r»] a;"),
    # Calls
    ("PPL501", "target += normal_lpdf(p | «A», 1);"),
    ("PPL501", "target += «f(1, 2)»;"),
    ("PPL502", "target += «say(1)»;"),
    ("PPL503", "«f(1);»"),
    ("PPL504", "target += «normal_lpdf(p, 0, 1)»;"),
    ("PPL505", "target += «f(p | 1)»;"),
    ("PPL506", "target += g(«p»);"),
    ("PPL506", "target += sum(linspaced_vector(3, 0, «p»));"),
    ("PPL506", "target += quantile(«{p, 1}», 0.5);"),
    ("PPL506", "target += sum(hmm_hidden_state_prob(A, A, «[p, 1]'»));"),
    ("PPL508", "«jacobian += 1;»"),
    ("PPL508", "target += «lower_bound_jacobian(p, 0)»;"),
    ("PPL509", "target += «normal_rng(0, 1)»;"),
    ("PPL506", "for (x in v) target += g(«x»);"),
    ("PPL506", "target += reduce_sum(part_sum_of_data, q, 1, «p»);"),
    ("PPL506", "target += sum(ode_rk45(ode, v, 0, q, «p», r)[1]);"),
    ("PPL506", "target += sum(ode_rk45_tol(ode, v, 0, q, «p», 1e-6, 1000, r, p)[1]);"),
    ("PPL511", "target += «reduce_sum(part_sum, 1, 2)»;"),
    ("PPL511", "target += sum(«ode_rk45(ode, q, 0, q, r, p)»[1]);"),
    ("PPL511", "target += «integrate_1d(f, 0, 1, {p})»;"),
    ("PPL511", "target += «reduce_sum(part_sum, {(1.0, 2.0)}, 1)»;"),
    ("PPL512", "target += reduce_sum(«f», q, 1, r);"),
    ("PPL512", "target += reduce_sum(«part_sum_lp», q, 1, r);"),
    ("PPL512", "target += sum(ode_rk45(«f», v, 0, q)[1]);"),
    ("PPL512", "target += sum(solve_newton(«ode», v, r, p));"),
    # Distributions
    ("PPL601", "p ~ «nromal»(0, 1);"),
    ("PPL601", "p ~ «exp»(1);"),
    ("PPL601", "p ~ «HalfNormal»(1);"),
    ("PPL204", "target += «normal»(p | 0, 1);"),
    ("PPL602", "p ~ «normal_lpdf»(0, 1);"),
    ("PPL603", "target += «normal_lpmf»(N | 0, 1);"),
    ("PPL603", "target += «poisson_lpdf»(N | 2);"),
    ("PPL604", "target += «multi_normal_lcdf»(v | v, A);"),
    ("PPL605", "p ~ normal(«A», 1);"),
    ("PPL605", "«p» ~ poisson(1);"),
    ("PPL606", "«pv ~ multi_normal(v, A) T[0, ];»"),
    ("PPL606", "«p ~ own() T[, 1];»"),
    ("PPL607", "p ~ normal(0, 1) T[«v», ];"),
    # Functions
    ("PPL807", "«return;»"),
    ("PPL807", "«return 1;»"),
    ("PPL812", "«break;»"),
    ("PPL812", "if (r > 0) «continue;»"),
)

WHOLE = (
    (
        "PPL513",
        "functions {\n  real f(int a, real b) { return a; }\n  real f(real a, int b) { return b; }\n}\n"
        "model {\n  target += «f(1, 1)»;\n}",
    ),
    (
        "PPL515",
        "functions {\n  matrix k(real p, int n) { return identity_matrix(n); }\n}\nparameters { real p; }\n"
        "model { {1, 2} ~ laplace_marginal_poisson_log({1, 2}, zeros_vector(2), «k, (p, 2)»); }",
    ),
    (
        "PPL514",
        "functions {\n  real l(vector t, real p, int n) { return «gamma_lcdf(t | p, 1)»; }\n"
        "  matrix k(real p, int n) { return identity_matrix(n); }\n}\n"
        "parameters { real p; } model { target += laplace_marginal(l, (p, 1), 1, k, (p, 2)); }",
    ),
    (
        "PPL506",
        "functions {\n  vector m(vector a, vector b, array[] real r, array[] int i) { return a; }\n}\n"
        "parameters { vector[1] p; }\nmodel { target += sum(map_rect(m, p, {p}, «{{p[1]}}», {{1}})); }",
    ),
    (
        "PPL506",
        "functions {\n  real g(real x, real c, array[] real p, array[] real r, array[] int i) { return 1; }"
        "\n}\nparameters { real p; }\nmodel { target += integrate_1d(g, 0, 1, {p}, «{p}», {1}); }",
    ),
    (
        "PPL510",
        "functions {\n  real s_lpmf(array[] int y, int a, int b, real p) { return p; }\n"
        "  real h(array[] int y, real p) { return reduce_sum(«s_lupmf», y, 1, p); }\n}",
    ),
    (
        "PPL511",
        "functions {\n  real s(array[] complex y, int a, int b) { return 1; }\n"
        "  real h(array[] complex y) { return «reduce_sum(s, y, 1)»; }\n}",
    ),
    ("PPL813", "model { real «a_lupdf»; }"),
    ("PPL813", "model { for («a_lupdf» in 1:3) target += 1; }"),
    ("PPL813", "functions {\n  real «a_lupdf»(real y) { return y; }\n}"),
    ("PPL202", "data { vector[«N»] v; int N; }"),
    ("PPL202", "model { target += «g»; } generated quantities { real g = 1; }"),
    ("PPL203", "data { int N; } parameters { real «N»; }"),
    ("PPL709", "parameters { «complex<lower=0>» z; }"),
    ("PPL709", "data { «complex_vector<offset=1>[2]» z; }"),
    ("PPL302", "transformed data { real x = «2i»; }"),
    ("PPL302", "transformed data { complex_vector[2] v; vector[2] x = «v»; }"),
    ("PPL302", "transformed data { real r = 1; «r += 1i;» }"),
    ("PPL401", "transformed data { complex z = «1 < 2i»; }"),
    ("PPL401", "transformed data { complex z = «2i % 2»; }"),
    ("PPL401", "transformed data { complex_vector[1] v = [1i]'; v = «[[1i]] \\ v»; }"),
    ("PPL401", "transformed data { complex z = 2i; int b = «!z»; }"),
    ("PPL401", "model { target += «2i»; }"),
    ("PPL402", "transformed data { complex z = 2i; if («z») print(1); }"),
    ("PPL405", "transformed data { complex_vector[2] v; for (z in «v») print(z); }"),
    ("PPL501", "transformed data { complex z = exp(«{1i}»); }"),
    ("PPL205", "functions { real f(real a) { return a; } } model { real f; f = «f(1)»; }"),
    ("PPL301", "parameters { real p; } generated quantities { «p» = 1; }"),
    ("PPL301", "functions { void f(real a) { «a» = 1; } }"),
    ("PPL415", "parameters { real p; } transformed parameters { vector[«p > 0»] a; }"),
    ("PPL415", "generated quantities { int n = 3; vector[«n»] a; }"),
    ("PPL416", "transformed data { vector[«poisson_rng(3)»] a; }"),
    ("PPL507", "data { real r; } generated quantities { «target += r;» }"),
    ("PPL507", "functions { void f(real a) { «a ~ normal(0, 1);» } }"),
    ("PPL507", "parameters { real p; } generated quantities { real a = «target()»; }"),
    ("PPL507", "functions { void f_lp(real a) { target += a; } } generated quantities { «f_lp(1)»; }"),
    ("PPL510", "generated quantities { real g = «normal_lupdf(1 | 0, 1)»; }"),
    ("PPL510", "functions { void f_lp(real x) { target += «normal_lupdf(x | 0, 1)»; } }"),
    ("PPL701", "parameters { «int<lower=0> n;» }"),
    ("PPL701", "transformed parameters { «array[2] int n;» }"),
    ("PPL702", "parameters { real<lower=«[1, 2]»> a; }"),
    ("PPL702", "data { int<lower=«0.5»> a; }"),
    ("PPL702", "data { array[2] int n; } parameters { array[2] real<lower=«n»> a; }"),
    ("PPL801", "functions { real f(real a, «real a») { return a; } }"),
    ("PPL802", "functions { real f(real a) { return a; } real «f»(real b) { return b; } }"),
    ("PPL802", "functions { real «exp»(real a) { return a; } }"),
    ("PPL802", "functions { real f(real a) { return a; } real «f»(real a); }"),
    ("PPL802", "functions { real f(real a); real «f»(data real a) { return a; } }"),
    ("PPL802", "functions { int f(real a); real «f»(real a) { return a; } }"),
    ("PPL802", "functions { real «exp»(int a) { return a; } }"),
    ("PPL802", "functions { real «reduce_sum»(real a) { return a; } }"),
    ("PPL803", "functions { real «f»(real a); }"),
    ("PPL804", "functions { real «f»(real a) { if (a > 0) return 1; } }"),
    ("PPL804", "functions { real «f»(real a) { for (i in 1:3) { if (a > i) break; return 1; } } }"),
    ("PPL804", "functions { real «f»(real a) { while (1) { if (a > 1) break; } } }"),
    ("PPL804", "functions { real «f»(real a) { if (a > 1) return 1; else return 2; print(a); } }"),
    ("PPL805", "functions { vector f(real a) { «return a;» } }"),
    ("PPL806", "functions { void f(real a) { «return a;» } }"),
    ("PPL808", "functions { real f(real a) { «return;» } }"),
    ("PPL809", "functions { int «f_lpdf»(real a) { return 1; } }"),
    ("PPL810", "functions { real f_lpdf(«int a») { return 1; } }"),
    ("PPL810", "functions { real f_lpmf(«real a») { return 1; } }"),
    ("PPL811", "functions { real «f_lpdf»() { return 1; } }"),
)

CASES = (*((code, f"{HEADER}model {{\n  {s}\n}}\n") for code, s in IN_MODEL), *WHOLE)


def refused(marked: str) -> ppl.ModelError:
    with pytest.raises(ppl.ModelError) as caught:
        ppl.compile_model(marked.translate({ord("«"): None, ord("»"): None}) + "\n")
    return caught.value


def place(marked: str) -> tuple[int, int, int]:
    """Line, column and end of the text between the marks."""
    before, inside = marked.split("«")[0], marked.split("«")[1].split("»")[0]
    column = len(before) - before.rfind("\n")
    return before.count("\n") + 1, column, column + len(inside)


@pytest.mark.parametrize(("code", "program"), CASES, ids=[f"{c} {s}" for c, s in (*IN_MODEL, *WHOLE)])
def test_refused_with_its_code_at_its_place(code: str, program: str) -> None:
    error = refused(program)
    span = error.span
    assert (error.code, (span.line, span.column, span.end_column)) == (code, place(program))
    assert error.others == ()
    assert error.message.endswith(".") or error.hint


def test_a_tuple_of_one_item_and_a_jacobian_have_their_advice() -> None:
    error = refused(
        "functions { real f(tuple(real, ) a) { return a.1; } } transformed data { real b = f(«(1)»); }"
    )
    assert "must be tuple(real, ). A tuple of one item ends with a comma: `(x, )`." in error.message
    error = refused("parameters { real a; } model { target += «lower_bound_jacobian(a, 0)»; }")
    assert error.message.startswith("`lower_bound_jacobian` changes the Jacobian adjustment, which only ")
    assert (error.hint or "").startswith("`lower_bound_constrain` returns the same value")


def test_every_sentence_is_reached() -> None:
    texts = [Path(module.__file__).read_text() for module in (messages, call_messages)]
    codes = set(re.findall(r'"(PPL\d+)"', "".join(texts)))
    assert codes - {code for code, _ in CASES} == set()


def test_independent_errors_are_reported_together_by_line() -> None:
    error = refused("model {\n  real a = b;\n  int i = 1.5;\n  target += a + nothing;\n  int j = i * 2;\n}")
    assert [e.code for e in (error, *error.others)] == ["PPL201", "PPL302", "PPL201"]
    assert [e.line for e in (error, *error.others)] == [2, 3, 4]


def test_a_refused_declaration_is_not_refused_again_where_it_is_used() -> None:
    error = refused("data { vector[1.5] z; }\nmodel { target += z * 1i; }")
    assert error.others == ()


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("p ~ HalfNormal(1);", "Write `normal(0, sigma)` for a variable declared with `<lower=0>`."),
        ("p ~ dexp(1);", "Write `exponential(beta)`, with the rate."),
        ("target += normal(p | 0, 1);", "or `target += normal_lpdf(x | ...);`"),
        ("if (p != NA) p ~ std_normal();", "`ppl docs missing-data` makes them parameters"),
    ],
)
def test_words_of_other_languages_get_the_line_to_write(statement: str, advice: str) -> None:
    error = refused(f"parameters {{ real p; }} model {{ {statement} }}")
    assert advice in (error.hint or "")


def test_parameters_in_another_order_that_fits_are_proposed() -> None:
    error = refused("data { int n; int k; } parameters { real p; } model { k ~ binomial(p, n); }")
    assert "In the order `binomial(n, p)` they fit." in str(error)
    error = refused("data { int k; vector[2] n; } parameters { real p; } model { k ~ binomial(p, n); }")
    assert "In the order" not in str(error)
