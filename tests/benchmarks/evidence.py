"""Errors of the log evidence of default fits, in standard errors, on programs of which it is known.

    python -m tests.benchmarks.evidence --seeds 20 [--only NAME ...]

The programs are those of `tests/results/test_evidence.py`. A program is a line of the table.
"""

import argparse
import warnings

import numpy as np

import ppl
from tests.results.test_evidence import KNOWN, ROUNDING

HEADINGS = ("program", "draws", "fits", "beyond 3 se", "rms of errors", "rms in se", "largest", "median se")


def row(name: str, seeds: int) -> tuple[object, ...]:
    """The figures of a program, fits without an estimate left out."""
    program, data, known = next(make for make in KNOWN if make.__name__ == name)()
    posterior = ppl.compile_model(program).condition(data)
    made, found = set(), []
    for seed in range(1, seeds + 1):
        fit = posterior.variational(seed=seed)
        made.add(str(fit.verdict.made))
        try:
            found.append(fit.log_evidence)
        except ppl.InferenceError:
            continue
    values, ses = np.array(found).T
    errors = (values - known) / np.maximum(ses, ROUNDING)
    rms, of_se = (f"{np.sqrt(np.mean(x**2)):.2g}" for x in (values - known, errors))
    beyond, largest = int((np.abs(errors) >= 3).sum()), f"{errors[np.argmax(np.abs(errors))]:+.1f}"
    return name, ", ".join(sorted(made)), len(found), beyond, rms, of_se, largest, f"{np.median(ses):.2g}"


def line(cells: tuple[object, ...]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    names = [make.__name__ for make in KNOWN]
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--only", nargs="*", default=names, choices=names)
    chosen = options.parse_args()
    warnings.simplefilter("ignore", ppl.PoorFitWarning)
    print(line(HEADINGS), line(("---",) * len(HEADINGS)), sep="\n")
    for name in chosen.only:
        print(line(row(name, chosen.seeds)), flush=True)


if __name__ == "__main__":
    main()
