"""Every syntax message: the golden programs of tests/golden/bad_syntax and the sentences they get.

`PPL_UPDATE_GOLDEN=1 pytest tests/programs/test_syntax_errors.py` writes the sentences anew.
"""

import csv
import os
import random
import re
from pathlib import Path

import pytest

from ppl.errors import ModelError
from ppl.programs import syntax_errors
from ppl.programs.explained import parse
from ppl.programs.syntax_table import RULES
from ppl.source import SourceText

GOLDEN = Path(__file__).parents[1] / "golden" / "bad_syntax"
PROGRAMS = sorted(GOLDEN.glob("*.model"))
SHARED = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[3] / "shared")) / "conformance"
MANIFEST = SHARED / "bad" / "manifest.csv"


def refusal(text: str, name: str = "<string>") -> ModelError:
    with pytest.raises(ModelError) as caught:
        parse(SourceText(text, name))
    return caught.value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda file: file.stem)
def test_golden_message(program: Path) -> None:
    printed = f"{refusal(program.read_text(), program.name)}\n"
    expected = program.with_suffix(".txt")
    if os.environ.get("PPL_UPDATE_GOLDEN"):
        expected.write_text(printed)
    assert printed == expected.read_text()


def test_every_rule_has_a_golden_program(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    stretch = syntax_errors.stretch
    monkeypatch.setattr(syntax_errors, "stretch", lambda *args: used.append(args[0]) or stretch(*args))
    for program in PROGRAMS:
        refusal(program.read_text())
    assert [rule.message for rule in RULES if rule not in used] == []


def test_missing_semicolon_is_placed_where_it_belongs() -> None:
    error = refusal("model {\n  target += 1  // one\n\n  target += 2;\n}\n")
    assert (error.line, error.column) == (2, 14)


def test_removed_array_form_is_rewritten_in_the_hint() -> None:
    assert (
        refusal("data {\n  vector<lower=0>[2] y[3, 4];\n}").hint
        == "Write `array[3, 4] vector<lower=0>[2] y;`."
    )


@pytest.mark.rotate
def test_mutated_programs_are_accepted_or_refused_inside_the_text() -> None:
    rng = random.Random(20)
    good = "data { int<lower=0> N; vector[N] y; } parameters { real mu; }\nmodel {\n  for (n in 1:N) {\n"
    good += "    if (y[n] > 0) y[n] ~ normal(mu, 1) T[0, ];\n    else target += log(2e3) - mu ^ 2;\n  }\n}\n"
    tokens = re.findall(r"\s+|\w+|\S", good)
    for _ in range(400):
        mutant = tokens.copy()
        at, other = rng.sample(range(len(tokens)), 2)
        change = rng.choice(
            ["", mutant[at] * 2, mutant[other], f" {mutant[other]} {mutant[at]}", "$", '"', "/*"]
        )
        mutant[at] = change
        text = "".join(mutant)
        try:
            parse(SourceText(text))
        except ModelError as error:
            line = text.split("\n")[error.line - 1]
            assert 1 <= error.column <= len(line) + 1
            assert error.message and "Token(" not in str(error)


@pytest.mark.skipif(not MANIFEST.exists(), reason="the conformance programs are not here")
def test_conformance_programs_are_refused_on_their_line() -> None:
    wrong = []
    for row in csv.DictReader(MANIFEST.open(newline="")):
        if row["error_class"] in ("syntax", "reserved"):
            error = refusal((SHARED / "bad" / f"{row['name']}.stan").read_text())
            if abs(error.line - int(row["line"])) > 1 or not mentions(str(error), row["must_mention"]):
                wrong.append((row["name"], str(error)))
    assert wrong == []


def mentions(message: str, wanted: str) -> bool:
    """Whether one of the alternatives of a manifest is there; a word only as a whole word."""
    for alternative in wanted.split(" OR "):
        word = alternative.strip() or alternative
        edge = "[A-Za-z0-9]" if re.fullmatch(r"\w+", word) else "(?!)"
        if re.search(rf"(?<!{edge}){re.escape(word)}(?!{edge})", message, re.IGNORECASE):
            return True
    return False
