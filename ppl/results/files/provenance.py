"""The provenance of draws in a file: the fit that they come from."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ppl.errors import DataError
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.correct.evidence import Evidence
from ppl.methods.diagnose.level import FROM_BEST, Level
from ppl.records import dataclass, field

PREFIX = "fit_"
"""Before every name, for a file has an `algorithm` and a `draws` of its own."""


@dataclass(frozen=True)
class Provenance:
    """How draws were made, and how far they can be believed.

    `algorithm` is the one asked for, `family` that of q, `draws` how they were made from q (DrawSource);
    `elbo` and its standard error are in nats, `outcome` says how the run ended, `judgement` is the verdict in
    words. `evidence` is the log evidence and its standard error in nats, None where the fit does not tell it,
    `unknown_evidence` why two estimates of it do not make one that can be told,
    `backend` what computed the log density, "" where a file does not say. `se` has the standard error of the
    mean of each column that has one, to three digits.

    Example:
        >>> from ppl.results.files.readers import read_file
        >>> read_file("output.csv").provenance == fit.provenance
        True
    """

    algorithm: str
    family: str
    draws: str
    elbo: float
    elbo_se: float
    outcome: str
    verdict: Level
    judgement: str
    evidence: Evidence | None = None
    unknown_evidence: str = ""
    backend: str = ""
    se: Mapping[str, float] = field(default_factory=dict)

    def entries(self) -> dict[str, str]:
        """Names and texts, each on one line, as files keep them: `fit_verdict`, "good"."""
        entries = {name: getattr(self, name) for name in NAMES}
        entries |= {"backend": self.backend} if self.backend else {}
        entries |= dict(zip(EVIDENCE, self.evidence, strict=True)) if self.evidence else {}
        entries |= {UNKNOWN_EVIDENCE: self.unknown_evidence} if self.unknown_evidence else {}
        entries |= {SE: ",".join(f"{name}={se:.3g}" for name, se in self.se.items())} if self.se else {}
        return {PREFIX + name: str(value) for name, value in entries.items()}

    @property
    def of_q(self) -> bool:
        """Whether the draws are those of q itself."""
        return self.draws == DrawSource.OF_Q.value

    @property
    def run(self) -> str:
        """The ELBO, what was run, how the draws were made, and how it ended."""
        source = "draws of q" if self.of_q else f"draws {self.draws}"
        q = "" if self.family == self.algorithm else f", q {self.family}"
        elbo = f"ELBO {self.elbo:.2f} ± {self.elbo_se:.2f} nats"
        return f"{elbo} (algorithm {self.algorithm}{q}, {source}).{self.about_evidence} {self.outcome}"

    @property
    def about_evidence(self) -> str:
        """A sentence or two on the log evidence, after a space; "" where nothing is to be said."""
        if self.evidence:
            return f" Log evidence {self.evidence} nats."
        return f" Log evidence unknown. {self.unknown_evidence}" if self.unknown_evidence else ""


EVIDENCE = ("log_evidence", "log_evidence_se")
"""Names that a file has where its fit tells the evidence."""
UNKNOWN_EVIDENCE = "log_evidence_unknown"
"""The name of the reason why the evidence is unknown."""
SE = "se"
"""The name of the standard errors: `mu=0.12,theta.1=0.3`."""
OPTIONAL = ("evidence", "unknown_evidence", "backend", SE)
NAMES = tuple(name for name in Provenance.__dataclass_fields__ if name not in OPTIONAL)
VALUES: Mapping[str, Callable[[str], Any]] = {"elbo": float, "elbo_se": float, "verdict": Level}
"""How a text is read that does not stand for itself."""


def read_entries(entries: Mapping[str, str]) -> Provenance | None:
    """The inverse of `entries`, among others; None where one of them is missing.

    Raises:
        DataError: one of them has a value that it cannot have.
    """
    if not all(PREFIX + name in entries for name in NAMES):
        return None
    known = [entries[PREFIX + name] for name in EVIDENCE if PREFIX + name in entries]
    errors = (entry.rpartition("=") for entry in entries.get(PREFIX + SE, "").split(",") if entry)
    try:
        return Provenance(
            **{name: VALUES.get(name, str)(entries[PREFIX + name]) for name in NAMES},
            evidence=Evidence(*map(float, known)) if len(known) == len(EVIDENCE) else None,
            unknown_evidence=entries.get(PREFIX + UNKNOWN_EVIDENCE, ""),
            backend=entries.get(PREFIX + "backend", ""),
            se={name: float(se) for name, _, se in errors},
        )
    except ValueError as error:
        raise DataError(f"the comments of a file about its fit are damaged: {error}.") from None


def worst_of(provenances: Sequence[Provenance]) -> int:
    """The position of the one to be believed least, the first of several."""
    return max(range(len(provenances)), key=lambda k: (FROM_BEST.index(provenances[k].verdict), -k))
