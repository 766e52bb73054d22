"""The paragraph that says what files of draws are worth, and what to try next."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ppl.errors import first_few
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.methods.diagnose.convergence import by_columns, rhat
from ppl.methods.diagnose.level import FROM_BEST, Level
from ppl.methods.diagnose.psis import khat_threshold
from ppl.methods.nuts.diagnostics import Judged, judged
from ppl.results.files.provenance import worst_of
from ppl.results.files.read_csv import DrawsFile
from ppl.results.report.stansummary import runs_of, worst_khats

if TYPE_CHECKING:
    from ppl.methods.diagnose.verdict import Verdict

MOST_RHAT = 1.05
"""R-hat above which runs do not agree."""


def reading(files: Sequence[DrawsFile], names: Sequence[str]) -> str:
    """The meaning of k-hat, and of R-hat over several runs, for the columns `names`.

    R-hat: Vehtari et al. (2021), with the room that independent approximations need.
    """
    return " ".join([verdict(files), *columns(files, names), *agreement(files, names)])


def verdict(files: Sequence[DrawsFile]) -> str:
    """The verdict of the run, the worst of several; in its place what the files' densities tell."""
    provenances = [about for file in files if (about := file.provenance)]
    if len(provenances) < len(files):
        return " ".join(quality([file for file in files if not file.provenance]))
    worst = worst_of(provenances)
    of_worst = f" (That is {files[worst].path}, the worst of {len(files)} runs.)" if len(files) > 1 else ""
    return provenances[worst].judgement + of_worst


def judged_columns(file: DrawsFile) -> tuple[str, ...]:
    """The columns that a verdict is computed from: none where the file says the verdict."""
    return () if file.provenance else file.parameters


def level(files: Sequence[DrawsFile]) -> Level:
    """The level of the verdict, the worst of several files; unknown where one does not say."""
    provenances = [about for file in files if (about := file.provenance)]
    if len(provenances) == len(files):
        return provenances[worst_of(provenances)].verdict
    chains = of_chains(files)
    return chains.level if chains else Level.UNKNOWN


def judgement(files: Sequence[DrawsFile]) -> str:
    """The verdict of fits, or on chains, in words; "" of files that say nothing of their fit."""
    chains = of_chains(files)
    known = any(file.provenance for file in files)
    return verdict(files) if known else chains.sentence if chains else ""


def evidence(files: Sequence[DrawsFile]) -> str:
    """The log evidence of each file, in nats, or why it is unknown; "" where none says anything of it."""
    said = {file.path: about.about_evidence.strip() for file in files if (about := file.provenance)}
    of = {path: f"Log evidence of {path}" if len(files) > 1 else "Log evidence" for path in said}
    return " ".join(text.replace("Log evidence", of[path], 1) for path, text in said.items() if text)


def of_chains(files: Sequence[DrawsFile]) -> Judged | None:
    """The diagnostics of chains of the No-U-Turn sampler; None where not all files are such chains."""
    if not all({"divergent__", "treedepth__"} <= {*file.internal} for file in files):
        return None
    names = files[0].parameters
    draws = runs_of([file.only(names) for file in files])
    settings = files[0].settings
    divergent, depths = (
        np.stack([file.internal[name][: draws.shape[1]] for file in files])
        for name in ("divergent__", "treedepth__")
    )
    delta = [float(settings["delta"])] if "delta" in settings else []
    return judged(names, draws, divergent, depths, int(float(settings.get("max_depth", 1e9))), *delta)


def quality(files: Sequence[DrawsFile]) -> Iterator[str]:
    """The verdict on the worst of files that say nothing of their fit, where their densities tell."""
    with_ratios = [(file, ratios) for file in files if (ratios := file.log_ratios) is not None]
    qualities = [of_densities(file, ratios) for file, ratios in with_ratios if np.isfinite(ratios).any()]
    if not qualities and any(file.follows_target for file in files):
        yield (
            "The algorithm corrects these draws towards the posterior; the files do not say how close "
            "they are."
        )
        return
    if not qualities:
        yield "These files lack log densities of the approximation, so the quality of the fit is unknown."
        return
    worst = max(qualities, key=lambda v: (FROM_BEST.index(v.level), v.khat))
    yield worst.reason(files[0].parameters)  # a file cannot be run in another way
    if details := worst.details(files[0].parameters):
        yield details


def of_densities(file: DrawsFile, ratios: Floats) -> "Verdict":
    """The verdict on a file's draws of q by their log ratios (draws,), in its own coordinates."""
    from ppl.kernel.advi.elbo import elbo_of
    from ppl.methods.correct.correction import Corrected, DrawSource
    from ppl.methods.diagnose.psis import weighted_draws_of
    from ppl.methods.diagnose.verdict import verdict_of

    finite = np.isfinite(ratios)
    u, ratios = file.only(file.parameters).draws[finite], ratios[finite]
    proposals = weighted_draws_of(u, ratios, np.zeros_like(ratios))
    elbo = elbo_of(ratios, 0.0, int((~finite).sum()))
    drawn = Corrected(u, ratios, DrawSource.OF_Q)
    return verdict_of(proposals, elbo, Outcome(Ending.COMPLETED, "not told"), None, drawn)


def columns(files: Sequence[DrawsFile], names: Sequence[str]) -> Iterator[str]:
    """A sentence on the columns whose means the importance weights estimate least reliably."""
    worst = worst_khats(files)
    if not len(worst):
        return
    khats = dict(zip(files[0].columns, worst, strict=True))
    threshold = khat_threshold(len(files[0].draws))
    bad = sorted((name for name in names if khats.get(name, 0.0) > threshold), key=lambda name: -khats[name])
    if bad:
        which = first_few([f"{name} ({khats[name]:.2f})" for name in bad])
        yield f"Means with a k-hat above {threshold:.2f}: {which}."


def agreement(files: Sequence[DrawsFile], names: Sequence[str]) -> Iterator[str]:
    """A sentence on what the runs do not agree on."""
    if len(files) < 2:
        return
    together = runs_of(files)
    rhats = dict(zip(files[0].columns, np.nan_to_num(by_columns(rhat, together)).tolist(), strict=True))
    disagreeing = sorted((name for name in names if rhats[name] > MOST_RHAT), key=lambda name: -rhats[name])
    if disagreeing:
        which = first_few([f"{name} ({rhats[name]:.2f})" for name in disagreeing])
        yield f"The {len(files)} runs do not agree: R-hat is above {MOST_RHAT:g} for {which}."
    else:
        yield f"The {len(files)} runs agree: no R-hat is above {MOST_RHAT:g}."
