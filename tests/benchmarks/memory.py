"""Fits of 100,000 rows and 400 groups in 2 GB of address space.

    python -m tests.benchmarks.memory

Each is `ppl variational` in a process of its own under RLIMIT_AS, as `ulimit -v 2000000` sets it: the default
fit and 4,000 draws, by a loop and by arrays, and with `log_lik` of every row among the generated quantities,
of which 4,000 draws are 3.2 GB and must be refused.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ppl.records import dataclass

ADDRESS_SPACE = 2_000_000 << 10
ROWS, GROUPS = 100_000, 400

PROGRAM = """\
data {{ int N; int J; array[N] int<lower=1, upper=J> g; vector[N] x; vector[N] y; }}
parameters {{ vector[J] a; real b; real mu; real<lower=0> tau; real<lower=0> s; }}
model {{
  mu ~ normal(0, 5); tau ~ normal(0, 5); s ~ normal(0, 5); b ~ normal(0, 5);
  a ~ normal(mu, tau);
  {likelihood}
}}
{generated}
"""
LOOP = "for (n in 1:N) y[n] ~ normal(a[g[n]] + b * x[n], s);"
ARRAYS = "y ~ normal(a[g] + b * x, s);"
LOG_LIK = """generated quantities {
  vector[N] log_lik;
  for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | a[g[n]] + b * x[n], s);
}"""


@dataclass(frozen=True)
class Run:
    """A program, the options of its fit, and the exit status that is right."""

    likelihood: str
    options: tuple[str, ...]
    generated: str = ""
    status: int = 0


RUNS = {
    "loop": Run(LOOP, ()),
    "arrays": Run(ARRAYS, ()),
    "loop, 4,000 draws": Run(LOOP, ("--draws", "4000")),
    "arrays, 4,000 draws": Run(ARRAYS, ("--draws", "4000")),
    "arrays, autograd": Run(ARRAYS, ("--backend", "autograd")),
    "log_lik": Run(ARRAYS, ("-o", "lik.npz"), LOG_LIK),
    "log_lik as CSV": Run(ARRAYS, ("-o", "lik.csv"), LOG_LIK),
    "log_lik, 4,000 draws": Run(ARRAYS, ("--draws", "4000"), LOG_LIK, status=3),
}


def main() -> int:
    """Print a row for each run; returns how many ended with another status than is right."""
    rng = np.random.default_rng(1)
    g, x = rng.integers(1, GROUPS + 1, ROWS), rng.normal(size=ROWS)
    y = rng.normal(size=GROUPS)[g - 1] + 0.5 * x + rng.normal(size=ROWS)
    wrong = 0
    print("| run | status | CPU seconds | peak MB | last line |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        data = {"N": ROWS, "J": GROUPS, "g": g.tolist(), "x": x.tolist(), "y": y.tolist()}
        Path(folder, "rows.json").write_text(json.dumps(data))
        for name, run in RUNS.items():
            text = PROGRAM.format(likelihood=run.likelihood, generated=run.generated)
            Path(folder, "rows.model").write_text(text)
            ended, message, seconds, megabytes = ran(run, folder)
            wrong += ended != run.status
            print(f"| {name} | {ended} | {seconds:.1f} | {megabytes:.0f} | {message} |", flush=True)
    return wrong


def ran(run: Run, folder: str) -> tuple[int, str, float, float]:
    """Exit status, the last line that was said, seconds of CPU and the most megabytes of a run."""
    words = ("variational", "rows.model", "rows.json", "--quiet", *run.options)
    line = f"from ppl.cli.main import main; main({list(words)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", LIMITED.format(bytes=ADDRESS_SPACE, line=line)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    *message, cost = process.stdout.read().splitlines() or [""]
    status = process.wait()
    if not cost.startswith("cost "):  # it was killed
        return status, cost, float("nan"), float("nan")
    _, seconds, kilobytes = cost.split()
    return status, " ".join(message)[:160], float(seconds), int(kilobytes) / 1024


LIMITED = """
import atexit, resource
resource.setrlimit(resource.RLIMIT_AS, ({bytes}, {bytes}))

def cost():
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("cost", used.ru_utime + used.ru_stime, used.ru_maxrss)

atexit.register(cost)
{line}
"""

if __name__ == "__main__":
    sys.exit(main())
