"""The page "How a loop becomes arrays" of ppl/optimise shows what the passes make of its program."""

import re
from pathlib import Path

import pytest
from laws.passes import lowered, model_of

from ppl.kernel.ir.printer import print_program
from ppl.optimise.forms import GRADIENT, POINTS_GRADIENT

TEXT = (Path(__file__).parents[2] / "ppl" / "optimise" / "README.md").read_text()
PAGE = TEXT.split("## How a loop becomes arrays\n")[1].split("\n## ")[0]
BLOCKS = dict(re.findall(r"```(\S+(?: \S+)?)\n(.*?)```", PAGE, re.DOTALL))
STAGES = [name.split()[1] for name in BLOCKS if name.startswith("text ")]


def test_the_page_has_its_stages() -> None:
    assert STAGES == ["vectorise", "dead-code", "hoist-data", "draws-axis"]


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_is_what_its_pass_makes(stage: str) -> None:
    program = lowered(BLOCKS["stan"])
    for each in (POINTS_GRADIENT if stage == "draws-axis" else GRADIENT).all_passes:
        program = each.run(program)
        if each.name == stage:
            printed = print_program(program)
            parts = re.split(r"\n(?=\S)", BLOCKS[f"text {stage}"].rstrip())
            assert [part for part in parts if f"{part}\n" not in printed] == []
            return
    raise AssertionError(f"no pass {stage}")


def test_the_text_is_what_is_emitted() -> None:
    assert BLOCKS["python"] in model_of(BLOCKS["stan"]).code_of(POINTS_GRADIENT).emitted.text
