"""What the grammar accepts, how operators bind, and the cache of its tables."""

import json
import os
import time
from pathlib import Path

import pytest

from ppl.errors import ModelError
from ppl.kernel.language import ast, lalr
from ppl.kernel.language.builder import ParseTree
from ppl.kernel.language.printer import expression
from ppl.programs.checked import analyse
from ppl.programs.explained import parse
from ppl.source import SourceText

SHARED = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[4] / "shared")) / "conformance"


def program(text: str) -> ast.Program:
    return parse(SourceText(text))


def value(text: str) -> ast.Expr:
    (statement,) = program(f"model {{ target += {text}; }}").model
    assert isinstance(statement, ast.TargetIncrement)
    return statement.value


def nested(expr: ast.Expr) -> str:
    """The expression with every pair of parentheses written."""
    match expr:
        case ast.Binary(op=op, left=left, right=right):
            return f"({nested(left)}{op}{nested(right)})"
        case ast.Unary(op=op, operand=operand):
            return f"({op}{nested(operand)})"
        case ast.Ternary(condition=condition, then=then, otherwise=otherwise):
            return f"({nested(condition)}?{nested(then)}:{nested(otherwise)})"
        case ast.Transpose(operand=operand):
            return f"({nested(operand)}')"
        case ast.Indexed(base=base):
            return f"({nested(base)}[])"
        case _:
            return expression(expr)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a - b - c", "((a-b)-c)"),
        ("a + b * c", "(a+(b*c))"),
        ("a * b %/% c", "(a*(b%/%c))"),
        ("a / b \\ c", "(a/(b\\c))"),
        ("a .* b ./ c % d", "(((a.*b)./c)%d)"),
        ("a ^ b ^ c", "(a^(b^c))"),
        ("a .^ b ^ c", "(a.^(b^c))"),
        ("-a ^ b", "(-(a^b))"),
        ("a ^ -b * c", "((a^(-b))*c)"),
        ("-a * b", "((-a)*b)"),
        ("!a == b", "((!a)==b)"),
        ("- -a", "(-(-a))"),
        ("a < b == c > d", "((a<b)==(c>d))"),
        ("a || b && c == d", "(a||(b&&(c==d)))"),
        ("a && b || c", "((a&&b)||c)"),
        ("a ? b : c ? d : e", "(a?b:(c?d:e))"),
        ("a ? b ? c : d : e", "(a?(b?c:d):e)"),
        ("a || b ? c + d : e", "((a||b)?(c+d):e)"),
        ("a' * b'", "((a')*(b'))"),
        ("-a'[1]", "(-((a')[]))"),
        ("a ^ b'", "(a^(b'))"),
        ("(a + b) * c", "((a+b)*c)"),
    ],
)
def test_precedence(text: str, tree: str) -> None:
    assert nested(value(text)) == tree


@pytest.mark.parametrize(
    "text", ["0", "12", "1_000", "1_0e1_0", "5.", ".5", "1e5", "1.5E-3", "2e+3", "1_0.0_1"]
)
def test_numbers(text: str) -> None:
    match value(text):
        case ast.IntLiteral(value=number):
            assert number == int(text)
        case ast.RealLiteral(text=digits):
            assert float(digits) == float(text)
        case other:
            pytest.fail(f"{text} became {other}")


def test_imaginary_literal() -> None:
    assert isinstance(value("3i"), ast.ImaginaryLiteral)
    assert isinstance(value("1.5e2i"), ast.ImaginaryLiteral)


