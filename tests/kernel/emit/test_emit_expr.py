"""What expressions become in Python."""

import ppl

PROGRAM = "data { int k; vector[2] y; } parameters { real q; } model { if (CONDITION) target += q; }"


def condition(text: str) -> str:
    source = ppl.compile_model(PROGRAM.replace("CONDITION", text)).python_source
    return next(line for line in source.splitlines() if line.strip().startswith("if ")).strip()


def test_a_comparison_of_numbers_is_pythons_own() -> None:
    assert condition("k > 2") == "if k > 2:"
    assert condition("!(q <= k)") == "if not q <= k:"
    assert condition("k == 1 || q != 0.0") == "if (k == 1 or q != 0.0):"
