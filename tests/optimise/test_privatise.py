"""Which declarations move into the loop that uses them, and which must not."""

import numpy as np
import pytest
from laws.passes import lowered, only, posterior, reference

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import GRADIENT
from ppl.optimise.passes.privatise import privatise
from ppl.optimise.passes.table import PASSES

# Each iteration fills all of w before it reads any, and nothing after the loop reads it.
FILLED = """
    array[2] real w;
    real sum = 0;
    for (i in 1:3) { w[1] = i * x; w[2] = w[1] + 1; sum += w[2]; }
"""
OF_A_VECTOR = """
    vector[2] w;
    real sum = 0;
    for (i in 1:3) { for (k in 1:2) { w[k] = i * x + k - 1; } sum += w[2]; }
"""


@pytest.mark.parametrize("filled", [FILLED, OF_A_VECTOR])
@pytest.mark.parametrize("block", ["transformed parameters", "generated quantities"])
def test_an_output_stays_where_it_is_declared(block, filled):
    """Its last values are read when the program ends: w = (3 x, 3 x + 1), and sum = 6 x + 3."""
    text = f"parameters {{ real x; }} {block} {{ {filled} }}"
    if block == "transformed parameters":
        text += " model { sum ~ normal(0, 1); }"
    else:
        text = text.replace(block, "model { x ~ normal(0, 1); } " + block)
    posterior = ppl.compile_model(text).condition()
    names = posterior.param_names(include_tp=True, include_gq=True)
    values = posterior.param_constrain(np.array([0.5]), include_tp=True, include_gq=True)
    assert len(values) == len(names) == 4
    np.testing.assert_allclose(dict(zip(names, values, strict=True))["sum"], 6.0)
    np.testing.assert_allclose(values, [0.5, 1.5, 2.5, 6.0])


def test_scratch_of_the_model_block_is_no_output_where_generated_quantities_have_its_name():
    """The same w is an output of one block and of the other a local: its loop is a sum of arrays."""
    text = f"parameters {{ real x; }} model {{ {FILLED} target += sum; }} generated quantities {{ {FILLED} }}"
    posterior = ppl.compile_model(text).condition()
    model = GRADIENT.of(posterior.model.lowered).model
    assert not any(isinstance(n, ir.For | ir.Scan) for n in walk(model))
    assert posterior.log_density([0.5]) == pytest.approx(6.0)
    np.testing.assert_allclose(posterior.param_constrain([0.5], include_gq=True), [0.5, 1.5, 2.5, 6.0])


def test_an_output_of_transformed_data_is_read_by_later_blocks():
    text = f"""
    data {{ real x; }}
    transformed data {{ {FILLED} }}
    parameters {{ real u; }}
    model {{ u ~ normal(w[2], sum); }}
    """
    posterior = ppl.compile_model(text).condition({"x": 0.5})
    expected = -0.5 * ((1.0 - 2.5) / 6.0) ** 2 - np.log(6.0) - 0.5 * np.log(2 * np.pi)
    assert posterior.log_density(np.array([1.0])) == pytest.approx(expected)


