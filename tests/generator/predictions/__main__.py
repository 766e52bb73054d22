"""Predictions of random models beside exact values: `python -m tests.generator.predictions --count 200`.

A row for each kind of value: how many were compared, how many are off by more than four standard errors, the
root mean square of the distances in standard errors (1 if the errors are right), the largest.
"""

import argparse
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from os import environ

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    environ.setdefault(_threads, "1")

import numpy as np  # noqa: E402

from ppl.methods.diagnose.level import Level  # noqa: E402
from tests.generator.predictions.compare import Compared, compared, fitted  # noqa: E402
from tests.generator.predictions.models import regression  # noqa: E402

MOST = 4.0
"""Standard errors that an estimate may be off."""


def tried(number: int, seed: int) -> tuple[int, str, list[Compared]]:
    """The number of a model, what went wrong if something did, and its comparisons."""
    model = regression(number)
    about = f"{model.family}, {model.predictor} predictor, {model.groups} groups, free {' '.join(model.free)}"
    try:
        fit = fitted(model, seed)
        if fit.level is not Level.GOOD:
            return number, f"not compared: {fit.level.name.lower()} ({about})", []
        return number, about, list(compared(model, fit))
    except Exception as error:  # every kind is a finding
        return number, f"{type(error).__name__}: {error} ({about})", []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.count)
    by_kind = defaultdict[str, list[float]](list)
    models = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for number, about, found in pool.map(partial(tried, seed=arguments.seed), numbers):
            models += bool(found)
            if not found:
                print(f"{number}: {about}", flush=True)
            for each in found:
                by_kind[each.kind].append(each.errors_off)
                if each.errors_off > MOST:
                    print(f"{number}: {each} ({about})", flush=True)
    print(f"{models} of {len(numbers)} models compared")
    print(f"{'':28}{'compared':>9}{'above 4':>9}{'rms':>7}{'largest':>9}")
    for kind, off in sorted(by_kind.items()):
        rms = np.sqrt(np.mean(np.square(off)))
        print(f"{kind:28}{len(off):9}{sum(x > MOST for x in off):9}{rms:7.2f}{max(off):9.2f}")


if __name__ == "__main__":
    main()
