"""Work on data alone is done once, where it is sure to be done at all."""

import re

import numpy as np
import pytest
from laws.passes import lowered

import ppl
from ppl.optimise.passes import hoist_data

HEADER = """
functions {{
  real loud(real a) {{ if (a > 1e9) reject("too loud"); return a; }}
  real louder(real a) {{ return 2 * loud(a); }}
  real quiet(vector a) {{ return sum(a) / 2; }}
}}
data {{
  int N, M;
  vector[N] y;
  vector[M] s;
  matrix[N, N] A;
}}
parameters {{
  real z;
  vector[N] v;
}}
model {{
  {model}
}}
"""
DATA = {"N": 3, "M": 0, "y": [0.5, -1.0, 2.0], "s": [], "A": np.eye(3) + 0.5}


def function(model: ppl.Model, name: str) -> str:
    """The emitted text of one function."""
    found = re.search(rf"^def {name}\(.*?(?=^def |\Z)", model.python_source, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]


def compiled(model: str) -> ppl.Model:
    return ppl.compile_model(HEADER.format(model=model))


HOISTED = {
    "reduction": ("target += z * mean(y);", "lib.mean("),
    "decomposition": ("v ~ multi_normal_cholesky(y, cholesky_decompose(A));", "lib.cholesky_decompose("),
    "vectorised gather": ("for (n in 1:N) v[n] ~ normal(y[N + 1 - n], 1);", "y["),
    "index set of a branch": ("for (n in 1:N) if (y[n] > 0) target += v[n];", "lib.where_true("),
    "in a branch on data": ("if (M > 0) target += z; else target += z * sd(y);", "lib.sd("),
    "a loop in a branch on data": (
        "if (N > 1) { vector[N] w = y; for (n in 2:N) if (y[n] > 0) w[n] += w[n-1]; target += z * sum(w); }",
        "range(",
    ),
    "a loop within a loop that is arrays": (
        """for (n in 1:N) { int k = M; real a = z;
             for (m in 1:N) { k = N - k; a = 0.5 * a + k * tanh(z); } target += a; }""",
        "lib.require_int(",
    ),
    "in a ternary, the condition": ("target += sum(y) > 0 ? z : -z;", "lib.sum("),
    "a local set once": ("real scale = sd(y); target += z / scale;", "lib.sd("),
    "in a profile": ("profile(\"p\") { target += z * variance(y); }", "lib.variance("),
    "a user's function": ("target += z * quiet(y);", "quiet___("),
    "a user's function, in a loop": ("for (n in 1:N) v[n] ~ normal(quiet(y), 1);", "quiet___("),
    "twice the same": ("target += z * max(y); target += z ^ 2 * max(y);", "lib.max("),
}  # fmt: skip


@pytest.mark.parametrize(("statements", "call"), HOISTED.values(), ids=HOISTED)
def test_data_only_work_is_prepared(statements: str, call: str) -> None:
    model = compiled(statements)
    assert call not in function(model, "log_joint")
    assert function(model, "prepare").count(call) == 1


NOT_HOISTED = {
    "on parameters": ("target += mean(v);", "lib.mean("),
    "a changed local": ("real a = sd(y); a += z; target += a * sd(v);", "lib.sd("),
    "a user's function, which may refuse": ("target += z * loud(y[1]);", "loud___("),
    "one that calls such a function": ("target += z * louder(y[1]);", "loud"),
    "under a condition on parameters": ("if (z > 0) target += z * y[N];", "y["),
    "a local of a branch that another branch has too": (
        """if (N > 1) { vector[N] w = y; for (n in 2:N) w[n] += w[n - 1] ^ 2; target += sum(w); }
           else { vector[N] w = v; target += sum(w); }""",
        "w[",
    ),
    "comparisons of names": ("if (N > 2 && M == 0) target += z;", "M == 0"),
    "in a loop that stays": ("for (n in 1:N) { if (z > n) break; target += z * y[n]; }", "y["),
}


@pytest.mark.parametrize(("statements", "text"), NOT_HOISTED.values(), ids=NOT_HOISTED)
def test_other_work_stays(statements: str, text: str) -> None:
    assert text in function(compiled(statements), "log_joint")


@pytest.mark.parametrize(
    "statements",
    [
        "if (M > 0) target += s[1] * z;",
        "if (M > 0) { real a = s[1]; target += a * z; } else target += z;",
        "if (M > 0) { vector[M] w = s; for (m in 2:M) w[m] += w[m - 1] ^ 2; target += w[1] * z; }",
        "if (M > 0) { if (s[1] > 0) target += s[2] * z; }",
        "if (z > 99) target += s[1] * z;",
        "target += M > 0 ? s[1] * z : z;",
        "target += (M > 0 && s[1] > z) * z;",
        "target += (M == 0 || s[1] > z) * z;",
        "if (M > 0 && s[1] > 0) target += z;",
        'profile("p") { if (M > 0) target += s[1] * z; }',
        "while (M > 0 && z > 0) target += s[1];",
        "for (m in 1:M) { if (z > 99) break; target += s[m] * s[1] * z; }",
        "for (x in s) target += s[1] * x * z;",
    ],
)
def test_what_never_runs_never_fails(statements: str) -> None:
    posterior = compiled(statements).condition(DATA)
    assert np.isfinite(posterior.log_density(np.full(4, 0.3)))


def test_what_is_sure_to_fail_names_its_line() -> None:
    with pytest.raises(ppl.InferenceError, match=r">:18:\d+\n.*target \+= s\[1\] \* z"):
        compiled("target += s[1] * z;").condition(DATA)


def test_a_chain_of_locals_is_looked_at_once_or_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows from parameters is told in the order of the statements, not by one more pass for each."""
    seen: list[object] = []
    whole = hoist_data.depends_on_data
    monkeypatch.setattr(hoist_data, "depends_on_data", lambda s, *known: seen.append(s) or whole(s, *known))
    chain = "".join(f"real l{k} = 0.5 * l{k - 1} + y; " for k in range(1, 100))
    text = f"data {{ real y; }} parameters {{ real a; }} model {{ real l0 = a; {chain} target += l99; }}"
    hoist_data.hoist_data(lowered(text))
    assert 100 <= len(seen) <= 2 * 100
