"""Exit statuses and messages, of commands run in this process."""

import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from ppl.cli.group import NAMES, SHOWN
from ppl.cli.main import app, main
from ppl.results.report import summary

PROGRAM = """\
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(0, 10);
  sigma ~ normal(0, 5);
  y ~ normal(mu, sigma);
}
generated quantities {
  real y_rep = normal_rng(mu, sigma);
}
"""
DATA = {"N": 6, "y": [1.5, 2.5, 3.5, 2.0, 3.0, 2.4]}

PAPER = ("--start", "random", "--no-average", "--no-refine", "--no-correct")


@pytest.fixture
def run(run, tmp_path):
    """In a folder with toy.model and toy.json."""
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "toy.json").write_text(json.dumps(DATA))
    return run


def test_data_that_no_program_declares_are_named_when_asked(run):
    Path("more.json").write_text(json.dumps({**DATA, "extra": 1, "x": [2]}))
    for more, is_named in ((), False), (("--verbose",), True):
        status, out, err = run("variational", "toy.model", "more.json", "--iter", 100, "--draws", 5, *more)
        assert status == 0 and ("the program declares no `extra`, `x`" in out + err) == is_named


def test_data_that_are_nearly_what_is_declared_are_always_named(run):
    Path("more.json").write_text(json.dumps({**DATA, "n": 7, "y1": [2]}))
    short = ("variational", "toy.model", "more.json", "--algorithm", "laplace", "--draws", 5)
    status, out, err = run(*short, "--diagnostic-file", "d.csv")
    assert status == 0 and "`y1`" not in err
    assert "d.csv has no rows: the run evaluated the ELBO once" in out
    assert "more.json: `n` is not used; the program declares `N`: did you mean that?\n" in err
    assert run(*short, "-q")[2] == ""


def test_data_from_several_files_are_merged(run, tmp_path):
    Path("n.json").write_text('{"N": 6}')
    Path("y.csv").write_text("y\n" + "".join(f"{y}\n" for y in DATA["y"]))
    written = []
    short = ("--algorithm", "laplace", "--draws", 5, "-q")
    for data in (["toy.json"], ["n.json", "y.csv"], ["n.json", "--data", "y.csv"], ["y.csv"]):
        assert run("variational", "toy.model", *data, *short) == (0, "", "")
        lines = Path("output.csv").read_text().splitlines()
        written.append([line for line in lines if "file = " not in line])
        assert f"#   file = {' '.join(word for word in data if word != '--data')}" in lines
    assert all(lines == written[0] for lines in written)
    status, _, err = run("variational", "toy.model", "toy.json", "n.json", *short)
    assert status == 1 and "n.json: `N` is in toy.json too; give it once" in " ".join(err.split())


