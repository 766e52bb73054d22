"""Sums in a nest of three loops are products of matrices, where no factor needs both outer loops."""

import numpy as np
import pytest
from laws.cost.counting import cost_of
from laws.passes import assert_same, lowered, model_of, posterior, reference
from laws.verifier.compilation import verified_form

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import LOOPS

HEADER = """
data { int<lower=0> J; int<lower=0> C; int<lower=0> I; matrix[J, I] y; array[J, I] int k; array[J] int g; }
parameters { matrix[C, I] p; vector[I] b; }
model {
  to_vector(p) ~ std_normal();
  b ~ std_normal();
  %s
}
"""
SEPARABLE = {
    "added to a variable": """for (j in 1:J) { vector[C] l = rep_vector(0, C);
        for (c in 1:C) for (i in 1:I) l[c] += y[j, i] * p[c, i];
        target += log_sum_exp(l); }""",
    "filled and summed": """for (j in 1:J) { array[I] real e; vector[C] l;
        for (c in 1:C) { for (i in 1:I) e[i] = b[i] * y[j, i] * p[c, i] + 1; l[c] = 0.5 * c + sum(e); }
        target += log_sum_exp(l); }""",
    "ints, signs, and values of the loop": """for (j in 1:J) { vector[C] l;
        for (c in 1:C) { real s = 0.1;
          for (i in 1:I) { real q = inv_logit(p[c, i] + b[i]);
            s += k[j, i] * log(q) - (1 - k[j, i]) * -log1m(q); }
          l[c] = s; }
        target += log_sum_exp(l); }""",
    "sizes that are expressions": """vector[I] e; array[C] real l;
        for (j in 1:rows(y)) { for (c in 1:rows(p)) { for (i in 1:cols(y)) e[i] = y[j, i] * p[c, i];
          l[c] = sum(e); } target += log_sum_exp(l); }""",
    "distributed": """for (j in 1:J) { real s = 0;
        for (c in 1:C) for (i in 1:I) s -= (y[j, i] + p[c, i]) * -(b[i] * p[c, i] - y[j, i]);
        target += -square(s); }""",
    "two sums": """for (j in 1:J) { real s = 0; vector[C] l;
        for (c in 1:C) {
          for (i in 1:I) s += y[j, i] * p[c, i];
          array[I] real e; for (i in 1:I) e[i] = exp(p[c, i]) * k[j, i]; l[c] = sum(e) * sum(e); }
        target += log_sum_exp(l) - s ^ 2; }""",
    "in a branch": """if (J > 1) for (j in 1:J) { real s = 0;
        for (c in 1:C) for (i in 1:I) s += y[j, i] * p[c, i]; target += -square(s); }""",
}
INSEPARABLE = {
    "a factor of both": "for (i in 1:I) l[c] += exp(y[j, i] * p[c, i]);",
    "an index of both": "for (i in 1:I) l[c] += y[j, (j + c + i) % I + 1] * p[c, i];",
    "an entry for each iteration": "for (i in 1:I) l[i] += y[j, i] * p[c, i];",
    "what the loop changes": "for (i in 1:I) l[c] += y[j, i] * p[c, i] * l[1];",
    "a bound of the outer loop": "for (i in 1:g[j]) l[c] += y[j, i] * p[c, i];",
    "read by itself": "for (i in 1:I) e[i] = y[j, i] * p[c, i]; l[c] = sum(e) + e[1];",
    "a jump": "for (i in 1:I) { if (k[j, i] == 0) break; l[c] += y[j, i] * p[c, i]; }",
    "one side alone": "for (i in 1:I) l[c] += y[j, i];",
    "another variable changed": "for (i in 1:I) { l[1] *= 2; l[c] += y[j, i] * p[c, i]; }",
    "a local that is no scalar": "for (i in 1:I) { row_vector[I] q = y[j]; l[c] += q[i] * p[c, i]; }",
    "set twice": "for (i in 1:I) e[i] = y[j, i] * p[c, i]; e[1] = 2; l[c] = sum(e);",
    "a sum of ints": "for (i in 1:I) m += k[j, i] * c; l[c] += m;",
}


