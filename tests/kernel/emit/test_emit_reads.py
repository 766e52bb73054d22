"""What an emitted module says that it takes out of the data is what its text takes out of them."""

import re
from pathlib import Path

import pytest
from laws.passes import lowered

from ppl.kernel.emit.emit import emit
from ppl.optimise.forms import GRADIENT, VALUES, rest_of, rows_of

PROGRAMS = {file.stem: file for file in sorted((Path(__file__).parents[3] / "models").glob("**/*.model"))}
REGRESSION = """
data { int N; vector[N] x; vector[N] y; int K; array[N] int<lower=1, upper=K> lambda; }
transformed data { real slope = 2; vector[N] twice = slope * x; }
parameters { real a; vector[K] b; vector[N] z; real<lower=0> sigma; }
model {
  b ~ normal(0, slope);
  z ~ std_normal();
  y ~ normal(a + b[lambda] + twice + log1p(square(x)) + z, sigma);
}
"""


def texts_of(text: str, function: str) -> set[str]:
    """The names after `d.` in one emitted function, but `places`, which is the layout."""
    body = text.split(f"\ndef {function}(", 1)[1].split("\n\n\ndef ", 1)[0]
    return set(re.findall(r"\bd\.(\w+)", body)) - {"places"}


def set_by_prepare(text: str) -> set[str]:
    body = text.split("\ndef prepare(", 1)[1].split("\n\n\ndef ", 1)[0]
    return set(re.findall(r"^ *d\.(\w+) =", body, re.MULTILINE))


def check(program: str, *forms) -> None:
    for form in forms:
        emitted = emit(form.of(lowered(program)))
        assert emitted.reads == texts_of(emitted.text, "log_joint"), form.name
        both = texts_of(emitted.text, "prepare") | emitted.reads
        assert emitted.loads == both - set_by_prepare(emitted.text), form.name


@pytest.mark.parametrize("name", PROGRAMS)
def test_models(name):
    check(PROGRAMS[name].read_text(), VALUES, GRADIENT)


def test_rows_and_the_rest():
    """Rows of a parameter are taken by their numbers, which are data too; `lambda` is a word of Python."""
    check(REGRESSION, VALUES, GRADIENT, rows_of("N"), rest_of("N"))
    assert "rows" in emit(rows_of("N").of(lowered(REGRESSION))).reads
    assert "lambda__" in emit(VALUES.of(lowered(REGRESSION))).loads
