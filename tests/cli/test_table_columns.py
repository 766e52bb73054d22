"""What the table of `ppl variational` shows."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import ppl
from ppl.cli.main import main
from ppl.cli.report import sentence
from ppl.cli.table_columns import table_columns
from ppl.errors import DataError

HIERARCHY = """
parameters {
  real mu;
  vector[3] z;
  real<lower=0> tau;
  cholesky_factor_corr[2] L;
}
transformed parameters {
  vector[3] scaled = tau * z;
  vector[3] theta;
  matrix[2, 2] Omega = multiply_lower_tri_self_transpose(L);
  vector[5] predictor = rep_vector(mu, 5);
  for (k in 1:3) {
    real shift = mu;
    theta[k] = shift + scaled[k];
  }
}
model { mu ~ std_normal(); z ~ std_normal(); tau ~ std_normal(); L ~ lkj_corr_cholesky(2); }
generated quantities { vector[3] y_rep = theta; }
"""
LARGE = """
parameters { vector[30] x; real s; } model { x ~ std_normal(); s ~ std_normal(); }
"""
GENERATED = """
generated quantities { real y = normal_rng(0, 1); real z = y + 1; }
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs `ppl variational` on a program, 80 columns wide; gives the status and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(program, *arguments):
        Path("a.model").write_text(program)
        with pytest.raises(SystemExit) as exit:
            main(["variational", "a.model", "--refresh", "0", "--draws", "50", *arguments])
        printed = capsys.readouterr()
        return exit.value.code or 0, printed.out, printed.err

    return run


def rows(out):
    """The names of the rows of the table."""
    return [line.split()[0] for line in out.partition("\n\n")[0].splitlines()[1:]]


def test_what_transformed_parameters_are_made_of():
    found = ppl.compile_model(HIERARCHY).made_of
    assert found["scaled"] == {"tau", "z"} and found["theta"] == {"mu", "tau", "z"}
    assert found["Omega"] == {"L"} and found["predictor"] == {"mu"}


def test_transformed_parameters_stand_before_their_raw_ones():
    columns = table_columns(ppl.compile_model(HIERARCHY).condition({}), [])
    order = list(dict.fromkeys(name.partition(".")[0] for name in columns))
    assert order == ["mu", "scaled", "theta", "z", "tau", "Omega", "L", "predictor"]


def test_variables_are_picked_by_name():
    posterior = ppl.compile_model(HIERARCHY).condition({})
    assert table_columns(posterior, ["y_rep", "theta.2"]) == ("theta.2", "y_rep.1", "y_rep.2", "y_rep.3")
    with pytest.raises(DataError, match="no variable eta among the draws; there are mu, z, tau"):
        table_columns(posterior, ["eta"])


@pytest.mark.rotate
def test_entries_that_never_vary_are_left_out(run):
    status, out, _ = run(HIERARCHY)
    assert status == 0 and max(map(len, out.partition("\n\n")[0].splitlines())) <= 80
    row_names = rows(out)
    assert [name for name in row_names if name[0] in "LO"] == ["Omega.2.1", "Omega.1.2", "L.2.1", "L.2.2"]
    assert rows(run(HIERARCHY, "--variables", "L")[1]) == ["L.1.1", "L.2.1", "L.1.2", "L.2.2"]


def test_large_variables_are_one_line(run):
    _, out, _ = run(LARGE)
    assert rows(out)[0] == "s" and "\nNot shown: x (30 entries); all in output.csv" in out
    assert len(rows(run(LARGE, "--variables", "x")[1])) == 30


def test_a_program_of_generated_quantities_alone_prints_them(run):
    status, out, _ = run(GENERATED)
    assert status == 0 and rows(out) == ["y", "z"]


def test_a_mode_has_no_sd(run):
    status, out, _ = run(LARGE, "--algorithm", "optimize")
    assert status == 0 and out.splitlines()[0].split() == ["value"] and rows(out)[0] == "s"


def test_a_variable_that_is_not_there_is_refused_before_the_fit(run):
    status, out, err = run(LARGE, "--variables", "x,nu")
    assert status == 1 and out == "" and "no variable nu" in err and not Path("output.csv").exists()


@pytest.mark.parametrize("terminal", [True, False])
def test_sentences_are_broken_between_words_on_a_terminal_alone(terminal):
    out = StringIO()
    words = ["thirteen_long"] * 20
    sentence(Console(file=out, width=80, force_terminal=terminal, color_system=None), " ".join(words))
    lines = out.getvalue().splitlines()
    assert " ".join(lines).split() == words
    assert max(map(len, lines)) <= 80 if terminal else len(lines) == 1
