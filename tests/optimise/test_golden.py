"""The IR of small programs as lowered and after each pass.

`PPL_UPDATE_GOLDEN=1 pytest tests/optimise/test_golden.py` writes it anew.
"""

import os
from pathlib import Path

import pytest
from laws.passes import lowered

from ppl.kernel.ir.printer import print_program
from ppl.optimise.forms import VALUES

PROGRAMS = sorted((Path(__file__).parents[1] / "golden" / "ir").glob("*.model"))


def stages(text: str) -> str:
    program = lowered(text)
    out = f"-- lower\n{print_program(program)}"
    for each in VALUES.all_passes:
        program = each.run(program)
        out += f"\n-- {each.name}\n{print_program(program)}"
    return out


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda file: file.stem)
def test_golden_stages(program: Path) -> None:
    found = stages(program.read_text())
    golden = program.with_suffix(".txt")
    if os.environ.get("PPL_UPDATE_GOLDEN"):
        golden.write_text(found)
    assert found == golden.read_text()
