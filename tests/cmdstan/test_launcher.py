"""An executable finds a Python that has ppl wherever it is moved, and says so where there is none."""

import ast
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from ppl.cmdstan.build import build, quoted
from ppl.cmdstan.launcher import Launched, on_windows, relative

ROOT = Path(__file__).parents[2]
RAN = "print('ran', *sys.argv[1:])\n"
unix = pytest.mark.skipif(os.name == "nt", reason="a script of sh")


def fake(path: Path, says: str, python: str = sys.executable) -> Path:
    """A `python` that says which it is, then is the real one with this checkout's ppl."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n[ "$1" = -c ] || echo {says}\nPYTHONPATH={ROOT} exec {python} "$@"\n')
    path.chmod(0o755)
    return path


def run(executable: Path, *words: str, path: Path | str = "/nonexistent", **environment: str):
    bare = {"PATH": str(path), **environment}
    return subprocess.run([executable, *words], env=bare, capture_output=True, text=True)


def launched(folder: Path, python: Path, name: str = "model") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    Launched(RAN, str(python), windows=False).write(folder / name)
    return folder / name


@unix
def test_it_runs_by_the_python_it_was_built_by(tmp_path):
    done = run(launched(tmp_path / "a b", fake(tmp_path / "it's" / "python", "built")), "x", "y z")
    assert done.stdout.splitlines() == ["built", "ran x y z"] and done.returncode == 0


@unix
def test_a_file_cut_short_is_told(tmp_path):
    executable = launched(tmp_path, fake(tmp_path / "python", "built"))
    executable.write_text(executable.read_text()[:-5])
    done = run(executable, path=os.environ["PATH"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Error: {executable}: the file is incomplete. Build it again.\n"


@unix
def test_it_moves_together_with_its_environment(tmp_path):
    launched(tmp_path / "old" / "models", fake(tmp_path / "old" / "venv" / "bin" / "python", "ours"))
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    fake(tmp_path / "old" / "venv" / "bin" / "python", "the one that stayed")
    assert run(tmp_path / "new" / "models" / "model").stdout.splitlines() == ["ours", "ran"]
    shutil.rmtree(tmp_path / "old")
    assert run(tmp_path / "new" / "models" / "model").stdout.splitlines() == ["ours", "ran"]


@unix
def test_a_program_moves_with_a_real_environment(tmp_path):
    venv.create(tmp_path / "old" / "venv")
    (site,) = (tmp_path / "old" / "venv").glob("lib/*/site-packages")
    (site / "here.pth").write_text("\n".join([str(ROOT), *(p for p in sys.path if p.endswith("-packages"))]))
    code = (
        "from pathlib import Path; from ppl.cmdstan.build import build; "
        "build(Path('m.stan'), 'parameters { real x; }', Path('m'))"
    )
    subprocess.run(
        [tmp_path / "old" / "venv" / "bin" / "python", "-c", code], cwd=tmp_path / "old", check=True
    )
    (tmp_path / "old").rename(tmp_path / "new")
    done = run(tmp_path / "new" / "m", "info")
    assert done.returncode == 0 and "stan_version_major = 2" in done.stdout


@unix
def test_where_its_environment_is_gone_it_takes_the_one_on_the_path_that_has_ppl(tmp_path):
    executable = launched(tmp_path / "models", tmp_path / "gone" / "python")
    first, second = tmp_path / "first" / "python3", tmp_path / "second" / "python"
    first.parent.mkdir()
    first.write_text("#!/bin/sh\nexit 1\n")
    first.chmod(0o755)
    fake(second, "second")
    done = run(executable, path=f"{first.parent}:{second.parent}")
    assert done.stdout.splitlines() == ["second", "ran"]


@unix
def test_the_environment_variable_goes_before_all(tmp_path):
    executable = launched(tmp_path, fake(tmp_path / "python", "built"))
    asked = fake(tmp_path / "asked", "asked")
    assert run(executable, PPL_PYTHON=str(asked)).stdout.splitlines() == ["asked", "ran"]
    done = run(executable, PPL_PYTHON="/nowhere/python")
    assert done.returncode == 1 and "PPL_PYTHON is /nowhere/python, which does not exist" in done.stderr


@unix
def test_without_any_python_it_says_what_to_do(tmp_path):
    done = run(launched(tmp_path, tmp_path / "gone"))
    assert done.returncode == 1 and done.stdout == ""
    assert "there is no Python with ppl" in done.stderr
    assert "Set PPL_PYTHON to a Python that has ppl, or install it for the one on the PATH." in done.stderr


@unix
def test_a_python_without_ppl_says_so(tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -I "$@"\n')
    bare.chmod(0o755)
    done = run(launched(tmp_path, bare))
    assert done.returncode == 1 and "has no package ppl" in done.stderr and "Set PPL_PYTHON" in done.stderr


@unix
def test_it_is_found_on_the_path_and_through_a_link(tmp_path):
    executable = launched(tmp_path / "models", fake(tmp_path / "venv" / "python", "built"))
    (tmp_path / "link").symlink_to(executable)
    assert run(tmp_path / "link").stdout.splitlines() == ["built", "ran"]
    done = subprocess.run(
        ["/bin/sh", "-c", "model"], env={"PATH": str(executable.parent)}, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["built", "ran"], done.stderr


TEXTS = ['"', 'a"""b""""', "\\", '\\"', "\n'''\n", "{x!r}", '"""\nimport os\n"""', "real x; // so\n"]


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_stands_in_the_executable_as_it_is(text):
    assert ast.literal_eval(f'"""\\\n{quoted(text)}"""') == text


def test_a_name_is_no_code(tmp_path):
    build(Path("m.stan"), "parameters { real x; }", tmp_path / "x\nimport nothing")
    body = (tmp_path / "x\nimport nothing").read_text()
    assert "\nimport nothing" not in body and "\\nimport nothing" in body


def test_a_python_is_near_where_a_folder_holds_both(tmp_path):
    assert relative(str(tmp_path / "venv" / "python"), tmp_path / "models") == "../venv/python"
    assert relative("/usr/bin/python3", Path("/srv")) == ""


def test_windows_gets_a_file_that_does_the_same(tmp_path):
    """By its text alone: there is no Windows here to run it."""
    Launched(RAN, str(tmp_path / "venv" / "python.exe"), windows=True).write(tmp_path / "model")
    text = (tmp_path / "model.cmd").read_bytes().decode()
    assert text.count("\r\n") == text.count("\n") > 10
    places = [text.index(part) for part in ('%PPL_PYTHON%"', '"%~dp0venv', "python.exe py.exe", ":run")]
    assert places == sorted(places) and '"%python%" "%~dp0model" %*' in text
    assert '"C:\\50%% off\\python.exe"' in on_windows("m", "", "C:\\50% off\\python.exe")
