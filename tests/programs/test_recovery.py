"""One run reports every independent error, each once, and nothing that only follows from another."""

from pathlib import Path
from typing import Any

import pytest

from ppl.errors import ModelError
from ppl.kernel.language import lalr
from ppl.programs.checked import analyse
from ppl.source import SourceText

GOLDEN = Path(__file__).parents[1] / "golden" / "bad_syntax"

SEVERAL = """\
functions {
  real f(real x {
    return x;
  }
  real g(real x) {
    real y = x * $;
    return y;
  }
}
data {
  int<lower=0> N
  real y[N];
}
parameters {
  real mu;
  real<lower=0> sigma;
  real mu;
}
model {
  sgima ~ normal(0, 1);
  y ~ normal(mu, sigma);
  for (int i = 1; i <= N; i++) {
    y[i] ~ normal(mu, sigma);
  }
  for (n 1:N) { target += tau; target += tau; }
  if (mu = 1) target += 2; else target += 3;
  mu <- 3;
  target += f(mu);  # as above
  target += 2
  target += g(mu, 3);
}
gen quantities {
  real q = 1;
}
generated quantities {
  real r = q;
  real t = undefined;
}
}
"""


def errors(text: str) -> list[ModelError]:
    with pytest.raises(ModelError) as caught:
        analyse(SourceText(text))
    return [caught.value, *caught.value.others]


def places(text: str) -> list[tuple[int, str]]:
    return [(error.line, error.code) for error in errors(text)]


def in_model(*lines: str) -> str:
    return "parameters {\n  real a;\n}\nmodel {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def test_every_independent_error_is_reported_once_and_by_line() -> None:
    assert places(SEVERAL) == [
        (2, "PPL171"), (6, "PPL110"), (11, "PPL173"), (12, "PPL151"), (17, "PPL203"), (20, "PPL201"),
        (22, "PPL131"), (25, "PPL131"), (25, "PPL201"), (26, "PPL134"), (27, "PPL137"), (28, "PPL103"),
        (29, "PPL173"), (30, "PPL501"), (32, "PPL121"), (37, "PPL201"), (39, "PPL124"),
    ]  # fmt: skip


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.model")), ids=lambda file: file.stem)
def test_one_mistake_is_one_error(file: Path) -> None:
    assert len(errors(file.read_text())) == 1


@pytest.mark.parametrize(
    "broken",
    [
        "real b[2];", "a ~ normal(0, 1", "b = {1, 2;", "for (i 1:2) { a ~ normal(0, 1); }", "if a > 0 { ; }",
        "if (a > 0 { ; } else { ; }", "else ;", "target = 2;", "while (a = 1) break;", "print(;", "a := 1;",
        "if (1) a + ; else ;", "{ real c d; }", "1e * a;", "profile(a) { ; }",
    ],
)  # fmt: skip
def test_what_follows_a_broken_statement_is_still_checked(broken: str) -> None:
    found = places(in_model(broken, "target += a", "target += unknown;"))
    assert [line for line, _ in found][-1] == 7 and found[-1][1] == "PPL201"
    assert all(line in (5, 6) for line, _ in found[:-1])


def test_a_semicolon_would_not_make_a_statement_of_an_expression() -> None:
    assert places(in_model("a", "a ~ normal(0, 1);")) == [(5, "PPL140")]
    assert places(in_model("target += 1", "a", "a ~ normal(0, 1);")) == [(5, "PPL173"), (6, "PPL140")]


def test_nothing_is_said_of_names_in_what_could_not_be_read() -> None:
    assert places("data {\n  real y[3];\n}\nmodel {\n  target += y[1];\n}\n") == [(2, "PPL151")]
    assert places("functions {\n  real f(x) { return x; }\n}\nmodel {\n  target += f(1);\n}\n") == [
        (2, "PPL160")
    ]


def test_a_return_that_may_have_been_meant_is_not_missed() -> None:
    assert places("functions {\n  real f(real x) {\n    x;\n  }\n}\n") == [(3, "PPL140")]
    assert places("functions {\n  real f(real x) {\n    reutrn x;\n  }\n}\n")[0][0] == 3


def test_at_most_twenty_errors() -> None:
    found = places(in_model(*(f"target += b{k} $;" for k in range(30))))
    assert [line for line, _ in found] == list(range(5, 25))
    assert len(errors(in_model(*(f"target += b{k};" for k in range(30))))) == 20


def test_the_text_of_the_error_holds_them_all() -> None:
    first, second = errors(in_model("target += b;", "target += c;"))
    assert str(first) == f"{first.describe()}\n\n{second.describe()}"


def test_what_lies_before_a_mistake_is_read_no_more_often_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    reduced, count = lalr.reduced, 0

    def counted(*read: Any) -> Any:
        nonlocal count
        count += 1
        return reduced(*read)

    def work(right: int, wrong: int) -> int:
        nonlocal count
        count = 0
        inner = ["for (k in 1:2) {", *["target += a;"] * right, *["target += a"] * wrong, "}"]
        assert len(errors(in_model(*["target += a;"] * right, *inner))) == wrong
        return count

    monkeypatch.setattr(lalr, "reduced", counted)
    assert work(40, 9) - work(10, 9) <= work(40, 1) - work(10, 1)


def test_else_stays_with_its_if_where_what_lies_before_is_not_read_again() -> None:
    lines = ("if (a > 0) { target += 1; }", "else if (a > 1) a = ;", "else { target += 1; a = ; }", "a $;")
    assert [line for line, _ in places(in_model(*lines))] == [6, 7, 8]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("target += nosuch(unknown) + other(1);", ["PPL204", "PPL201", "PPL204"]),
        ("a ~ nosuch(unknown, other);", ["PPL601", "PPL201", "PPL201"]),
        ("unknown = nosuch(a);", ["PPL201", "PPL204"]),
        ("print(unknown, nosuch(a));", ["PPL201", "PPL204"]),
        ("if (unknown && nosuch(a)) target += [other, a];", ["PPL201", "PPL204", "PPL201"]),
        ("target += nosuch(nosuch(nosuch(a)));", ["PPL204"]),
    ],
)
def test_the_parts_of_a_statement_are_refused_one_by_one(line: str, codes: list[str]) -> None:
    assert places(in_model(line)) == [(5, code) for code in codes]
