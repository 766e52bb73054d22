"""Formulas as MathML: what is written is what the expression says, with the parentheses that this needs."""

import re
from xml.etree import ElementTree

import pytest

from ppl.cli.site.mathml import displayed, inner, line
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.multivariate_formulas import MULTIVARIATE

MARKS = {"mfrac": "[{}/{}]", "msup": "{}^[{}]", "msub": "{}_[{}]", "msqrt": "√({})", "munder": "{}_[{}]"}


def read(mathml):
    """MathML as one line: a fraction, a power and an index in brackets."""

    def text(node):
        inside = [text(child) for child in node] or [node.text or ""]
        return MARKS.get(node.tag, "{}" * len(inside)).format(*inside).replace("\u2062", "")

    return text(ElementTree.fromstring(f"<math>{mathml}</math>"))


@pytest.mark.parametrize(
    ("expression", "typeset"),
    [
        ("(a + b) * c", "(a+b)c"),
        ("a - (b - c)", "a−(b−c)"),
        ("a / b / c", "[[a/b]/c]"),
        ("square((y - mu) / sigma)", "([y−μ/σ])^[2]"),
        ("-nu / 2 * log(2)", "−[ν/2]log2"),
        ("-(a + b) * c", "−(a+b)c"),
        ("a * (-b)", "a(−b)"),
        ("log1p(x ^ 2) - lgamma(K)", "log(1+x^[2])−logΓ(K)"),
        ("y' / Sigma * y", "y^[⊤]Σ^[−1]y"),
        ("W \\ S", "W^[−1]S"),
        ("x[k - 1] * 2", "x_[k−1]·2"),
        ("sum(j < i, 1 - z[i, j])", "∑_[j<i](1−z_[i,j])"),
        ("lchoose(N, y)", "log([N/y])"),
        ("normal_lpdf(y | L_W, m0)", "normal_lpdf(y|L_[W],m_[0])"),
        ("upper - lower", "upper−lower"),
        ("sqrt(pi()) * abs(x)", "√(π)|x|"),
    ],
)
def test_an_expression_as_it_is_typeset(expression, typeset):
    assert read(inner(expression)) == typeset


def test_every_formula_is_typeset_but_those_with_loops():
    for formula in (*FORMULAS.values(), *MULTIVARIATE.values()):
        if "for (" not in formula:
            ElementTree.fromstring(displayed(formula, "log(p(y))"))


def test_declarations_follow_their_formula():
    rows = re.findall("<mtr>(.*?)</mtr>", displayed("int K = rows(W);\nreal b = K / 2;\nb + K", "f(W)"))
    assert [read(row) for row in rows] == ["f(W)=b+K", "K=rows(W)", "b=[K/2]"]


def test_a_line_of_a_constraint_is_a_formula_or_words():
    assert line("x = u if a is -inf") == "x = u if a is -inf"
    assert line("z = tanh(u); row by row").endswith("</div>\n\nrow by row")
    assert all("<math" in line(c.page.log_jacobian) for c in CONSTRAINTS if c.page)