# What stands in a loop over i in 1:3 after `vector[2] w;`, and whether w may be declared in that loop.
MOVES = [
    ("w = rep_vector(i * x, 2); target += w[1];", True),
    ("w[1] = x; w[2] = i; target += w[1] * w[2];", True),
    ("for (k in 1:2) { w[k] = i * x; } target += w[2];", True),
    ("if (i > 1) { w = rep_vector(x, 2); } else { w = rep_vector(i, 2); } target += w[1];", True),
    ("if (i > 1) { w[1] = x; w[2] = 1; } else { w[2] = i; w[1] = 2; } target += w[1];", True),
    ("w = rep_vector(x, 2); if (i > 1) { w[1] = 3; } target += w[1];", True),
    ("w = rep_vector(x, 2); for (k in 1:2) { target += w[k]; }", True),
    ("for (k in 1:2) { w[k] = i * x; target += w[1]; } target += w[2];", True),
    # Read before all of it is set:
    ("w[1] = x; target += w[2]; w[2] = i;", False),
    ("w[1] = x; target += w[1] * w[2];", False),
    ("w = w + i * x; target += w[1];", False),
    ("w[1] = x; w[2] = w[1] + w[2]; target += w[2];", False),
    ("w[1] = w[2]; w[2] = i; target += w[1];", False),
    # Set in one branch, or by a loop that may not run:
    ("if (i > 1) { w = rep_vector(x, 2); } target += w[1];", False),
    ("if (i > 1) { w[1] = x; } else { w[2] = i; } target += w[1];", False),
    ("if (w[1] > 0) { w = rep_vector(x, 2); } else { w = rep_vector(1, 2); } target += w[1];", False),
    ("for (k in 1:n) { w = rep_vector(x, 2); } target += w[1];", False),
    # The same entry in every iteration, the other in none:
    ("for (k in 2:2) { w[k] = i * x; } target += w[2] + w[1];", "unset"),
    ("for (k in (n + 1):2) w[k] = i * x; for (k in 1:2) target += w[k];", "unset"),
    ("if (n > 0) { w = rep_vector(i * x, 2); } else for (k in 2:2) w[k] = i; target += sum(w);", False),
    ("for (k in i:2) { w[k] = i * x; } target += w[2] + w[1];", False),
    ("for (k in 2:2) { w[k] = i * x; } target += sum(w); w[1] = i;", False),
    ("for (k in 1:2) { w[k] = w[1] + i * x; } target += w[2];", False),
    ("print(w[1]); w = rep_vector(x, 2); target += w[1];", False),
    # The number of entries that are set changes before they are read:
    ("int m = 1; w[1] = x; for (k in 2:m) w[k] = x; m += w[1] > -9; for (k in 2:m) target += w[k];", False),
]


@pytest.mark.rotate
@pytest.mark.parametrize("body, moves", MOVES)
def test_a_declaration_moves_where_each_iteration_sets_all_before_it_reads_any(body, moves):
    text = f"""
    data {{ int n; }}
    parameters {{ real x; }}
    model {{
      vector[2] w;
      for (i in 1:3) {{ {body} }}
    }}
    """
    moved = privatise(lowered(text))
    [loop] = [s for s in walk(moved.model) if isinstance(s, ir.For) and s.variable == "i"]
    assert isinstance(loop.body[0], ir.Declare) is bool(moves)
    with_value = text.replace("w;", "w = rep_vector(0.5, 2);", 1)
    moved = privatise(lowered(with_value))
    assert any(isinstance(s, ir.Declare) for s in walk(moved.model)) is (moves is True)
    used = text.replace("w;", "w; w = rep_vector(x, 2); target += w[2];", 1)
    read = f"{used.rstrip()[:-1]} target += w[1]; }}"
    for each, own in ((used, moves is True), (read, False)):
        moved = privatise(lowered(each))
        [loop] = [s for s in walk(moved.model) if isinstance(s, ir.For) and s.variable == "i"]
        assert isinstance(loop.body[0], ir.Declare) is own
    at, data = np.array([0.7]), {"n": 0}
    for each in (text, with_value, used):
        same, whole = posterior(each, data, only(PASSES["privatise"])), reference(each, data)
        np.testing.assert_equal(same.log_density(at), whole.log_density(at))


@pytest.mark.parametrize(
    ("body", "moves"),
    [
        ("if (n > 0) { for (i in 1:3) { w[1] = i * x; w[2] = w[1]; target += w[2]; } }", True),
        ("if (n > 0) target += x; else for (i in 1:3) { w = rep_vector(i * x, 2); target += w[2]; }", True),
        ("if (n > 0) { w[1] = x; target += w[2] + w[1]; }", True),
        ("if (n > 0) { target += w[2]; } else { w[2] = x; target += w[2]; }", False),
        ("if (w[2] > 0) { w[1] = x; target += w[1]; }", False),
        ("if (n > 0) { w[1] = x; } target += w[2];", False),
    ],
)
def test_a_declaration_moves_into_the_side_of_a_branch_that_alone_has_the_variable(body, moves):
    """With the value that it has there: 0.5 is read."""
    text = f"data {{ int n; }} parameters {{ real x; }} model {{ vector[2] w = rep_vector(0.5, 2); {body} }}"
    first = privatise(lowered(text)).model[0]
    assert isinstance(first, ir.If) is moves
    for n in (0, 1):
        same, whole = posterior(text, {"n": n}, only(PASSES["privatise"])), reference(text, {"n": n})
        np.testing.assert_equal(same.log_density(np.array([0.7])), whole.log_density(np.array([0.7])))


