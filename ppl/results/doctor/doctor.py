"""The table of checks, and which of what they find is reported."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ppl import html
from ppl.methods.diagnose.level import Level
from ppl.records import dataclass, replace
from ppl.results.doctor import structure
from ppl.results.doctor.change import written
from ppl.results.doctor.counts import dispersion, zeros
from ppl.results.doctor.dependence import dependence, influential
from ppl.results.doctor.evidence import Evidence, ObservedOutcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.parameters import conflict, narrowest, prior_predictive, uninformed, units
from ppl.results.doctor.shape import family, loo_pit, outliers, repeated
from ppl.results.pictures.canvas import save
from ppl.results.pictures.statistic import statistic

FALSE_ALARMS = 0.01
"""The probability that a model that is right has a finding, over all checks (Bonferroni's bound)."""

OF_OUTCOMES: tuple[Callable[[ObservedOutcome], Finding | None], ...] = (
    *(prior_predictive, structure.group, structure.predictor, structure.autocorrelation),
    *(structure.interaction, structure.curvature, structure.unequal_variance),
    *(zeros, dispersion, outliers, family, loo_pit, repeated, influential),
)
"""The checks of each observed variable."""

OF_ALL: tuple[Callable[[Evidence], Finding | None], ...] = (conflict, uninformed, units, dependence)
"""The checks of the parameters and priors."""

POOR = "The fit is poor, so only prior, scales and dependence were examined: fit the model first."
PRIORS = ("PPL020", "PPL021")
TIERS = (
    ("PPL037",),
    PRIORS,
    ("PPL024", "PPL025", "PPL026", "PPL027", "PPL028", "PPL029"),
    ("PPL030",),
    ("PPL031", "PPL033", "PPL035"),
    ("PPL032",),
    ("PPL034", "PPL036", "PPL022", "PPL023"),
)
"""The order of findings: what comes first may be the cause of what comes after."""


@dataclass(frozen=True, repr=False, eq=False)
class Examination:
    """The result of `doctor`: `findings`, possible causes first, and `notes` on what it could not examine.

    `verdict` is that of the fit in words, `level` in a word.

    Example:
        >>> fit.doctor()
        <Examination of 1 outcome by ... checks: no findings>
    """

    findings: tuple[Finding, ...]
    outcomes: tuple[str, ...]
    checks: int
    notes: tuple[str, ...] = ()
    verdict: str = ""
    level: Level = Level.UNKNOWN

    def __repr__(self) -> str:
        codes = ", ".join(f.code for f in self.findings) or "no findings"
        outcomes = f"{len(self.outcomes)} outcome{'' if len(self.outcomes) == 1 else 's'}"
        return f"<Examination{self.level.of_poor} of {outcomes} by {self.checks} checks: {codes}>"

    def __str__(self) -> str:
        return "\n\n".join([*(f.describe() for f in self.findings), self.sentence])

    def _repr_html_(self) -> str:
        verdict = html.judged(self.level, self.verdict) if self.verdict else ""
        return verdict + "".join(map(_as_html, self.findings)) + html.paragraph(self.sentence)

    def save_pictures(self, folder: str | Path) -> list[Path]:
        """Writes a picture of each finding, `PPL024.svg`: its statistic beside that of replicated data.

        Raises:
            MissingPackage: matplotlib is not installed.
            OSError: a file cannot be written.
        """
        paths = [Path(folder) / f"{f.code}.svg" for f in self.findings]
        for path, f in zip(paths, self.findings, strict=True):
            save(statistic(*f.reference), path)
        return paths

    @property
    def sentence(self) -> str:
        """How many findings there are, and what could not be examined."""
        names = ", ".join(f"`{name}`" for name in self.outcomes) or "parameters and priors"
        ran = f"{self.checks} check{'' if self.checks == 1 else 's'}"
        count = f"{len(self.findings) or 'No'} finding{'' if len(self.findings) == 1 else 's'}"
        return " ".join([f"{count} in {ran} of {names}.", *self.notes])


def _as_html(f: Finding) -> str:
    statement = html.preformatted(f"{f.span.place}\n{f.span.excerpt()}")
    return html.paragraph(f"{f.code}: {f.message}") + statement + html.paragraph(f.hint or "")


def examine(evidence: Evidence, verdict: str = "", level: Level = Level.UNKNOWN) -> Examination:
    """The findings of all checks that remain after a Bonferroni correction for their number.

    For a poor fit only the prior is examined, and scales and dependence that may be its cause: what its draws
    say of the data is not the model's.
    """
    poor = level is Level.POOR
    of_outcomes, of_all = ((prior_predictive,), (units, dependence)) if poor else (OF_OUTCOMES, OF_ALL)
    with np.errstate(all="ignore"):  # replications may overflow
        checked = [check(o) for o in evidence.outcomes for check in of_outcomes]
        checked += [check(evidence) for check in of_all]
    ran = [finding for finding in checked if finding is not None]
    corrected = (replace(f, p=min(1.0, f.p * len(ran))) for f in ran)
    findings = sorted((f for f in corrected if f.p <= FALSE_ALARMS), key=lambda f: (tier(f), f.p))
    if not poor:
        findings = [with_prior(f, evidence) if f.code == "PPL020" else f for f in findings]
    names = tuple(o.name for o in evidence.outcomes)
    notes = (*evidence.notes, *((POOR,) if poor else ()))
    return Examination(tuple(findings), names, len(ran), notes, verdict, level)


def with_prior(f: Finding, evidence: Evidence) -> Finding:
    """The finding that the data are far from the prior, with the wider prior that may explain it."""
    change = narrowest(evidence)
    if change is None:
        return f
    return replace(f, hint=f"{f.hint} For instance, {written(change.new)}.", change=change)


def tier(f: Finding) -> int:
    """How far a finding may follow from others: structure that is left out changes the distribution too."""
    return next(k for k, codes in enumerate(TIERS) if f.code in codes)
