"""One fit of ours in a process of its own: `python -m tests.benchmarks.peers.run_ours REQUEST`.

REQUEST is JSON: program, data (file), target (an ELBO), settings.  The model is compiled and fitted once to
warm everything up, then the fit is timed until an ELBO on the way reaches the target.  Prints one JSON line.
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
    best = float("-inf")
    iterations = 0

    def listen(progress: Progress) -> None:
        nonlocal best, iterations
        if progress.elbo == progress.elbo:
            best, iterations = max(best, progress.elbo), progress.iteration
        if best >= asked["target"]:
            raise Reached

    began, cpu = time.perf_counter(), time.process_time()
    with suppress(Reached):
        best = max(best, posterior.variational(progress=listen, draws=100, **asked["settings"]).elbo)
    return {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - cpu,
        "elbo": best,
        "iterations": iterations,
        "reached": best >= asked["target"],
    }


if __name__ == "__main__":
    main()