def test_data_on_standard_input(run, monkeypatch):
    short = ("--algorithm", "laplace", "--draws", 5, "-q")
    for text, status, message in ((json.dumps(DATA), 0, ""), ('{"N": }', 1, "standard input:1:7")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        done, _, err = run("variational", "toy.model", "-", *short)
        assert done == status and message in err


def test_data_in_the_place_of_the_program_are_refused(run):
    status, _, err = run("variational", "toy.json", "toy.model")
    assert status == 2 and "MODEL is a program" in err


def test_version(run):
    status, out, _ = run("--version")
    assert status == 0 and out.startswith("ppl ")


@pytest.mark.parametrize("command", ["variational", "check", "show"])
def test_help_fits_a_screen_and_begins_with_an_example(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0 and "First example:" in out
    assert len(out.splitlines()) <= 40 and max(map(len, out.splitlines())) <= 80


def test_help_lists_twelve_commands_in_groups_and_all_lists_the_others(run):
    status, nothing_typed, _ = run()
    assert status == 2
    status, out, err = run("--help")
    assert status == 0 and nothing_typed in (out, "") and err == ""
    listed = re.findall(r"^(\w+):\n((?:  [a-z].+\n)+)", out, re.MULTILINE)
    assert {g: tuple(re.findall(r"^  ([a-z]+)", lines, re.MULTILINE)) for g, lines in listed} == SHOWN
    assert len(sum(SHOWN.values(), ())) == 12 and "ppl --all lists 12 more commands." in out
    assert len(out.splitlines()) <= 42 and max(map(len, out.splitlines())) <= 80
    every = run("--all")[1]
    assert every == run("--help", "--all")[1] == run("--all", "-h")[1]
    assert all(re.search(rf"^  {name.replace('_', '-')} +[A-Z]", every, re.MULTILINE) for name in NAMES)


@pytest.mark.parametrize(
    ("command", "usage"), [("compare", "FILE..."), ("variational", "MODEL [DATA...]"), ("check", "MODEL...")]
)
def test_an_error_of_usage_shows_what_is_expected(run, command, usage):
    status, _, err = run(command)
    assert status == 2 and err.partition("\n")[0].endswith(f" {command} [OPTIONS] {usage}")


def test_variational_writes_draws_and_says_what_it_did(run):
    status, out, err = run(
        "variational", "toy.model", "toy.json", "--draws", 50, "--diagnostic-file", "d.csv"
    )
    assert status == 0 and err.startswith("Pathfinder 0 of ")
    frame = pd.read_csv("output.csv", comment="#")
    assert list(frame.columns) == ["lp__", "log_p__", "log_g__", "mu", "sigma", "y_rep"]
    assert len(frame) == 51
    assert pd.read_csv("d.csv", comment="#").columns.tolist() == ["iter", "time_in_seconds", "ELBO"]
    for words in ("mean", "95%", "mu", "sigma", "ELBO", "±", "Wrote output.csv and d.csv."):
        assert words in out
    assert "y_rep" not in out  # the table is of the parameters


def test_same_seed_same_bytes(run, tmp_path):
    contents = set()
    for _ in range(2):
        assert run("variational", "toy.model", "toy.json", "--seed", 5, "--iter", 300)[0] == 0
        contents.add((tmp_path / "output.csv").read_bytes())
    assert len(contents) == 1


def test_progress_is_plain_lines_where_there_is_no_terminal(run):
    loop = ("variational", "toy.model", "toy.json", "--iter", 300, "--tol-rel-obj", 1e-9, *PAPER)
    _, out, err = run(*loop)
    lines = [line for line in err.splitlines() if " of 300 " in line]
    assert [line.split()[2] for line in lines] == ["100", "200", "300"]
    assert "\x1b" not in err and "\r" not in err
    assert "change" in lines[-1] and "ELBO" in lines[-1]
    fewer = run(*loop, "--refresh", 200)[2]
    assert sum(" of 300 " in line for line in fewer.splitlines()) == 1
    assert " of 300" not in out and run(*loop, "--refresh", 0)[1:] == (out, "")


def test_a_default_run_prints_its_stages_and_a_verdict(run):
    status, out, err = run("variational", "toy.model", "toy.json", "--verbose")
    stages = [line.split()[0] for line in err.splitlines() if " of " in line and "ELBO" in line]
    assert status == 0 and [*dict.fromkeys(stages)] == ["Pathfinder"]
    assert "Verdict: " in out and "Pareto k-hat" in out


def test_runs_are_compared(run):
    status, out, _ = run("variational", "toy.model", "toy.json", "--runs", 2)
    assert status == 0 and "2 runs agree (largest R-hat" in out


@pytest.mark.parametrize("algorithm", ["lowrank", "fixed-draws", "laplace", "pathfinder", "optimize"])
def test_every_recipe_writes_its_draws(run, algorithm):
    status, out, _ = run("variational", "toy.model", "toy.json", "--algorithm", algorithm, "--draws", 20)
    assert status == 0 and f"({algorithm}" in out and len(pd.read_csv("output.csv", comment="#")) == 21


def test_quiet_says_nothing(run):
    assert run("variational", "toy.model", "toy.json", "--quiet") == (0, "", "")


def test_not_converged_is_no_error_unless_asked(run):
    short = ("variational", "toy.model", "toy.json", "--iter", 200, "--tol-rel-obj", 1e-9, *PAPER)
    status, out, _ = run(*short)
    assert status == 0 and "Budget reached" in out
    status, _, err = run(*short, "--require-converged")
    assert status == 3 and "Budget reached" in err
    assert len(pd.read_csv("output.csv", comment="#")) == 1001  # written all the same


@pytest.mark.parametrize("init", ["0", "0.5", "init.json"])
def test_init(run, tmp_path, init):
    (tmp_path / "init.json").write_text('{"mu": 2, "sigma": 1}')
    assert run("variational", "toy.model", "toy.json", "--init", init, "--iter", 200)[0] == 0


WRONG_USAGE = [
    [],
    ["fly"],
    ["variational"],
    ["variational", "missing.model"],
    ["variational", "toy.model", "missing.json"],
    ["variational", "toy.model", "toy.json", "--itre", "5"],
    ["variational", "toy.model", "toy.json", "--iter", "0"],
    ["variational", "toy.model", "toy.json", "--iter", "many"],
    ["variational", "toy.model", "toy.json", "--eta", "-1"],
    ["variational", "toy.model", "toy.json", "--tol-rel-obj", "nan"],
    ["variational", "toy.model", "toy.json", "--algorithm", "nuts"],
    ["variational", "toy.model", "toy.json", "--init", "-2"],
    ["variational", "toy.model", "toy.json", "--init", "nowhere.json"],
    ["variational", "toy.model", "toy.json", "-o", "nowhere/output.csv"],
    ["variational", "toy.model", "toy.json", "-o", "."],
    ["variational", "toy.model", "toy.json", "-o", "output.csv.pickle"],
    ["show", "toy.model", "--stage", "assembly"],
]


@pytest.mark.parametrize("arguments", WRONG_USAGE, ids=" ".join)
def test_wrong_usage_is_2(run, tmp_path, arguments):
    status, out, err = run(*arguments)
    assert status == 2 and "Usage:" in out + err
    assert not (tmp_path / "output.csv").exists()


@pytest.mark.parametrize(
    "program", ["parameters { real x }", "model { y ~ normal(0, 1); }", "int x = 1.5;", "é\0"]
)
def test_a_refused_program_is_1_and_has_a_place(run, tmp_path, program):
    (tmp_path / "bad.model").write_text(program)
    for arguments in (["check", "bad.model"], ["variational", "bad.model"], ["show", "bad.model"]):
        status, out, err = run(*arguments)
        assert status == 1 and out == "" and "bad.model:1:" in err


def test_a_program_that_is_not_text_is_1(run, tmp_path):
    (tmp_path / "bad.model").write_bytes(b"\xff\xfe")
    status, _, err = run("check", "bad.model")
    assert status == 1 and "not UTF-8" in err


def test_a_long_table_says_where_the_rest_is(run, tmp_path, monkeypatch):
    rows, summarised = [], summary._row
    monkeypatch.setattr(summary, "_row", lambda *given: rows.append(given) or summarised(*given))
    (tmp_path / "long.model").write_text("parameters { vector[25] x; } model { x ~ std_normal(); }")
    _, out, _ = run("variational", "long.model", "-o", "long.csv", "--iter", 100)
    assert "x.20" in out and "x.21" not in out and "… and 5 more (all in long.csv)" in out
    assert len(rows) == 20


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ("{", "toy.json"),
        ("[1, 2]", "toy.json"),
        ('{"N": 6}', "y"),
        ('{"N": -1, "y": []}', "N"),
        ('{"N": 2, "y": [1, 2, 3]}', "y"),
        ('{"N": 2, "y": [1, null]}', "y"),
        ('{"N": 2.5, "y": [1, 2]}', "N"),
        ('{"N": 2, "y": "two"}', "y"),
    ],
)
def test_refused_data_is_1_and_names_the_culprit(run, tmp_path, data, named):
    (tmp_path / "toy.json").write_text(data)
    status, out, err = run("variational", "toy.model", "toy.json")
    assert status == 1 and named in err
    assert not (tmp_path / "output.csv").exists() and "Wrote" not in out


