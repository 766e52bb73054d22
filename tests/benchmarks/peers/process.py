"""Running a tool as a whole process: its wall and CPU seconds, and its answer."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PEERS_PYTHON = os.environ.get("PEERS_PYTHON", "")


class Cost(NamedTuple):
    """Seconds by the clock, seconds of processor, and the largest resident memory in MB."""

    seconds: float
    cpu: float
    megabytes: float


def timed(command: list[Any], cwd: Path | None = None, env: Mapping[str, str] = os.environ) -> Cost:
    """What a command costs, its children included; CalledProcessError when it fails.

    Python keeps its bytecode, as it does of what is installed.
    """
    kept = {name: value for name, value in env.items() if name != "PYTHONDONTWRITEBYTECODE"}
    words, silent = [str(c) for c in command], subprocess.DEVNULL
    began = time.perf_counter()
    child = subprocess.Popen(words, cwd=cwd, env=kept, stdout=silent, stderr=silent)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, child.args)
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


ALONE = """
import os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
seconds = time.perf_counter() - began
print(os.waitstatus_to_exitcode(status), seconds, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def timed_alone(command: list[Any]) -> Cost:
    """The same, the command started by a small process: a child's peak begins with its parent's memory."""
    words = [sys.executable, "-S", "-c", ALONE, *map(str, command)]
    made = subprocess.run(words, check=True, capture_output=True, text=True)
    status, seconds, cpu, kilobytes = made.stdout.split()
    if int(status):
        raise subprocess.CalledProcessError(int(status), command)
    return Cost(float(seconds), float(cpu), int(kilobytes) / 1024)


def peer(script: str, request: dict[str, Any]) -> list[str]:
    """The command that puts a request to a peer."""
    return [PEERS_PYTHON, str(HERE / script), json.dumps(request)]


def ours(request: dict[str, Any]) -> list[str]:
    """The command that puts a request to this project."""
    return [sys.executable, "-m", "tests.benchmarks.peers.run_ours", json.dumps(request)]


def answer(command: list[str]) -> dict[str, Any]:
    """The JSON line that a command prints last."""
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(made.stdout.splitlines()[-1])  # type: ignore[no-any-return]
