"""CmdStan's words beside dashed options."""

import os
import subprocess
from pathlib import Path

import pytest

from ppl.cli.main import main
from ppl.results.files.read_csv import read_draws

PROGRAM = "data { real m; } parameters { real x; } model { x ~ normal(m, 1); }"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "d.json").write_text('{"m": 2}')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words):
    with pytest.raises(SystemExit) as exit:
        main(words.split())
    return exit.value.code


def comments(name):
    return [line.removeprefix("# ").strip() for line in open(name) if line.startswith("#")]


def test_words_do_what_dashed_options_do(folder):
    dashed = "--iter 200 --algorithm fullrank --draws 20 --seed 3 -q"
    assert run(f"variational toy.model d.json -o a.csv {dashed}") == 0
    words = "data file=d.json iter=200 algorithm=fullrank output_samples=20 random seed=3"
    assert run(f"variational toy.model {words} output file=b.csv -q") == 0
    assert (folder / "a.csv").read_text() == (folder / "b.csv").read_text().replace("b.csv", "a.csv")


@pytest.mark.parametrize(
    "words",
    [
        "method=variational iter=100 data file=d.json",
        "variational iter=100 data file=d.json",
        "data file=d.json variational iter=100",
        "d.json iter=100",
        "d.json iter=100 -q --draws 30",
        "--draws 30 data file=d.json iter=100",
    ],
)
def test_orders(folder, words):
    assert run(f"variational toy.model {words}") == 0
    assert "iter = 100" in comments("output.csv") and len(read_draws("output.csv").draws) in (30, 1000)


def test_adapt_and_eta(folder):
    assert run("variational toy.model d.json eta=0.25 adapt engaged=0 -q") == 0
    assert "eta = 0.25" in comments("output.csv") and "engaged = false" in comments("output.csv")
    assert run("variational toy.model d.json adapt iter=20 -q") == 0
    assert "engaged = true (Default)" in comments("output.csv") and "iter = 20" in comments("output.csv")


def test_side_files(folder):
    words = "output file=o.csv save_cmdstan_config=1 diagnostic_file=e.csv profile_file=p.csv"
    assert run(f"variational toy.model d.json {words} --save-metric -q") == 0
    names = {path.name for path in folder.iterdir()}
    assert {"o.csv", "o_config.json", "e.csv", "p.csv", "o_metric.json", "o_inits_4.json"} <= names


@pytest.mark.parametrize(
    "words, message",
    [
        ("itr=5", "itr=5 is either mistyped or misplaced."),
        ("iter=0", '0 is not a valid value for "iter"'),
        ("id=3", "`id=` has no counterpart here"),
    ],
)
def test_misuse_is_wrong_usage(folder, capsys, words, message):
    assert run(f"variational toy.model d.json {words}") == 2
    assert message in capsys.readouterr().err


def test_a_file_with_an_equals_sign_in_its_path_is_given_from_the_folder(folder, capsys):
    Path("year=2024").mkdir()
    Path("year=2024/d.json").write_text(Path("d.json").read_text())
    assert run("variational toy.model year=2024/d.json -q") == 2
    assert "write ./year=2024/d.json" in capsys.readouterr().err
    assert run("variational toy.model ./year=2024/d.json iter=20 -q") == 0


def test_build_names_the_executable_after_the_model(folder, capsys):
    assert run("build toy.model") == 0
    assert "./toy help" in capsys.readouterr().out and os.access("toy", os.X_OK)
    found = subprocess.run(["./toy", "info"], capture_output=True, text=True, check=True)
    assert "stan_version_major = 2" in found.stdout


def test_build_refuses_a_bad_program_and_writes_nothing(folder, capsys):
    (folder / "bad.model").write_text("parameters { real x }")
    assert run("build bad.model") == 1
    assert not (folder / "bad").exists() and "bad.model:1:" in capsys.readouterr().err