def program(statements: str) -> str:
    return HEADER % statements


def inseparable(name: str) -> str:
    return program(
        f"""for (j in 1:J) {{ vector[max(C, I)] l = rep_vector(0, max(C, I)); array[I] real e; int m = 0;
            for (c in 1:C) {{ {INSEPARABLE[name]} }} target += log_sum_exp(l); }}"""
    )


def data(J: int = 4, C: int = 3, I: int = 5) -> dict:  # noqa: E741
    rng = np.random.default_rng(2)
    k = rng.integers(0, 2, (J, I))
    return {"J": J, "C": C, "I": I, "y": rng.normal(size=(J, I)), "k": k, "g": 1 + np.arange(J) % max(I, 1)}


def point(C: int = 3, I: int = 5) -> np.ndarray:  # noqa: E741
    return np.random.default_rng(3).normal(0, 0.5, C * I + I)


def products(text: str) -> int:
    """How many sums are entries of products of matrices."""
    nodes = walk(verified_form(LOOPS, lowered(text)).model)
    return sum(isinstance(n, ir.Assign) and n.name.startswith("sums_") for n in nodes)


@pytest.mark.parametrize("name", SEPARABLE)
def test_sums_are_those_of_the_loops(name: str) -> None:
    text = program(SEPARABLE[name])
    assert products(text) == (2 if name == "two sums" else 1)
    assert_same(posterior(text, data()), reference(text, data()), point())


@pytest.mark.rotate
@pytest.mark.parametrize("name", SEPARABLE)
@pytest.mark.parametrize("sizes", [(0, 3, 5), (4, 3, 0)], ids=["no rows", "no terms"])
def test_sums_of_nothing(name: str, sizes: tuple[int, int, int]) -> None:
    text = program(SEPARABLE[name])
    assert_same(posterior(text, data(*sizes)), reference(text, data(*sizes)), point(*sizes[1:]))


@pytest.mark.rotate
@pytest.mark.parametrize("name", INSEPARABLE)
def test_other_sums_stay(name: str) -> None:
    text = inseparable(name)
    assert products(text) == 0
    assert_same(posterior(text, data()), reference(text, data()), point())


@pytest.mark.parametrize(("size", "value"), [(2, "IndexError"), (5, ""), (6, "nan")])
def test_an_array_of_another_size_than_the_loop(size: int, value: str) -> None:
    """Its other entries are not set: their sum is nan, as that of the loops."""
    text = program(
        f"""vector[{size}] e; array[C] real l;
            for (j in 1:J) {{ for (c in 1:C) {{ for (i in 1:I) e[i] = y[j, i] * p[c, i]; l[c] = sum(e); }}
              target += log_sum_exp(l); }}"""
    )
    assert products(text) == 1
    for condition in (posterior, reference):
        if value == "IndexError":
            with pytest.raises(ppl.PPLError, match="out of range"):
                condition(text, data()).log_density(point())
        else:
            assert np.isnan(condition(text, data()).log_density(point())) == (value == "nan")


def test_no_number_is_made_for_each_entry_of_the_nest() -> None:
    sizes = 40, 40, 40
    text = program(SEPARABLE["filled and summed"])
    loops, sums = (model_of(text, without).condition(data(*sizes)) for without in (("contractions",), ()))
    u = point(*sizes[1:])
    for _ in range(3):  # the code of the tape is compiled at one of them
        loops.log_density_gradient(u), sums.log_density_gradient(u)
    assert cost_of(lambda: sums.log_density_gradient(u)).numbers < 40**3
    assert cost_of(lambda: loops.log_density_gradient(u)).numbers > 40**3