SYNTAX = [
    "",
    "// only a comment\n/* and\nanother */",
    "functions { real f(real x); real f(real x) { return x; } }",
    "functions { void g(data array[,] int n, tuple(real, array[] int) t) { } }",
    "functions { array[,] vector f() { return {{[1]'}}; } }",
    "functions { void foo_lp(real x) { x ~ normal(0, 1); target += x; } }",
    "data { int<lower=0, upper=10> N; real<upper=1, lower=0> p; complex z; complex_matrix[2, 2] C; ; }",
    "data { vector<offset=1, multiplier=2>[3] v; row_vector<lower=[1, 2]>[2] w; }",
    "data { matrix<multiplier=3>[2, 2] m; matrix<multiplier=1, offset=2>[2, 2] n; }",
    "data { cov_matrix[3] S; corr_matrix[3] R; cholesky_factor_cov[4, 3] L; cholesky_factor_cov[3] M; }",
    "data { cholesky_factor_corr[3] L; ordered[2] o; positive_ordered[2] p; unit_vector[3] u; }",
    "data { sum_to_zero_vector[3] z; sum_to_zero_matrix[3, 4] Z; row_stochastic_matrix[2, 3] A; }",
    "data { column_stochastic_matrix[2, 3] A; array[3] tuple(real<lower=0>, array[2] vector[3]) t; }",
    "data { real<lower=(1 < 2)> x; real<lower=(a ? 1 : 2)> y; real<lower=-1, upper=-a[1]'> z; }",
    "data { array[2, f(3)] real<lower=-1e3, upper=a[1]'> x, y; }",
    "transformed data { int n = 1, m; real x = 2; { real y; } n += 1; tuple(int, real) t = (1, 2.0); }",
    "transformed  data { } transformed\nparameters { } generated \t quantities { }",
    "model { x[1, 2:3, :4, 5:, :, ] = y; x[] = y[,]; x.1 = t.2.1; (a, (b, c.1)) = t; }",
    "model { x = 1; x += 1; x -= 1; x *= 1; x /= 1; x .*= 1; x ./= 1; target += 1; jacobian += 1; }",
    "model { y ~ normal(0, 1) T[ , ]; y ~ normal(0, 1) T[1, ]; y ~ f() T[, 2]; 1 + 2 ~ g(x); }",
    "model { for (i in 1:N) for (x in xs) { while (1) { break; continue; } } }",
    "model { if (a) b = 1; else if (c) d = 2; else ; target += target(); }",
    'model { print("a", x); reject("no", 1); fatal_error("x"); f(x); return; }',
    'model { profile("p") { real z = 1; z += 1; } }',
    "model { real f = normal_lpdf(x | 0, 1) + g(y | ); int T = 1; y ~ n(0) T[T, ]; }",
    "model { tuple(real, ) a = (1, ); array[2] tuple(tuple(int, ), real) b; a.1 = f((a.1, )); (a.1, ) = a; }",
    "functions { @inline @grad(f(x), 1) real f(tuple(real,) x) { return x.1; } @extern void g(); }",
    "data { @a(b (c) d) real<lower=0> x, y; } model { @gpu matrix[2, 2] m; if (a) @b int n; else x = 1; }",
    "model { array[2] int a = {1, 2}; row_vector[2] r = [1, 2i]; matrix[0, 0] m = []; }",
    "model { x = a ? b : c; x = a /* c */ * b; x = 2./y; x = 2.*y; x = y.^2; x = m[1 ? 2 : 3 : 4]; }",
    "model { int format; int in_1; real real_x; real datum; int modeled; vector[2] vector_v; real iffy; }",
]


@pytest.mark.parametrize("text", SYNTAX)
def test_accepted(text: str) -> None:
    assert isinstance(program(text), ast.Program)


@pytest.mark.parametrize(
    "word", ["for", "true", "target", "array", "lower", "offset", "tuple", "vector", "print", "var"]
)
def test_reserved_words_are_no_names(word: str) -> None:
    with pytest.raises(ModelError, match=f"`{word}` is a reserved word"):
        program(f"parameters {{ real {word}; }}")


@pytest.mark.parametrize("word", ["T", "jacobian_", "double", "class", "lambda", "mean", "lower1", "N_"])
def test_words_that_are_names(word: str) -> None:
    assert program(f"parameters {{ real {word}; }}").parameters[0].name == word


def test_dangling_else_belongs_to_the_nearest_if() -> None:
    (outer,) = program("model { if (a) if (b) x = 1; else x = 2; }").model
    assert isinstance(outer, ast.If) and isinstance(outer.then, ast.If)
    assert outer.otherwise is None and outer.then.otherwise is not None


@pytest.mark.rotate
def test_deep_nesting_is_refused_not_crashed() -> None:
    deep = 50_000
    for text in ("(" * deep + "1" + ")" * deep + "'" * deep, "-" * deep + "1", "1" + " + 1" * deep):
        with pytest.raises(ModelError, match="nested too deeply") as caught:
            analyse(SourceText(f"parameters {{ real x; }} model {{\n target += {text};\n target += y;\n}}"))
        assert caught.value.line == 2


@pytest.mark.skipif(not SHARED.exists(), reason="the conformance programs are not here")
def test_conformance_programs_parse() -> None:
    texts = [file.read_text() for file in sorted((SHARED / "programs").glob("*.stan"))]
    for cases in sorted((SHARED / "cases").glob("*.jsonl")):
        texts += [json.loads(line)["program"] for line in cases.open()]
    assert len(texts) > 900
    for text in texts:
        program(text)


def test_three_hundred_lines_parse_in_a_quarter_of_a_second() -> None:
    text = "model {\n" + "  y[1] ~ normal(alpha + beta[2] * x[1, 3], exp(sigma) + 2.5e1);\n" * 300 + "}\n"
    program(text)
    best = min(timed(text) for _ in range(3))
    assert best < 0.25


def timed(text: str) -> float:
    start = time.process_time()
    program(text)
    return time.process_time() - start


def test_cached_tables_parse_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PPL_CACHE", str(tmp_path))
    built = lalr.fast.__wrapped__()
    with monkeypatch.context() as patch:
        patch.setattr(lalr, "parser", None)
        again = lalr.fast.__wrapped__()
    for text in SYNTAX:
        assert built.run(text, ParseTree) == again.run(text, ParseTree)


def test_unwritable_cache_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PPL_CACHE", str(tmp_path / "file"))
    assert lalr.fast.__wrapped__().run("model { }", ParseTree).rule == "program"


@pytest.mark.parametrize("tables", ["", "{}", "[]", "3", '{"start": 1', '{"start": 1, "end": 2}'])
def test_wrong_tables_in_the_cache_are_made_again(
    tables: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PPL_CACHE", str(tmp_path))
    monkeypatch.setattr("ppl.cache.StoredParts.read", lambda self, part: tables)
    assert lalr.fast.__wrapped__().run("model { }", ParseTree).rule == "program"
