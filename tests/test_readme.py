"""What the README shows is what happens: programs, output, commands and files."""

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ppl.cli.group import NAMES
from ppl.cli.main import main
from tests.shown import agrees

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```([^\n]*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
SHOWN = [text for _, text in BLOCKS if text.startswith("$ ppl ")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that looks like the checkout to what only reads models/."""
    shutil.copytree(ROOT / "models", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def run(line):
    """The output of a command line, in a terminal of 100 columns."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as exit:
        main(shlex.split(line)[1:])
    assert not exit.value.code
    return out.getvalue()


def test_the_commands_give_the_output_that_is_shown(folder):
    pytest.importorskip("matplotlib")
    assert len(SHOWN) == 2
    for text in SHOWN:
        command, _, output = re.sub(r"\\\n\s*", "", text).partition("\n")
        found = run(command[2:])
        assert not output or agrees(output, found), found


def test_the_program_is_that_of_the_file():
    program = next(text for kind, text in BLOCKS if kind == "stan")
    file = (ROOT / "models/logistic_regression/logistic_regression.model").read_text()
    assert (
        "".join(line for line in file.splitlines(True) if not line.startswith("//")).strip()
        == program.strip()
    )
    assert len(program.splitlines()) == 15


UNINSTALLED = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Editable' not in repr(f)]\n"
(PYTHON,) = (text for kind, text in BLOCKS if kind == "python")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkout")
    for part in ("ppl", "cli", "grammar", "models"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.ipynb", "papers"))
    return folder


@pytest.mark.rotate
def test_the_block_typed_into_an_interpreter_in_a_checkout(checkout):
    """The folder `ppl` there hides the installed package, which has `ppl.cli` and `ppl.grammar` in it."""
    for package in ("arviz", "nutpie"):
        pytest.importorskip(package)
    typed = UNINSTALLED + PYTHON + "\nprint(ppl.__file__)\n"
    done = subprocess.run(
        [sys.executable, "-i"], input=typed, cwd=checkout, capture_output=True, text=True, encoding="utf-8"
    )
    assert "Error" not in done.stderr and "error" not in done.stderr, done.stderr
    assert str(checkout) in done.stdout.splitlines()[-1]
    assert "Verdict: good" in done.stdout and (checkout / "fit.json").exists()


def test_every_file_named_exists():
    named = {*re.findall(r"\]\(([^)#:]+)\)", README), *re.findall(r"(?:models|grammar)/[\w./]+\.\w+", README)}
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_readme_is_short():
    assert len(re.sub("<!--.*?-->", "", README).split()) <= 900


def test_every_command_has_its_row():
    page = (ROOT / "cli/site/command-line.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `ppl ([\w-]+)", page, re.MULTILINE))
    assert rows == {name.replace("_", "-") for name in NAMES}


def test_the_picture_is_small():
    assert (ROOT / "models/logistic_regression/logistic_regression.svg").stat().st_size < 60_000
