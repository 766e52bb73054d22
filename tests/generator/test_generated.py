"""Programs that nobody wrote, from fixed seeds; `run.py` is the long run.

A disagreement is reported by `python tests/generator/run.py --seed SEED --first NUMBER --count 1`, shrunk.
"""

import pytest
from generator.forms import Case, disagreements, forms_of
from generator.program import generated

SEED, PROGRAMS = 22, 200


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_every_form_agrees(number: int) -> None:
    made = generated(SEED, number)
    found = list(disagreements(Case(made.text, made.data), forms_of(number)))
    assert not found, "\n".join([*map(str, found), made.text, f"--seed {SEED} --first {number}"])
