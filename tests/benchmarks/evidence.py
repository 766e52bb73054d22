"""Errors of the log evidence of default fits, in standard errors, on programs of which it is known.

    python -m tests.benchmarks.evidence --seeds 10 [--only NAME ...]

The programs are those of `tests/results/exact_evidences.py`. A program is a line of the table.
"""

import argparse
import warnings

import numpy as np

import ppl
from tests.results.exact_evidences import HARDER, KNOWN
from tests.results.test_evidence import ROUNDING

PROGRAMS = {make.__name__: make for make in (*KNOWN, *HARDER)}

HEADINGS = (
    "program",
    "exact",
    "mean",
    "unknown",
    "beyond 3 se",
    "rms in se",
    "largest",
    "median se",
    "draws",
)


def row(name: str, seeds: int) -> tuple[object, ...]:
    """The figures of a program, fits that do not tell the evidence left out."""
    program, data, known = PROGRAMS[name]()
    posterior = ppl.compile_model(program).condition(data)
    made, found = set(), []
    for seed in range(1, seeds + 1):
        fit = posterior.variational(seed=seed)
        made.add(str(fit.verdict.made))
        try:
            found.append(fit.log_evidence)
        except ppl.InferenceError:
            continue
    exact, unknown, by = f"{known:.4f}", seeds - len(found), ", ".join(sorted(made))
    if not found:
        return name, exact, "", unknown, 0, "", "", "", by
    values, ses = np.array(found).T
    errors = (values - known) / np.maximum(ses, ROUNDING)
    beyond, largest = int((np.abs(errors) >= 3).sum()), f"{errors[np.argmax(np.abs(errors))]:+.1f}"
    rms, se = f"{np.sqrt(np.mean(errors**2)):.2g}", f"{np.median(ses):.2g}"
    return name, exact, f"{values.mean():.4f}", unknown, beyond, rms, largest, se, by


def line(cells: tuple[object, ...]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    names = list(PROGRAMS)
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--only", nargs="*", default=names, choices=names)
    chosen = options.parse_args()
    warnings.simplefilter("ignore", ppl.PoorFitWarning)
    print(line(HEADINGS), line(("---",) * len(HEADINGS)), sep="\n")
    for name in chosen.only:
        print(line(row(name, chosen.seeds)), flush=True)


if __name__ == "__main__":
    main()
