"""Files of any name the system allows are written and read back."""

import os
import subprocess
import sys

import pytest
from laws.processes import Started

from ppl.cli.main import main
from ppl.results.files.read_csv import read_draws

PROGRAM = "parameters { vector[25] x; } model { x ~ normal(0, 1); }"
FIT = "variational m.model --algorithm laplace --draws 20 --no-move --backend autograd -o".split()
NAMES = [
    "line\nbreak.csv",
    "a[/b].csv",
    "-- é .csv",
    b"bytes\xff.csv",
    "a # = (Default).csv",
    "s\u2028p.csv",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    (folder / "m.model").write_text(PROGRAM)
    (folder / "a[").mkdir()
    return folder


COMMAND = [sys.executable, "-c", "from ppl.cli.main import main; main()"]


def ppl_in(folder, *words):
    """The exit status, standard output and standard error."""
    process = Started(main, [[os.fsdecode(word) for word in words]], folder)
    out, err = process.written(timeout=120)
    return process.returncode, out, err


def test_draws_in_a_file_of_any_name_are_read_back(folder, sample, tried):
    for name in (chosen := sample(NAMES, 3)):
        status, _, err = ppl_in(folder, *FIT, name)
        assert status == 0, err
        read = read_draws(folder / os.fsdecode(name))
        assert read.draws.shape == (20, 25) and read.method == "variational"
        assert read.config["stancflags"] == ""
    tried("odd names", len(chosen))


@pytest.mark.rotate
def test_an_encoding_without_the_signs_of_the_report_ends_no_fit(folder, tried):
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [*COMMAND, *FIT, "ascii.csv"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, env=ascii_only)
    assert done.returncode == 0 and b"\\xb1" in done.stdout
    tried("odd names", 1)


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_draws_on_standard_output_stand_there_alone(folder, name, tried):
    status, out, err = ppl_in(folder, *FIT, name)
    assert status == 0 and b"Wrote /dev/stdout" in err
    assert not os.path.exists(folder / "-")
    (folder / "read.csv").write_bytes(out)
    assert read_draws(folder / "read.csv").draws.shape == (20, 25)
    tried("odd names", 1)


@pytest.mark.rotate
def test_standard_output_that_is_a_file_keeps_what_it_held(folder, tried):
    log = folder / "log"
    log.write_text("before\n")
    with log.open("a") as out:
        subprocess.run(
            [*COMMAND, *FIT, "-"], cwd=folder, stdout=out, stderr=subprocess.DEVNULL, check=True, timeout=120
        )
    assert log.read_text().startswith("before\n# stan_version_major")
    tried("odd names", 1)


@pytest.mark.parametrize("option", ["--resume", "--save-metric", "--save-cmdstan-config"])
def test_what_is_named_after_the_output_needs_its_name(folder, option):
    status, out, err = ppl_in(folder, *FIT, "-", option)
    assert status == 2 and b"give it a name" in err and out == b""
