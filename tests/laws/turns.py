"""Of a test marked `rotate`, a run of all tests has one case in eight, and other ones after each commit."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from zlib import crc32

import pytest

SHARE = 8
"""As many successive commits run every case."""


def turn(folder: Path) -> int:
    """The number of commits; 0 outside a checkout."""
    if not shutil.which("git"):
        return 0
    command = ["git", "-C", str(folder), "rev-list", "--count", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else 0


def of_other_turns(items: Iterable[pytest.Item], turn: int) -> Iterator[pytest.Item]:
    """The cases that are not run at this turn; tests begin at different ones, to cost the same at each.

    Tests of one file with `rotate(fixture)`, which share an expensive fixture, have their turn together.
    """
    numbers: Counter[str] = Counter()
    for item in items:
        if mark := item.get_closest_marker("rotate"):
            file = item.nodeid.partition("::")[0]
            test = f"{file}|{mark.args[0]}" if mark.args else item.nodeid.partition("[")[0]
            if (turn + crc32(test.encode()) + numbers[test]) % SHARE:
                yield item
            numbers[test] += not mark.args
