"""`ppl new`: a folder that runs as it was written, and never one that was there."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import ppl
from ppl.cli.commands.new import examples, files_of
from ppl.cli.group import NAMES, command_of
from ppl.cli.main import main
from ppl.cli.main import ppl as group

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def run(run):
    return partial(run, "new")


@pytest.mark.rotate
def test_the_script_that_it_writes_runs(run, tmp_path):
    status, out, _ = run("cars")
    assert status == 0 and "ppl variational cars/cars.model cars/cars.data.json" in out
    assert sorted(path.name for path in (tmp_path / "cars").iterdir()) == [
        "cars.data.json",
        "cars.model",
        "fit.py",
    ]
    done = subprocess.run([sys.executable, "cars/fit.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Verdict: good" in done.stdout and "elpd_loo" in done.stdout and "beta" in done.stdout
    assert (tmp_path / "cars" / "output.csv").is_file()


def test_every_model_of_the_library_is_an_example():
    assert examples() == sorted(path.parent.name for path in MODELS.glob("*/*.model"))


@pytest.mark.parametrize("example", ["eight_schools", "discrete_mixture"])
def test_an_example_is_the_librarys(example, run, tmp_path):
    assert run("a/mine", "--example", example)[0] == 0
    for suffix in (".model", ".data.json"):
        theirs = (MODELS / example / example).with_suffix(suffix).read_bytes()
        assert (tmp_path / "a" / "mine" / f"mine{suffix}").read_bytes() == theirs
    compile((tmp_path / "a" / "mine" / "fit.py").read_text(), "fit.py", "exec")
    assert ("fit.loo()" in (tmp_path / "a/mine/fit.py").read_text()) == (example == "eight_schools")


def test_nothing_is_overwritten(run, tmp_path):
    (tmp_path / "cars").mkdir()
    (tmp_path / "cars" / "cars.data.json").write_text("mine")
    status, _, err = run("cars")
    assert status == 1 and "cars/cars.data.json would be overwritten" in err
    assert [path.name for path in (tmp_path / "cars").iterdir()] == ["cars.data.json"]


def test_what_is_no_example_or_no_name_is_refused(run, tmp_path):
    status, _, err = run("mine", "--example", "eight_school")
    assert status == 1 and "no example 'eight_school'; did you mean eight_schools?" in err
    status, _, err = run("my model")
    assert status == 2 and "not a valid program name" in err and not [*tmp_path.iterdir()]
    assert run("x", "--example", "list")[1].splitlines() == examples()
    with pytest.raises(ppl.UnknownName):
        files_of("x", "../../etc", examples())


def test_the_first_examples_of_the_help_need_nothing_but_the_installation(tmp_path, monkeypatch):
    """They name files that `ppl new`, the first line of `ppl --help`, writes."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["new", "eight_schools", "--example", "eight_schools"])
    texts = [command_of(name).help for name in NAMES] + [group.__doc__ or ""]
    named = {path for text in texts for path in re.findall(r"[^\s=]+/\S+\.(?:model|data\.json)", text)}
    assert named and not [path for path in named if not Path(path).is_file()]
