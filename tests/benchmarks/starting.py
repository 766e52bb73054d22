"""CPU seconds of whole processes on a small program: what a user waits for before anything is computed.

python -m tests.benchmarks.starting
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PPL = str(Path(sys.executable).with_name("ppl"))
MODEL = Path("models/eight_schools/eight_schools.model").resolve()
DATA = MODEL.with_name("eight_schools.data.json")
ROUNDS = 6

COMMANDS = {
    "`ppl variational`": [PPL, "variational", str(MODEL), str(DATA), "-o", "output.csv"],
    "`optimize` of an executable": ["./program", "optimize", "data", f"file={DATA}"],
    "`ppl --help`": [PPL, "--help"],
    "`ppl check`": [PPL, "check", str(MODEL)],
    "`ppl format`": [PPL, "format", str(MODEL)],
    "`ppl summary`": [PPL, "summary", "draws.csv"],
}


def seconds(command: Sequence[str], folder: str) -> float:
    """Of the process and its children, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    print("| command | CPU s |\n| --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        seconds([PPL, "build", str(MODEL), "-o", "program"], folder)
        seconds([PPL, "variational", str(MODEL), str(DATA), "-o", "draws.csv"], folder)
        for name, command in COMMANDS.items():
            print(f"| {name} | {min(seconds(command, folder) for _ in range(ROUNDS)):.2f} |")


if __name__ == "__main__":
    main()
