"""Wrong uses of discrete parameters: place and code; tests/programs/test_pages.py holds the messages."""

from typing import Any

import pytest

import ppl

REFUSED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "unbounded": ("PPL701", "parameters { int<lower=0> k; } model { k ~ poisson(3); }", {}),
    "without bounds": ("PPL701", "parameters { array[3] int k; } model { k ~ poisson(3); }", {}),
    "in a tuple": ("PPL701", "parameters { tuple(int<lower=0, upper=1>, real) k; }", {}),
    "transformed": ("PPL701", "transformed parameters { int k = 1; }", {}),
    "in transformed data": (
        "PPL202",
        "transformed data { int k = z; } parameters { int<lower=1, upper=2> z; }",
        {},
    ),
    "a size": (
        "PPL415",
        "parameters { int<lower=1, upper=2> z; vector[z] a; } model { a ~ normal(z, 1); }",
        {},
    ),
    "a real outcome": (
        "PPL703",
        "parameters { real a; array[2] int<lower=1, upper=2> z; } model { z ~ normal(a, 1); }",
        {},
    ),
    "a real outcome in a call": (
        "PPL703",
        "parameters { real a; int<lower=1, upper=2> z; } model { target += normal_lpdf(z | a, 1); }",
        {},
    ),
    "truncated": (
        "PPL704",
        "parameters { real<lower=0> a; int<lower=0, upper=1> z; } model { a ~ normal(z, 1) T[0, ]; }",
        {},
    ),
    "printed": ("PPL704", "parameters { int<lower=0, upper=1> z; } model { print(z); }", {}),
    "a while loop": (
        "PPL704",
        "parameters { int<lower=0, upper=1> z; } model { while (z > 1) { } }",
        {},
    ),
    "a loop to where a function of the program says": (
        "PPL706",
        """functions { int last(int n) { return n; } }
        data { int N; array[N] int a; array[N] int b; }
        parameters { real m; array[3] int<lower=0, upper=1> z; }
        model { m ~ normal(0, 1); for (n in 1:last(N)) target += m * z[a[n]] * z[b[n]]; }""",
        {"N": 2, "a": [1, 2], "b": [2, 3]},
    ),
    "left early": (
        "PPL704",
        """parameters { array[3] int<lower=0, upper=1> z; }
        model { for (n in 1:3) { if (z[n] == 1) break; target += 0.1; } }""",
        {},
    ),
    "the target so far": (
        "PPL704",
        "parameters { int<lower=0, upper=1> z; } model { target += z; target += 0.1 * target(); }",
        {},
    ),
    "a function that adds by itself": (
        "PPL704",
        """functions { void add_lp(int k) { target += k; } }
        parameters { int<lower=0, upper=1> z; } model { add_lp(z); }""",
        {},
    ),
    "bounds of each": (
        "PPL705",
        "data { array[2] int u; } parameters { array[2] int<lower=0, upper=u> z; }",
        {"u": [1, 2]},
    ),
    "bounds by another": (
        "PPL705",
        "parameters { int<lower=0, upper=1> w; int<lower=0, upper=w> z; } model { target += z; }",
        {},
    ),
    "no value": (
        "PPL705",
        "data { int K; } parameters { int<lower=1, upper=K> z; } model { target += z; }",
        {"K": 0},
    ),
    "a table too large by the data": (
        "PPL707",
        """data { int K; } parameters { real a; int<lower=1, upper=K> z; int<lower=1, upper=K> w; }
        model { a ~ normal(z * w, 1); }""",
        {"K": 4000},
    ),
    "too many that meet": (
        "PPL706",
        """data { int N; } parameters { real a; array[N] int<lower=0, upper=1> z; }
        model { for (n in 1:N) target += a * z[n] * z[N - n + 1]; }""",
        {"N": 600},
    ),
    "an index beyond the array": (
        "PPL708",
        """data { int N; array[N] int g; } parameters { real a; array[N] int<lower=0, upper=1> z; }
        model { for (n in 1:N) target += a * z[n] * z[g[n]]; }""",
        {"N": 3, "g": [1, 2, 4]},
    ),
}


@pytest.mark.rotate
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_its_code_and_place(name: str) -> None:
    code, text, data = REFUSED[name]
    with pytest.raises(ppl.ModelError) as caught:
        ppl.compile_model(text).condition(data)
    assert caught.value.code == code
    assert caught.value.line >= 1 and caught.value.hint


def test_an_index_beyond_the_array_names_the_statement() -> None:
    text = """parameters { real a; array[3] int<lower=0, upper=1> z; }
    model {
      a ~ normal(0, 1);
      for (n in 1:4) z[n] ~ bernoulli_logit(a);
    }"""
    with pytest.raises(ppl.InferenceError, match=":4:") as caught:
        ppl.compile_model(text).condition({}).log_density([0.1])
    assert "out of range" in str(caught.value)


def test_the_limit_of_a_table_is_an_option() -> None:
    text = """parameters { real a; int<lower=1, upper=40> z; int<lower=1, upper=40> w; }
    model { a ~ normal(z * w, 1); }"""
    ppl.compile_model(text)
    with pytest.raises(ppl.ModelError, match="requires a table of 1,600 entries") as caught:
        ppl.compile_model(text, most_entries=1000)
    assert caught.value.code == "PPL707"
