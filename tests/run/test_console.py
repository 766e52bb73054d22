"""A file gets what rich would write into it, without rich."""

from io import StringIO

import pytest
from rich.console import Console as RichConsole

from ppl.cli.report import sentence
from ppl.run.console import AS_ON_A_TERMINAL, PlainConsole, console_of


def test_lines_in_a_file_are_those_of_rich(monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    plain, rich = console_of(StringIO()), RichConsole(file=StringIO())
    assert isinstance(plain, PlainConsole) and plain.width == rich.width == 70
    for console in (plain, rich):
        console.print("mu  1.5", style="bold", highlight=False, markup=False, soft_wrap=True)
        sentence(console, "ELBO -32.01 ± 0.01 [auto] " * 9)
        console.print()
    assert plain.file.getvalue() == rich.file.getvalue() != ""


def test_a_quiet_one_writes_nothing():
    console = console_of(StringIO(), quiet=True)
    sentence(console, "Wrote output.csv.")
    assert console.file.getvalue() == ""


@pytest.mark.parametrize("name", AS_ON_A_TERMINAL)
def test_the_environment_asks_for_colours_in_a_file(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert isinstance(console_of(StringIO()), RichConsole)