@pytest.mark.parametrize(
    "program",
    [
        "vector[2] w; for (i in 1:3) { w = rep_vector(x, 2); target += w[1]; } target += w[2];",
        "vector[2] w; for (i in 1:3) { vector[i] v; v = rep_vector(x, i); target += v[1]; }",
        "vector[2] w; w[1] = x; for (i in 1:3) { w = rep_vector(x, 2); target += w[1]; }",
    ],
)
def test_what_is_read_outside_the_loop_stays_there(program):
    moved = privatise(lowered(f"parameters {{ real x; }} model {{ {program} }}"))
    assert any(isinstance(s, ir.Declare) and s.name == "w" for s in moved.model)


BY_ITERATION = {
    "an entry": "vector[N] mu; for (n in 1:N) { mu[n] = x * y[n]; target += mu[n] ^ 2; }",
    "in branches": """vector[N] mu;
        for (n in 1:N) { if (y[n] > 0) mu[n] = x; else mu[n] = x * y[n]; target += mu[n]; }""",
    "a row": """matrix[N, 2] mu;
        for (n in 1:N) { for (k in 1:2) mu[n, k] = x * k; target += sum(mu[n]) * y[n]; }""",
    "in two loops": """vector[N] mu; for (n in 1:N) { mu[n] = x * y[n]; target += mu[n]; }
        for (n in 1:N) { mu[n] = x + y[n]; target += mu[n] ^ 2; }""",
    "counted backwards": """vector[N] mu;
        for (n in 1:N) { mu[N - n + 1] = x * n; target += mu[N - n + 1] * y[n]; }""",
}  # fmt: skip


@pytest.mark.parametrize("program", BY_ITERATION.values(), ids=BY_ITERATION)
def test_an_array_along_the_loop_is_no_scratch(program: str) -> None:
    """It has one entry an iteration, not one array an iteration."""
    text = f"data {{ int N; vector[N] y; }} parameters {{ real x; }} model {{ {program} }}"
    loops = [s for s in walk(privatise(lowered(text)).model) if isinstance(s, ir.For)]
    assert not any(n.name == "mu" for s in loops for n in walk(s.body) if isinstance(n, ir.Declare))
    at, data = np.array([0.7]), {"N": 4, "y": [0.5, -1.0, 2.0, 0.1]}
    got, expected = ppl.compile_model(text).condition(data), reference(text, data)
    np.testing.assert_allclose(got.log_density(at), expected.log_density(at), rtol=1e-14)
    np.testing.assert_allclose(
        got.log_density_gradient(at)[1], expected.log_density_gradient(at)[1], rtol=1e-13
    )


SCRATCH = {
    "all entries": "vector[N] mu; for (n in 1:N) { for (k in 1:N) mu[k] = k * x; target += sum(mu) * y[n]; }",
    "the entry of the loop among others": """vector[N] mu;
        for (n in 1:N) { mu[n] = x; for (k in 1:N) mu[k] = k * x * y[n]; target += mu[n] ^ 2; }""",
}


@pytest.mark.parametrize("program", SCRATCH.values(), ids=SCRATCH)
def test_an_array_whose_entries_iterations_share_is_scratch(program: str) -> None:
    text = f"data {{ int N; vector[N] y; }} parameters {{ real x; }} model {{ {program} }}"
    (loop,) = (s for s in privatise(lowered(text)).model if isinstance(s, ir.For))
    assert isinstance(loop.body[0], ir.Declare)
    at, data = np.array([0.7]), {"N": 4, "y": [0.5, -1.0, 2.0, 0.1]}
    got, expected = posterior(text, data), reference(text, data)
    np.testing.assert_allclose(got.log_density(at), expected.log_density(at), rtol=1e-14)


def test_what_nothing_reads_is_not_stored() -> None:
    """The value of the entry is used; the variable is not."""
    program = BY_ITERATION["an entry"].replace("vector[N] mu", "vector[M] mu").replace("1:N", "1:M")
    text = f"data {{ int<lower=0> M; vector[M] y; }} parameters {{ real x; }} model {{ {program} }}"
    assert "mu = " not in ppl.compile_model(text).python_source
