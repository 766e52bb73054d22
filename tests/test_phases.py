"""The phases of the compiler: their order, what each makes, and other settings of the same program."""

from functools import cached_property

from click.testing import CliRunner

from ppl.cli.main import app
from ppl.compilation.phases import PHASES, Compilation
from ppl.source import SourceText

PROGRAM = """
data { int N; vector[N] y; }
parameters { real m; array[N] int<lower=0, upper=1> z; }
model { m ~ normal(0, 1); for (n in 1:N) { z[n] ~ bernoulli(0.3); y[n] ~ normal(m + z[n], 1); } }
"""


def compilation() -> Compilation:
    return Compilation(SourceText(PROGRAM))


def test_a_phase_runs_those_before_it_and_none_after() -> None:
    trees = [name for name in PHASES if isinstance(vars(Compilation)[name], cached_property)]
    for count, last in enumerate(trees, 1):
        c = compilation()
        getattr(c, last)
        assert [name for name in PHASES if name in vars(c)] == trees[:count]
        assert not c.programs and not c.codes
    c = compilation()
    c.program()
    assert c.programs and not c.codes


def test_a_tree_takes_the_place_of_the_text() -> None:
    c = compilation()
    derived = c.changed(tree=c.continuous[0])
    assert derived.code().emitted.text == c.code().emitted.text
    assert derived.checked[0] is c.continuous[0] and derived.discrete is None


def test_other_settings_are_of_the_same_program() -> None:
    c = compilation()
    maximum = c.changed(elimination="maximum")
    assert maximum.source is c.source and c.elimination == "sum"
    assert "lowered" not in vars(maximum) and maximum.lowered != c.lowered
    assert c.changed(part=maximum.lowered).lowered is maximum.lowered
    (missing,) = c.changed(missing=frozenset({"y"})).completions
    assert missing.name == "y" and not c.completions


def test_show_lists_the_phases() -> None:
    lines = CliRunner().invoke(app, ["show", "phases"]).output.splitlines()
    assert lines == [f"{name}: {meaning}" for name, meaning in PHASES.items()]
