"""One fit of ours in a process of its own: `python -m tests.benchmarks.peers.run_ours REQUEST`.

REQUEST is JSON: program, data (file), target (an ELBO), patience (seconds), settings.  The model is compiled
and fitted once to warm everything up, then fits are timed until an ELBO of q on the way reaches the target.
Prints one JSON line, whose `seconds` are the median of `repeated` fits.
"""

import json
import sys
import time
from contextlib import suppress
from typing import Any

import ppl
from ppl.kernel.advi.outcome import Phase, Progress
from tests.benchmarks.peers.repeated import repeated


class Over(Exception):
    """The target was reached, or patience is at an end; the fit has nothing more to prove."""


def main() -> None:
    request = json.loads(sys.argv[1])
    posterior = ppl.compile_model(request["program"]).condition(request["data"])
    run(posterior, request)
    print(json.dumps(repeated(lambda: run(posterior, request))))


def run(posterior: Any, request: dict[str, Any]) -> dict[str, Any]:
    began, best = time.perf_counter(), float("-inf")

    def listen(progress: Progress) -> None:
        nonlocal best
        if progress.phase is not Phase.PATHFINDER:
            best = max(best, progress.elbo)
        if best >= request["target"] or time.perf_counter() - began > request["patience"]:
            raise Over

    with suppress(Over):
        best = max(best, posterior.variational(progress=listen, draws=100, **request["settings"]).elbo)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "elbo": best, "reached": best >= request["target"]}


if __name__ == "__main__":
    main()
