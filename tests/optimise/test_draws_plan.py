"""The plan says which statements are run for some draws alone, and what for one after the other."""

import pytest

from ppl.stages import show_stage

CASES = {
    "nothing": ("parameters { vector[3] x; } model { for (i in 1:size(x)) x[i] ~ normal(0, 1); }", [], []),
    "branch": ("parameters { real x; }\nmodel {\n if (x > 0) target += -x; }", [3], []),
    "by way of a local": (
        "parameters { real x; }\nmodel {\n int n = 2; n = x > 0;\n if (n) target += 1; }",
        [4],
        [],
    ),
    "loop": (
        "parameters { real x; }\nmodel {\n real y = x;\n while (y < 1) y += 1;\n target += y; }",
        [4],
        [],
    ),
    "index": ("parameters { vector[2] x; }\nmodel {\n int k = x[1] > 0;\n target += x[k + 1]; }", [], []),
    "index set": (
        "data { vector[4] y; } parameters { real x; }\nmodel {\n for (n in 1:4) {\n"
        " if (y[n] > x) target += x; } }",
        [],
        [],
    ),
    "data": ("data { int k; } parameters { real x; }\nmodel {\n if (k > 0) target += -x; }", [], []),
    "function": (
        "functions { real f(real a) {\n return a > 0 ? a : 0; }\n"
        " real g(real a) {\n return a > 0 ? a : 0; } }"
        "\ndata { real y; }\nparameters { real x; }\nmodel { target += f(2 * x) + g(y); }",
        [2],
        [],
    ),
    "function without a value": (
        "functions { void g_lp(real a) {\n if (a > 0) return;\n target += -a; } }\n"
        "parameters { real x; }\nmodel {\n g_lp(x); }",
        [2],
        [],
    ),
    "arrays of a density": (
        "data { array[2, 3] int y; }\nparameters { array[2] simplex[3] p; vector[3] m; }\nmodel {\n"
        " for (s in 1:2) { y[s] ~ multinomial(p[s]);\n p ~ multi_normal(m, identity_matrix(3)); } }",
        [],
        [],
    ),
    "one at a time": (
        "parameters { vector[2] x; matrix[2, 2] A; }\nmodel {\n target += sum(matrix_power(A, 3) * x); }",
        [],
        ["matrix_power"],
    ),
}


@pytest.mark.parametrize("text, parts, calls", CASES.values(), ids=CASES)
def test_plan(text: str, parts: list[int], calls: list[str]) -> None:
    lines = show_stage(text, "plan").splitlines()
    lines_after = lines[lines.index("Many draws are evaluated at once.") + 1 :]
    lines_after = lines_after[: lines_after.index("")] if "" in lines_after else lines_after
    here = [line for line in lines_after if line.startswith("  ")]
    assert [int(line.split(":")[1]) for line in here if "takes one draw" not in line] == parts
    assert [line.rsplit("(", 1)[1].split()[0] for line in here if "takes one draw" in line] == calls


ALONE = {
    "print": ("print(x); x ~ normal(0, 1);", "the lines that one draw prints must stay together"),
    "size": (
        "int n = 1 + (x > 0); target += -sum(rep_vector(x, n));",
        "the result of `rep_vector` may vary in size",
    ),
}


@pytest.mark.parametrize("body, why", ALONE.values(), ids=ALONE)
def test_what_has_no_form_for_many_draws_says_why(body: str, why: str) -> None:
    plan = show_stage(f"parameters {{ real x; }} model {{ {body} }}", "plan")
    (line,) = [line for line in plan.splitlines() if line.startswith("Draws are evaluated one after")]
    assert why in line
