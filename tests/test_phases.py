"""The phases of the compiler: their order, what each makes, and other settings of the same program."""

import pytest
from typer.testing import CliRunner

from ppl.cli.main import app
from ppl.compilation.phases import PHASES, Compilation, run_phases
from ppl.source import SourceText
from ppl.stages import STAGES

PROGRAM = """
data { int N; vector[N] y; }
parameters { real m; array[N] int<lower=0, upper=1> z; }
model { m ~ normal(0, 1); for (n in 1:N) { z[n] ~ bernoulli(0.3); y[n] ~ normal(m + z[n], 1); } }
"""
MADE = ("checked", "completed", "discrete", "continuous", "lowered")


def compilation() -> Compilation:
    return Compilation(SourceText(PROGRAM))


def test_a_phase_runs_those_before_it_and_none_after() -> None:
    names = [phase.name for phase in PHASES]
    assert names == ["check", "complete", "sum out", "lower", "passes", "emit", "load"]
    until = {"check": 1, "complete": 2, "sum out": 4, "lower": 5}
    for last, count in until.items():
        c = compilation()
        run_phases(c, last)
        assert [name in vars(c) for name in MADE] == [k < count for k in range(len(MADE))], last
        assert not c.programs and not c.codes
    c = compilation()
    module = run_phases(c, "load")
    assert "log_joint" in module.functions and [*c.codes] == ["values"]


def test_every_stage_shows_a_phase() -> None:
    assert {phase for phase, _ in STAGES.values()} <= {phase.name for phase in PHASES}


def test_other_settings_are_of_the_same_program() -> None:
    c = compilation()
    maximum = c.changed(elimination="maximum")
    assert maximum.source is c.source and c.elimination == "sum"
    assert "lowered" not in vars(maximum) and maximum.lowered != c.lowered
    assert c.changed(part=maximum.lowered).lowered is maximum.lowered
    (missing,) = c.changed(missing=frozenset({"y"})).completions
    assert missing.name == "y" and not c.completions


def test_no_phase_of_that_name() -> None:
    with pytest.raises(KeyError, match="link"):
        run_phases(compilation(), "link")


def test_show_lists_the_phases() -> None:
    lines = CliRunner().invoke(app, ["show", "phases"]).output.splitlines()
    assert lines == [f"{phase.name}: {phase.meaning}" for phase in PHASES]
