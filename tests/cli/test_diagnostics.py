"""How errors and warnings are printed: for people, for editors, with and without colour."""

import io
import json
from pathlib import Path

import pytest

from ppl.cli.diagnostics import as_json, as_text, has_colour
from ppl.errors import ModelError
from ppl.source import SourceText, Span

DOUBTFUL = "data { int N; }\nparameters {\n  real mu;\n}\nmodel {\n  mu ~ normal(1 / 2, 1);\n}\n"
WRONG = "parameters {\n  real mu\n}\nmodel {\n  mu ~ normal(0, tau);\n}\n"


@pytest.fixture
def run(run, tmp_path):
    """In a folder with doubtful.model and wrong.model."""
    (tmp_path / "doubtful.model").write_text(DOUBTFUL)
    (tmp_path / "wrong.model").write_text(WRONG)
    return run


def test_likely_bugs_are_warned_of_and_the_rest_when_asked(run):
    status, out, _ = run("check", "doubtful.model")
    assert status == 0 and out.startswith("doubtful.model:6:15: warning PPL005\n")
    assert (
        out.endswith("\n\ndoubtful.model: no errors, 1 warning, 1 possible problem (see --pedantic)\n")
        and "PPL003" not in out
    )
    assert "doubtful.model: no errors, 2 warnings\n" in run("check", "doubtful.model", "--pedantic")[1]


def test_what_an_older_stan_lacks_is_noted_when_a_version_is_named(run, tmp_path):
    (tmp_path / "new.model").write_text("data { int N; tuple(int, int) t; } model { N ~ yule_simon(t.1); }")
    status, out, _ = run("check", "new.model", "--stan-version", "2.34")
    assert status == 0 and out.count("PPL015") == 1 and "`yule_simon` requires Stan 2.39." in out
    assert run("check", "new.model", "--stan-version", "2.39")[1] == "new.model: no errors found\n"
    assert (
        "`2.x` is not a version of Stan. Write it as 2.35." in run("check", "-", "--stan-version", "2.x")[2]
    )


def test_every_error_is_printed(run):
    status, _, err = run("check", "wrong.model")
    assert status == 1 and err.startswith("wrong.model:2:10: error PPL173\n    2 |   real mu\n")
    assert "\n\nwrong.model:5:18: error PPL201\n" in err


def test_json_lines(run):
    status, out, _ = run("check", "wrong.model", "--format", "json")
    first, second = map(json.loads, out.splitlines())
    assert status == 1
    assert second == {
        "file": "wrong.model",
        "range": {"start": {"line": 5, "column": 18}, "end": {"line": 5, "column": 21}},
        "severity": "error",
        "code": "PPL201",
        "message": "`tau` is not declared.",
        "hint": "Declare it: in data if it is given, in parameters if not, as `real tau;`.",
        "fix": None,
    }
    assert first["code"] == "PPL173"
    assert first["fix"] == {
        "range": {"start": {"line": 2, "column": 10}, "end": {"line": 2, "column": 10}},
        "text": ";",
    }
    status, out, _ = run("check", "doubtful.model", "--format", "json")
    assert status == 0 and json.loads(out)["severity"] == "warning"


def test_a_fit_warns_of_likely_bugs_only(run):
    fit = ("variational", "doubtful.model", "doubtful.json", "--iter", 100, "--draws", 5)
    Path("doubtful.json").write_text('{"N": 3}')
    status, _, err = run(*fit)
    assert status == 0 and "PPL005" in err and "PPL003" not in err
    assert run(*fit, "--quiet")[2] == ""


def test_explain(run):
    status, out, _ = run("explain", "ppl173")
    assert status == 0 and out.startswith("PPL173: A semicolon is missing\n")
    assert "\nWrong:\n\n  parameters {\n    real mu\n  }\n\nRight:\n" in out
    assert max(map(len, out.splitlines())) <= 80
    status, _, err = run("explain", "PPL137x")
    assert status == 2 and "did you mean PPL137?" in err


