"""Wrong programs and wrong data: refused where stanc and Stan refuse them, naming the culprit."""

import json
import re
from functools import cache

import pytest
from conformance.pack import HERE, manifest
from laws.every import every

import ppl


@every("row", manifest("bad"))
def test_wrong_program_is_refused_on_its_line(row: dict[str, str]) -> None:
    with pytest.raises(ppl.ModelError) as refused:
        ppl.compile_model(HERE / "bad" / f"{row['name']}.stan")
    assert abs(refused.value.line - int(row["line"])) <= 1
    assert mentions(str(refused.value), row["must_mention"])


@every("row", manifest("data_errors"), lambda row: row["program"])
def test_data_are_refused_as_by_stan(row: dict[str, str]) -> None:
    model = compiled(row["program"])
    data = json.loads((HERE / "data_errors" / f"{row['name']}.data.json").read_text())
    if row["expect"] == "accept":
        model.condition(data)
        return
    with pytest.raises(ppl.PPLError) as refused:
        model.condition(data)
    assert mentions(str(refused.value), row["variable"])


@cache
def compiled(file: str) -> ppl.Model:
    return ppl.compile_model(HERE / "data_errors" / file)


def mentions(message: str, wanted: str) -> bool:
    """Whether one of the alternatives, set apart by " OR ", is there; a word only as a whole word."""
    alternatives = [a.strip() or a for a in wanted.split(" OR ")]
    words = [
        rf"(?<![A-Za-z0-9]){a}(?![A-Za-z0-9])" if re.fullmatch(r"\w+", a) else re.escape(a)
        for a in alternatives
    ]
    return any(re.search(word, message, re.IGNORECASE) for word in words)
