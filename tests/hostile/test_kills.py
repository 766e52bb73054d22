"""What is killed leaves whole files, and nothing that the next run does not clear away."""

import os
import signal
import subprocess
import sys

import pytest

from ppl.files import remove, replacing, write_whole

HANG = """
import sys, time
from ppl.files import replacing
with replacing(sys.argv[1]) as part:
    part.write(b"half")
    part.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def killed_while_writing(path):
    process = subprocess.Popen([sys.executable, "-c", HANG, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)


@pytest.mark.parametrize("name", ["out.csv", "out", "a.b.csv.checkpoint", "[x]*?.nc", "n" * 250, "é" * 120])
def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path, name, tried):
    path = tmp_path / name
    path.write_text("old")
    killed_while_writing(path)
    assert path.read_text() == "old" and len(os.listdir(tmp_path)) == 2
    write_whole(path, ["new\n"])
    assert path.read_text() == "new\n" and os.listdir(tmp_path) == [name]
    tried("kills", 1)


def test_or_with_the_file_itself(tmp_path, tried):
    killed_while_writing(tmp_path / "out.csv")
    remove(tmp_path / "out.csv")
    assert os.listdir(tmp_path) == []
    tried("kills", 1)


def test_a_writer_that_lives_is_left_alone(tmp_path):
    with replacing(tmp_path / "out.csv") as part:
        part.write(b"mine\n")
        remove(tmp_path / "out.csv")
        assert len(os.listdir(tmp_path)) == 1
    assert (tmp_path / "out.csv").read_text() == "mine\n"


def test_other_files_of_alike_names_are_left_alone(tmp_path):
    for name in ("out.1.tmp.csv", "out.tmp.csv", "output.csv", "out.0-x.tmp.csv"):
        (tmp_path / name).write_text("theirs")
    write_whole(tmp_path / "out.csv", ["mine\n"])
    assert len(os.listdir(tmp_path)) == 5