@pytest.mark.parametrize("text", ["{", "[]", '{"sigma": -1, "mu": 0}', '{"mu": [1, 2], "sigma": 1}'])
def test_refused_initial_values_are_1(run, tmp_path, text):
    (tmp_path / "init.json").write_text(text)
    assert run("variational", "toy.model", "toy.json", "--init", "init.json")[0] == 1


def test_no_finite_start_is_3(run, tmp_path):
    (tmp_path / "toy.model").write_text(
        PROGRAM.replace("mu ~ normal(0, 10);", "target += negative_infinity();")
    )
    status, _, err = run("variational", "toy.model", "toy.json")
    assert status == 3 and "not finite" in err


def test_check_and_show(run):
    assert run("check", "toy.model")[:2] == (0, "toy.model: no errors found\n")
    for stage in ("ast", "ir", "python", "plan"):
        status, out, _ = run("show", "toy.model", "--stage", stage)
        assert status == 0 and out.strip()
    status, out, _ = run("show", "toy.model", "--form", "gradient", "--without", "hoist-data")
    assert status == 0 and "def log_joint" in out
    assert "gradient: The log density of gradients" in run("show", "forms")[1]
    assert "hoist-data: " in run("show", "passes")[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["toy.model", "--form", "no"], "there is no form 'no'; the forms are lowered, loops, arrays"),
        (["toy.model", "--form", "loops"], "is not run by itself; print its stage 'ir'"),
        (["toy.model", "--without", "fuse"], "there is no pass 'fuse'"),
        (["forms", "values"], "unexpected 'values' after 'forms'"),
    ],
)
def test_show_says_what_it_has_not(run, arguments, why):
    status, _, err = run("show", *arguments)
    assert status == 2 and why in " ".join(err.split())


