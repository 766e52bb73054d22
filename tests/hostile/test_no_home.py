"""A user without a home, and names that no file can have."""

import os
import subprocess
import sys
from itertools import product

import pytest
from laws.processes import Started

import ppl
from ppl.cli.main import main
from ppl.files import own_cache, user_cache, writable

COMMAND = "from ppl.cli.main import main; main()"
UNKNOWN = f"import pwd; pwd.getpwuid = {{}}.__getitem__; {COMMAND}"
"""The command run by a user who has no entry among the users of the machine."""
FIT = ["variational", "m.model", "-o", "out.csv", "--algorithm", "laplace", "--draws", "20", "--no-move"]
SAMPLE = [
    "sample",
    "m.model",
    "-o",
    "out.csv",
    "--num-samples",
    "9",
    "--num-warmup",
    "20",
    "--num-chains",
    "1",
]


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("command", "home"), [*product([FIT, [*FIT, "--backend", "jax"]], [None, "/dev/null"]), (SAMPLE, None)]
)
def test_a_user_without_a_home_is_served(home, command, tmp_path):
    pytest.importorskip("nutpie" if command is SAMPLE else "jax")
    (tmp_path / "m.model").write_text("parameters { vector[25] x; } model { x ~ normal(0, 1); }")
    others = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    environment = others | ({"HOME": home} if home else {})
    words = [sys.executable, "-c", UNKNOWN, *command]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "persistent compilation cache" not in done.stderr and not (tmp_path / "~").exists()


def test_there_is_no_cache_without_a_home(monkeypatch):
    for name in ("XDG_CACHE_HOME", "PPL_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert user_cache() is own_cache() is writable(user_cache()) is None


LONG = "a" * 4096


@pytest.mark.parametrize(
    "words",
    [
        ["check", LONG],
        ["variational", "m.model", f"{LONG}.json"],
        ["variational", "m.model", "-o", f"{LONG}.csv"],
        ["variational", "m.model", "--init", f"{LONG}.json"],
        ["build", "m.model", "-o", LONG],
    ],
)
def test_a_name_that_no_file_can_have_is_refused(words, tmp_path):
    (tmp_path / "m.model").write_text("parameters { real x; } model { x ~ normal(0, 1); }")
    process = Started(main, [words], tmp_path)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1 and "ile name too long" in " ".join(err.split())
    assert "Traceback" not in err and [file.name for file in tmp_path.iterdir()] == ["m.model"]


def test_so_it_is_in_python():
    model = ppl.compile_model("parameters { real x; } model { x ~ normal(0, 1); }")
    for read in (ppl.compile_model, model.condition, lambda name: ppl.load_fit(name, model, {})):
        with pytest.raises(ppl.DataError, match="File name too long"):
            read(LONG)
