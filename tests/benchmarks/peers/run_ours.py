"""One fit of ours in a process of its own: `python -m tests.benchmarks.peers.run_ours REQUEST`.

REQUEST is JSON: program, data (file), target (an ELBO), settings.  The model is compiled and fitted once to
warm everything up, then the fit is timed until an ELBO on the way reaches the target.  Prints one JSON line:
`seconds` to a q of the family, judged by `elbo_samples` draws, `first` to a Gaussian along a path of the
start, which has correlations and is judged by ten.
"""

import json
import sys
import time
from contextlib import suppress
from typing import Any

import ppl
from ppl.inference.progress import Progress


class Reached(Exception):
    """The target was reached; the fit has nothing more to prove."""


def main() -> None:
    asked = json.loads(sys.argv[1])
    posterior = ppl.compile_model(asked["program"]).condition(asked["data"])
    run(posterior, asked)
    print(json.dumps(run(posterior, asked)))


def run(posterior: Any, asked: dict[str, Any]) -> dict[str, Any]:
    began, cpu = time.perf_counter(), time.process_time()
    best, first = float("-inf"), None

    def listen(progress: Progress) -> None:
        nonlocal best, first
        if progress.elbo >= asked["target"] and first is None:
            first = time.perf_counter() - began
        if progress.phase != "start" and progress.elbo > best:
            best = progress.elbo
        if best >= asked["target"]:
            raise Reached

    with suppress(Reached):
        best = max(best, posterior.variational(progress=listen, draws=100, **asked["settings"]).elbo)
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "first": seconds if first is None else first,
        "cpu": time.process_time() - cpu,
        "elbo": best,
        "reached": best >= asked["target"],
    }


if __name__ == "__main__":
    main()
