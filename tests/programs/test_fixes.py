"""A message that proposes a change of the text carries it as a fix: made, it mends what it was said of."""

from pathlib import Path

import pytest
from laws.every import every

from ppl.errors import Fix, ModelError
from ppl.programs.pages import pages
from ppl.programs.pedantic import lints
from ppl.source import SourceText
from ppl.structure.discrete.check import checked

GOLDEN = Path(__file__).parents[1] / "golden" / "bad_syntax"
PAGES = [page for page in pages().values() if "wrong" in page.examples and "program" not in page.examples]
PROGRAMS = {page.code: page.examples["wrong"] for page in PAGES} | {
    path.stem: path.read_text("utf-8") for path in sorted(GOLDEN.glob("*.model"))
}
NEXT_MISTAKE = {
    **dict.fromkeys(("PPL131", "for_c_style"), "of a loop in C's form only the type goes"),
    "parenthesis_unclosed_line": "its semicolon is missing too, and is told next",
}


def messages_of(text):
    """All errors, or else all warnings, as records with code, span and fix."""
    try:
        return [*lints(*checked(SourceText(text)))]
    except ModelError as error:
        return [error, *error.others]


def mended(text, fix):
    """The text with the fix made."""
    lines = text.split("\n")
    at, start, end = fix.span, *((k, c - 1) for k, c in places(fix.span))
    before = [*lines[: at.line - 1], lines[start[0]][: start[1]]]
    after = [lines[end[0]][end[1] :], *lines[at.end_line :]]
    return "\n".join(before) + fix.text + "\n".join(after)


def places(span):
    return (span.line - 1, span.column), (span.end_line - 1, span.end_column)


@every("name", PROGRAMS)
def test_a_fix_mends_what_it_is_for(name):
    text = PROGRAMS[name]
    found = [one.code for one in messages_of(text)]
    for one in messages_of(text):
        if one.fix is not None:
            left = messages_of(mended(text, one.fix))
            fewer = [one.code for one in left].count(one.code) < found.count(one.code)
            assert fewer or (name in NEXT_MISTAKE and left[0].message != one.message), one.message


def test_many_messages_have_one():
    with_fix = {one.code for text in PROGRAMS.values() for one in messages_of(text) if one.fix is not None}
    assert len(with_fix) >= 35


MODEL = "data {{ int N; vector[N] y; }} parameters {{ real theta; real<lower=0> s; }} model {{ {} }}"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("y ~ normal(thta, s);", "y ~ normal(theta, s);"),
        ("y ~ nromal(theta, s);", "y ~ normal(theta, s);"),
        ("y ~ gaussian(theta, s);", "y ~ normal(theta, s);"),
        ("y ~ normal_lpdf(theta, s);", "y ~ normal(theta, s);"),
        ("y ~ normal(theta, s)", "y ~ normal(theta, s);"),
        ("y ~ normal(theta, s;", "y ~ normal(theta, s);"),
        ("y ~ normal(theta, Inf);", "y ~ normal(theta, positive_infinity());"),
        ("y ~ normal(fabs(theta), s);", "y ~ normal(abs(theta), s);"),
        ("target += normal_lpdf(y, theta, s);", "target += normal_lpdf(y | theta, s);"),
        ("target += normal_log(y, theta, s);", "target += normal_lpdf(y | theta, s);"),
        ("target += normal_lpmf(y | theta, s);", "target += normal_lpdf(y | theta, s);"),
        ("target += fmax(theta | s);", "target += fmax(theta, s);"),
        ("increment_log_prob(-theta ^ 2);", "target += -theta ^ 2;"),
        ("real x; x <- 2 * s; theta ~ normal(x, 1);", "real x; x = 2 * s; theta ~ normal(x, 1);"),
        ("real x[2]; x[1] = 2; x[2] = s;", "array[2] real x; x[1] = 2; x[2] = s;"),
        ("real x; x = s ** 2;", "real x; x = s ^ 2;"),
        ("if (s > 1 and theta > 1) target += -s;", "if (s > 1 && theta > 1) target += -s;"),
        ("if (s = 1) target += -s;", "if (s == 1) target += -s;"),
        ("row_vector[N] x = y;", "row_vector[N] x = to_row_vector(y);"),
        ("bool x = 1;", "int<lower=0, upper=1> x = 1;"),
    ],
)
def test_what_is_proposed(wrong, right):
    text = MODEL.format(wrong)
    assert mended(text, messages_of(text)[0].fix) == MODEL.format(right)


@pytest.mark.parametrize(
    "body",
    [
        "target += normal_lpdf((y), theta, s);",
        "y ~ normal(zeros(N), s);",
        "y ~ dnorm(theta, s);",
        "target = theta;",
        "y ~ normal(zzz, s);",
    ],
)
def test_what_is_not_mended_by_one_change_has_none(body):
    assert [one.fix for one in messages_of(MODEL.format(body))] == [None]


def test_warnings_propose_a_declaration_where_it_loses_nothing():
    wrong = "parameters {{ {} }} model {{ s ~ gamma(2, 1); }}"
    (lint,) = (one for one in messages_of(wrong.format("real s;")) if one.code == "PPL006")
    assert lint.fix is not None and lint.fix.text == "real<lower=0> s;"
    for declared in ("real s, t;", "real<upper=5> s;", "real /* scale */ s;"):
        assert all(one.fix is None for one in messages_of(wrong.format(declared)) if one.code == "PPL006")


def test_titles():
    text = "model {\n  real thta;\n}\n"
    (span,) = (one.span for one in messages_of(text) if one.code == "PPL002")
    assert Fix(span, "theta").title == "Change `thta` to `theta`"
    assert Fix(span, "").title == "Remove `thta`"
    assert Fix(span.to(span), ";").title == "Insert `;`"