def test_several_programs_are_checked_and_each_is_said(run):
    status, out, err = run("check", "doubtful.model", "wrong.model", "doubtful.model")
    assert status == 1 and out.count("doubtful.model: no errors, 1 warning, 1 possible") == 2
    assert err.count("error PPL201") == 1


def test_a_program_from_standard_input(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("parameters{real x}"))
    status, _, err = run("check", "-")
    assert status == 1 and err.startswith("<stdin>:1:18: error PPL173")
    monkeypatch.setattr("sys.stdin", io.StringIO("parameters{real x;}"))
    assert run("format", "-") == (0, "parameters {\n  real x;\n}\n", "")


def test_format_of_several_files(run):
    for name in ("a.model", "b.model"):
        Path(name).write_text("parameters{real x;}")
    status, _, err = run("format", "a.model", "b.model")
    assert status == 2 and "several programs require --write or --check" in err
    assert run("format", "--write", "-")[0] == 2
    assert run("format", "--check", "a.model", "b.model")[:2] == (
        1,
        "a.model: would change\nb.model: would change\n",
    )
    assert run("format", "--write", "a.model")[0] == 0
    assert run("format", "--check", "a.model", "b.model")[0] == 1
    assert run("format", "--write", "a.model", "b.model")[1] == "Wrote b.model.\n"
    assert run("format", "--check", "a.model", "b.model")[0] == 0
    assert run("check", "nowhere.model")[0] == 2


def test_a_code_may_be_its_number(run):
    assert run("explain", "173") == run("explain", "PPL173")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--draws", "many", "'many' is not an integer."),
        ("--tol-rel-obj", "x", "'x' is not a number."),
        ("--algorithm", "advi", "'advi' is not one of 'auto', 'meanfield'"),
        ("--algorithm", "NUTS", "'NUTS' is none of these; `ppl sample` runs NUTS."),
    ],
)
def test_a_value_that_is_none_is_refused_in_plain_words(run, option, value, says):
    status, _, err = run("variational", "doubtful.model", option, value)
    assert status == 2 and f"Invalid value for '{option}': {says}" in err
    assert "Input should" not in err and "Value error" not in err


@pytest.mark.parametrize(
    ("command", "option", "says"),
    [
        ("variational", "--chains", "`ppl sample` has chains; here --draws N is the number of draws."),
        ("variational", "--output-samples", "Type --draws."),
        ("sample", "--iter-warmup", "Type --num-warmup."),
        ("sample", "--numwarmup", "(Did you mean one of: '--num-samples', '--num-warmup'?)"),
    ],
)
def test_an_option_of_other_tools_is_answered_by_the_one_here(run, command, option, says):
    status, _, err = run(command, "doubtful.model", option, "4")
    assert status == 2 and f"No such option '{option}'. {says}" in err


def test_a_picture_of_other_tools_is_answered_by_the_one_here(run, tmp_path):
    (tmp_path / "d.csv").write_text("a\n1\n")
    status, _, err = run("plot", "d.csv", "--kind", "histogram")
    assert status == 2 and "there is no 'histogram'; did you mean 'marginals'?" in err


def error_at(column: int, hint: str | None = None) -> ModelError:
    text = SourceText("model { " + "target += 1; " * 20 + "}", "m.model")
    return ModelError("Something is wrong " * 10, Span(text, 1, column, 1, column + 6), hint, "PPL176")


@pytest.mark.parametrize("column", [1, 60, 150, 268])
def test_text_keeps_within_eighty_columns(column):
    lines = as_text(error_at(column, "Mend it " * 20)).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].index("^") == lines[1].index(lines[1].lstrip("1 |")[0], 8) or "^" in lines[2]


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_colour(Terminal()) and not has_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Terminal())
    plain, coloured = as_text(error_at(1)), as_text(error_at(1), colour=True)
    assert "\x1b[" in coloured and "\x1b" not in plain


def test_a_line_of_json_is_one_line():
    assert "\n" not in as_json(error_at(1, "two\nlines"))
