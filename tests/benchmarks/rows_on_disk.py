"""Fits by minibatches of simulated Parquet files that stay on disk, with a limit on memory.

    python -m tests.benchmarks.rows_on_disk FOLDER [--files 100] [--fits auto meanfield]

FOLDER gets the files, each of 1,000,000 rows with 19 doubles and an int: 16 GB for 100. The copy of them that
a fit maps takes as much of TMPDIR. Each fit is `ppl variational` in a process of its own under RLIMIT_DATA of
2 GB, which bounds what it allocates. Printed are the peaks of its anonymous memory (RssAnon), of pages of
files, which are clean or can be written back (RssFile), and of both (VmRSS), read 20 times a second.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

LIMIT = 2_000_000_000
ROWS, COLUMNS = 1_000_000, 19
"""Rows of a file, and columns of x."""
PROGRAM = """\
data { int N; int D; matrix[N, D] x; array[N] int<lower=0, upper=1> y; }
parameters { real alpha; vector[D] beta; }
model { alpha ~ normal(0, 5); beta ~ normal(0, 1); y ~ bernoulli_logit(alpha + x * beta); }
"""
COUNTED = ("RssAnon", "RssFile", "VmRSS")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.rows_on_disk",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--fits", nargs="+", default=["auto", "meanfield"], metavar="ALGORITHM")
    given = parser.parse_args()
    simulate(given.folder, given.files)
    print(
        "| algorithm | status | seconds | CPU seconds | "
        + " | ".join(f"{k} MB" for k in COUNTED)
        + " | verdict |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for algorithm in given.fits:
        print(" | ".join(["", algorithm, *map(str, ran(given.folder, algorithm)), ""]).strip(), flush=True)


def simulate(folder: Path, files: int) -> None:
    """Write the program and the files that are not there, each with a seed of its own."""
    import pyarrow as arrow
    from pyarrow.parquet import write_table

    (folder / "rows").mkdir(parents=True, exist_ok=True)
    (folder / "m.model").write_text(PROGRAM)
    (folder / "d.json").write_text(json.dumps({"N": files * ROWS, "D": COLUMNS}))
    beta = np.random.default_rng(0).normal(0, 0.3, COLUMNS)
    for k in range(files):
        file = folder / "rows" / f"{k:03}.parquet"
        if file.exists():
            continue
        rng = np.random.default_rng([1, k])
        x = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32).astype(float)
        y = (rng.random(ROWS) < 1 / (1 + np.exp(-0.5 - x @ beta))).astype(np.int64)
        table = arrow.table({**{f"x{j + 1}": x[:, j] for j in range(COLUMNS)}, "y": y})
        write_table(table, file, row_group_size=100_000, compression="none", use_dictionary=False)


def ran(folder: Path, algorithm: str) -> tuple[object, ...]:
    """Exit status, seconds by the clock and of CPU, peaks of `COUNTED` in MB, and the verdict of a fit."""
    columns = ",".join(f"x{j + 1}" for j in range(COLUMNS))
    words = f"variational m.model d.json --data x=rows:{columns} --data y=rows:y --minibatch 1000 -q"
    words += f" -o {algorithm}.csv" + f" --algorithm {algorithm}" * (algorithm != "auto")
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", f"from ppl.cli.main import main; main({words.split()!r})"],
        cwd=folder,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT)),
    )
    peaks = dict.fromkeys(COUNTED, 0)
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        for name, kilobytes in re.findall(rf"({'|'.join(COUNTED)}):\s+(\d+)", status):
            peaks[name] = max(peaks[name], int(kilobytes) >> 10)
        time.sleep(0.05)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    file = folder / f"{algorithm}.csv"
    verdict = re.search("fit_verdict = (.*)", file.read_text()) if file.exists() else None
    seconds = round(time.monotonic() - begun)
    return process.returncode, seconds, round(cpu), *peaks.values(), verdict and verdict[1]


if __name__ == "__main__":
    main()
