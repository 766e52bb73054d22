"""The paragraph that says what files of draws are worth, and what to try next."""

from collections.abc import Iterator, Sequence

import numpy as np

from ppl.inference.convergence import rhat
from ppl.inference.findings import KHAT_GOOD
from ppl.inference.level import Level
from ppl.inference.psis import khat_threshold, psis
from ppl.results.columns import Floats
from ppl.results.provenance import worst_of
from ppl.results.read_csv import DrawsFile
from ppl.results.stansummary import worst_khats

APART = 1.05
MEANING = {
    Level.GOOD: "the draws are close to the posterior",
    Level.USABLE: "the approximation is near enough to the posterior that importance weights can repair it",
    Level.POOR: "the approximation misses part of the posterior; do not rely on its means and sds",
    Level.UNKNOWN: "there are too few draws, or no spread in them, to tell how close the approximation is",
}
NAMED = 3


def reading(files: Sequence[DrawsFile], names: Sequence[str]) -> str:
    """What k-hat, and R-hat over several runs, say of the columns `names`.

    R-hat: Vehtari et al. (2021), with the room that independent approximations need.
    """
    return " ".join([verdict(files), *columns(files, names), *agreement(files, names)])


def verdict(files: Sequence[DrawsFile]) -> str:
    """The verdict of the run, the worst of several; in its place what the files' densities tell."""
    found = [about for file in files if (about := file.provenance)]
    if len(found) < len(files):
        return " ".join(quality(files))
    worst = worst_of(found)
    whose = f" (That is {files[worst].path}, the worst of {len(files)} runs.)" if len(files) > 1 else ""
    return found[worst].judgement + whose


def quality(files: Sequence[DrawsFile]) -> Iterator[str]:
    """Sentences on the importance ratios of the worst run, in the words of inference.verdict."""
    found = [ratios[np.isfinite(ratios)] for file in files if (ratios := file.log_ratios) is not None]
    if not found and any(file.follows_target for file in files):
        yield "These draws were made to follow the posterior; the files do not say how well they do."
        return
    if not found:
        yield "These files have no log densities of the approximation, so nothing tells how close it came."
        return
    worst = max((psis(ratios) for ratios in found), key=lambda p: p.khat)
    draws = len(worst.log_weights)
    level = level_of(worst.khat, khat_threshold(draws))
    yield f"Verdict: {level.value}: {MEANING[level]}."
    yield (
        f"Pareto k-hat is {worst.khat:.2f} (good below {KHAT_GOOD:g}, usable below "
        f"{khat_threshold(draws):.2f}); weighted, the {draws} draws are worth {worst.ess:.0f}."
    )


def level_of(khat: float, threshold: float) -> Level:
    """What k-hat alone says."""
    if np.isnan(khat):
        return Level.UNKNOWN
    return Level.GOOD if khat < KHAT_GOOD else Level.USABLE if khat < threshold else Level.POOR


def columns(files: Sequence[DrawsFile], names: Sequence[str]) -> Iterator[str]:
    """A sentence on the columns whose means are the least sure."""
    found = worst_khats(files)
    if not len(found):
        return
    khats = dict(zip(files[0].columns, found, strict=True))
    threshold = khat_threshold(len(files[0].draws))
    ordered = sorted(names, key=lambda name: -khats.get(name, 0.0))
    bad = [name for name in ordered if khats.get(name, 0.0) > threshold]
    if bad:
        yield f"The least sure means: {shown([f'{name} ({khats[name]:.2f})' for name in bad])}."


def agreement(files: Sequence[DrawsFile], names: Sequence[str]) -> Iterator[str]:
    """A sentence on what the runs do not agree on."""
    if len(files) < 2:
        return
    shortest = min(len(file.draws) for file in files)
    together = np.stack([file.draws[:shortest] for file in files])
    found = {name: _rhat(together, files[0].columns.index(name)) for name in names}
    apart = sorted((name for name in names if found[name] > APART), key=lambda name: -found[name])
    if apart:
        listed = shown([f"{name} ({found[name]:.2f})" for name in apart])
        yield f"The {len(files)} runs do not agree: R-hat is above {APART:g} for {listed}."
    else:
        yield f"The {len(files)} runs agree: no R-hat is above {APART:g}."


def _rhat(together: Floats, k: int) -> float:
    return float(np.nan_to_num(rhat(together[:, :, k])))


def shown(items: Sequence[str]) -> str:
    """The first few of a list, and how many more there are."""
    rest = len(items) - NAMED
    return ", ".join(items[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
