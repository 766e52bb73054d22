"""CmdStan's `diagnose`: what is wrong with the chains in CSV files, if anything."""

import math
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ppl.errors import DataError
from ppl.floats import Floats
from ppl.kernel.draws.columns import bracketed
from ppl.methods.nuts.diagnostics import CHAINS, Judged, higher
from ppl.results.files.read_csv import DrawsFile
from ppl.results.files.readers import read_all
from ppl.results.report.reading import of_chains

CheckResult = tuple[bool, str]
"""Whether a check was passed, and what it says."""


def main(words: Sequence[str]) -> int:
    """The command (CmdStan Guide, "diagnose").

    Raises:
        DataError: a file is no file of chains of NUTS, or the files differ.
        MissingFile: a file is not there.
    """
    parser = ArgumentParser("diagnose", description=main.__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    files = read_all(parser.parse_args(words).files)
    judged = of_chains(files)
    if judged is None:
        raise DataError("these are not chains of NUTS; `ppl summary` judges other draws.")
    problems = list(checks(judged, files))
    print("\n\n".join(text for _, text in problems))
    passed = all(good for good, _ in problems)
    print(f"\nProcessing complete{', no problems detected' * passed}.")
    return 0


def checks(j: Judged, files: Sequence[DrawsFile]) -> Iterator[CheckResult]:
    """Each check in CmdStan's order."""
    total, raised = j.chains * j.draws, higher(j.delta)
    yield _check(
        "Checking sampler transitions treedepth.",
        "Treedepth satisfactory for all transitions.",
        f"{j.deepest} of {total} ({100 * j.deepest / max(total, 1):.2g}%) transitions hit the maximum "
        f"treedepth limit of {j.max_depth}, or 2^{j.max_depth} leapfrog steps. Trajectories that are "
        "prematurely terminated due to this limit will result in slow exploration. For optimal performance, "
        "increase this limit."
        if j.deepest
        else "",
    )
    yield _check(
        "Checking sampler transitions for divergences.",
        "No divergent transitions found.",
        f"{j.divergent} of {total} ({100 * j.divergent / max(total, 1):.2g}%) transitions ended with a "
        f"divergence: the sampler did not fully explore the posterior. To remove them, {raised}"
        "reparameterise the model."
        if j.divergent
        else "",
    )
    low = [(k, value) for k, value in enumerate(energies(files), 1) if value < CHAINS.e_bfmi]
    values = ", ".join(f"chain {k}: {value:.2g}" for k, value in low)
    yield _check(
        "Checking E-BFMI - sampler transitions HMC potential energy.",
        "E-BFMI satisfactory.",
        f"The E-BFMI is below the nominal threshold of {CHAINS.e_bfmi:g} ({values}), which suggests that HMC "
        "may have trouble exploring the target distribution. Reparameterise the model if possible."
        if low
        else "",
    )
    least = CHAINS.ess_a_chain * j.chains
    yield _check(
        "",
        "Rank-normalized split effective sample size satisfactory for all parameters.",
        _named(j, j.ess < least, f"had fewer than {least} effective draws", "Run the chains longer."),
    )
    yield _check(
        "",
        "Rank-normalized split R-hat values satisfactory for all parameters.",
        _named(
            j,
            j.rhats > CHAINS.rhat,
            f"had rank-normalized split R-hat greater than {CHAINS.rhat:g}",
            "Such high values indicate incomplete mixing and biased estimation. Run the chains longer, or "
            "rewrite the model.",
        ),
    )


def _check(title: str, good: str, bad: str) -> CheckResult:
    return not bad, "\n".join(filter(None, [title, bad or good]))


def _named(j: Judged, which: np.ndarray, what: str, advice: str) -> str:
    names = [bracketed(name) for name, bad in zip(j.names, which, strict=True) if bad]
    return f"The following parameters {what}:\n  {', '.join(names)}\n{advice}" if names else ""


def energies(files: Sequence[DrawsFile]) -> Iterator[float]:
    """E-BFMI of each chain that has energies."""
    for file in files:
        if "energy__" in file.internal:
            yield e_bfmi(file.internal["energy__"])


def e_bfmi(energies: Floats) -> float:
    """The energy Bayesian fraction of missing information of a chain with these energies, (draws,).

    How far a draw's energy moves from the one before, against how far energies lie apart: where it is low,
    momenta drawn anew do not reach the energies of the posterior. Betancourt (2016), arXiv:1604.00695.

    Example:
        >>> round(e_bfmi(np.array([1.0, 2.0, 1.0, 2.0])), 2)
        3.0
    """
    spread = float(np.var(energies, ddof=1)) if len(energies) > 1 else 0.0
    return float(np.mean(np.diff(energies) ** 2)) / spread if spread else math.nan
