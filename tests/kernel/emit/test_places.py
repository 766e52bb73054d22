"""Emitted code remembers where in the program it came from, so that every failure names a line there."""

import numpy as np
import pytest

import ppl
from ppl.optimise.forms import VALUES

PROGRAM = """functions {
  real pick(vector a, int i) {
    return a[i];
  }
}
data {
  int N;
  int i;
  vector[N] y;
}
transformed data {
  int j = i;
  real first = y[j];
}
parameters {
  real z;
}
transformed parameters {
  real<lower=0> w = exp(z);
}
model {
  real total = 0;
  for (n in 1:N) {
    total += y[n] * z;
    if (n == 3)
      total += pick(y, n + i);
  }
  target += normal_lpdf(
    total | 0, w - i);
}
generated quantities {
  real last = y[N + 2 - i] + z;
}
"""


def posterior(i: int) -> ppl.Posterior:
    return ppl.compile_model(PROGRAM).condition({"N": 4, "i": i, "y": [0.1, 0.2, 0.3, 0.4]})


def test_every_statement_is_remembered() -> None:
    emitted = ppl.compile_model(PROGRAM).code_of(VALUES).emitted
    lines = emitted.text.splitlines()
    assert len(emitted.spans) >= len(lines)
    behind = {span.line: text for span, text in zip(emitted.spans, lines, strict=False) if span}
    of_line_3 = [text for span, text in zip(emitted.spans, lines, strict=False) if span and span.line == 3]
    assert {2, 3, 7, 8, 9, 12, 13, 16, 19, 22, 23, 24, 25, 26, 28, 32} <= set(behind)
    assert "total" in behind[26] and any("return" in line for line in of_line_3)


@pytest.mark.parametrize("i", [5, 0, -1])
def test_failure_in_transformed_data(i: int) -> None:
    with pytest.raises(ppl.PPLError, match=r"^<string>:13:\d+"):
        posterior(i)


def test_failure_in_a_function_called_from_a_loop_names_the_innermost_line() -> None:
    with pytest.raises(ppl.PPLError, match=r"^<string>:3:\d+\n +3 \|     return a\[i\];"):
        posterior(2).log_density(np.zeros(1))
    with pytest.raises(ppl.PPLError, match=r"^<string>:3:"):
        posterior(2).log_density_gradient(np.zeros(1))


def test_failure_in_generated_quantities() -> None:
    with pytest.raises(ppl.PPLError, match=r"^<string>:32:"):
        posterior(1).param_constrain(np.zeros(1), include_tp=True, include_gq=True)


def test_a_density_that_is_not_finite_names_its_statement() -> None:
    assert "<string>:28:" in posterior(1).explain(np.zeros(1))
    assert posterior(1).explain(np.ones(1)) == ""


def test_a_file_is_named_by_its_path(tmp_path) -> None:
    file = tmp_path / "bad.model"
    file.write_text("data { int N; vector[N] y; }\nparameters { real z; }\nmodel { target += z * y[2]; }\n")
    with pytest.raises(ppl.PPLError, match=r"bad\.model:3:"):
        ppl.compile_model(file).condition({"N": 1, "y": [0.0]})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("target += y[i] * z;", "Index 0 of `y`, from `i`, is out of range: dimension 1 has entries 1 to 2."),
        ("target += a[g[2]];", "Index 0 of `a`, from `g`, is out of range: dimension 1 has entries 1 to 3."),
        (
            "target += b[2, g[2]];",
            "Index 0 of `b`, from `g`, is out of range: dimension 2 has entries 1 to 4.",
        ),
        (
            "target += y[-1];",
            "Index -1 of `y` is out of range: dimension 1 has entries 1 to 2; none is counted from the end.",
        ),
        ("target += b[0, 1];", "Index 0 of `b` is out of range: dimension 1 has entries 1 to 3."),
        (
            "target += y[g[i]] * z;",
            "Index 0 of `g`, from `i`, is out of range: dimension 1 has entries 1 to 2.",
        ),
        (
            "vector[2] v = y; for (n in 1:2) { if (z > 0) break; v[g[n]] = z; }",
            "Index 0 of `v`, from `g`, is out of range: dimension 1 has entries 1 to 2.",
        ),
        (
            "for (n in 0:1) { if (z > 0) break; target += y[n] * z; }",
            "Index 0 of `y`, from `n`, is out of range: dimension 1 has entries 1 to 2.",
        ),
        ("for (n in 1:2) target += [z, z][g[n]];", "Index 0, from `g`, is out of range: indices start at 1."),
        (
            "vector[2] v = y * z; target += v[g];",
            "Index 0 of `v`, from `g`, is out of range: indices start at 1.",
        ),
    ],
)
def test_an_index_below_one_is_told_by_the_variables(line: str, message: str) -> None:
    program = "data { vector[2] y; int i; array[2] int g; int J; } parameters { real z; vector[J] a; "
    program += f"matrix[J, 4] b; }} model {{ {line} }}"
    data = {"y": [1, 2], "i": 0, "g": [1, 0], "J": 3}
    with pytest.raises(ppl.PPLError) as caught:
        ppl.compile_model(program).condition(data).log_density(np.zeros(16))
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("target += y[i] * z;", "Index 9 of `y` is out of range: dimension 1 has 2 entries."),
        ("for (n in 1:i) target += y[n] * z;", "Index 3 of `y` is out of range: dimension 1 has 2 entries."),
        ("vector[2] v; v[i] = z;", "Index 9 of `v` is out of range: dimension 1 has 2 entries."),
        ("matrix[2, 2] m; m[1, i] = z;", "Index 9 of `m` is out of range: dimension 2 has 2 entries."),
        ("vector[i] v = y;", "Wrong size of `v`. The declared size is [9], but the value has [2]."),
        ("vector[i] v; v = y;", "Wrong size of `v`. The declared size is [9], but the value has [2]."),
    ],
)
def test_the_variable_is_named_whose_size_is_exceeded(line: str, message: str) -> None:
    program = f"data {{ vector[2] y; int i; }} parameters {{ real z; }} model {{ {line} }}"
    with pytest.raises(ppl.PPLError) as caught:
        ppl.compile_model(program).condition({"y": [1, 2], "i": 9}).log_density(np.zeros(1))
    assert str(caught.value).endswith(message)