def test_an_internal_error_says_that_it_is_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy.model").write_text(PROGRAM)

    def broken(*arguments, **settings):
        raise AssertionError("a pass lost a node")

    monkeypatch.setattr("ppl.stages.show_stage", broken)
    with pytest.raises(SystemExit) as exit:
        main(["show", str(tmp_path / "toy.model")])
    assert exit.value.code == 70
    assert "internal error" in (err := capsys.readouterr().err) and "Traceback" not in err
    report = Path("ppl-internal-error.txt")
    assert report.name in err and "a pass lost a node" in report.read_text()


def test_the_shell_completes_commands_and_options(monkeypatch, capsys):
    for words, completed in (
        ("ppl variat", "variational"),
        ("ppl variational m.model --algor", "--algorithm"),
    ):
        monkeypatch.setenv("_PPL_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        with pytest.raises(SystemExit):
            app([], prog_name="ppl")
        assert capsys.readouterr().out.split() == [f"plain,{completed}"]


def test_completion_is_installed_once(run, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/zsh")
    for _ in range(2):
        assert run("--install-completion")[0] == 0
    status, script, _ = run("--show-completion")
    assert status == 0 and "_PPL_COMPLETE=zsh_complete" in script
    assert (tmp_path / ".zshrc").read_text().strip() == script.strip()
    monkeypatch.setenv("SHELL", "/bin/csh")
    assert run("--show-completion")[0] == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("m y.stan", "d.json"), "A command comes before the program: ppl variational 'm y.stan' d.json."),
        (("fit", "m.stan"), "ppl variational MODEL DATA fits"),
        (("nuts", "m.stan"), "ppl sample MODEL DATA runs NUTS"),
        (("help",), "ppl docs WORD for a command"),
        (("pathfinder", "m.stan"), "ppl variational MODEL DATA --algorithm pathfinder."),
    ],
)
def test_what_is_no_command_is_told_the_command(run, words, says):
    status, _, err = run(*words)
    assert status == 2 and says in err


def test_data_for_a_parameter_are_told_to_be_unused(run, tmp_path):
    (tmp_path / "m.stan").write_text(
        "parameters { real mu; vector[2] y; } model { mu ~ std_normal(); y ~ normal(mu, 1); }"
    )
    (tmp_path / "d.json").write_text('{"y": [1, 2]}')
    status, _, err = run("variational", "m.stan", "d.json", "--algorithm", "laplace", "--refresh", 0)
    assert status == 0 and "d.json: `y` is not used; the program declares it in parameters." in err
    status, _, err = run("variational", "m.stan", "--save-fit", "fit.nc")
    assert status == 1 and "a saved fit is JSON" in err
