"""Worker processes end with the process that began them, however that one is ended."""

import signal
import subprocess
import sys

import pytest

from ppl.run.processes import can_fork

WORKERS = """
import sys, time
from ppl.run.processes import at_a_time

def computes(tell):
    tell("computing")
    time.sleep(600)

def tells(tell):
    while True:
        tell("telling " * 1000)

def has_workers(tell):
    list(at_a_time([computes, computes], tell, "", 2))

def hear(message):
    print(message.partition(" ")[0], flush=True)

list(at_a_time([globals()[name] for name in sys.argv[1:]], hear, "", 8))
"""


@pytest.mark.skipif(not can_fork(), reason="workers are forks")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("tasks", [["computes"] * 3, ["tells"] * 3, ["has_workers"] * 2])
def test_workers_end_with_their_parent(tasks, by, tried):
    """They hold its standard output, which is read to its end."""
    command = [sys.executable, "-c", WORKERS, *tasks]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert parent.stdout.readline() in ("computing\n", "telling\n")
    parent.send_signal(by)
    parent.communicate(timeout=30)
    assert parent.returncode == -by
    tried("kills", 1)
