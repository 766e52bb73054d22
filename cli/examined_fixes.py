"""The fixes of what `ppl doctor` finds, each tried on the data before it is applied."""

from collections.abc import Collection

from ppl.cli.fixes import Fixed
from ppl.compile import model_of
from ppl.data import Inputs
from ppl.errors import PPLError
from ppl.inference.diagnose.level import Level
from ppl.results.doctor.doctor import Examination, tier
from ppl.results.doctor.finding import Finding
from ppl.results.fits.fit import variational
from ppl.source import SourceText, with_fixes

LATER = "an earlier finding may be its cause; --codes {} changes it all the same"


def fixed_with(program: Fixed, inputs: Inputs, codes: Collection[str], seed: int) -> Fixed:
    """The program with the fix of each finding that removes it, of `codes` alone where some are given.

    After each fix the program is fitted and examined again. Without `codes` only the first findings are
    fixed: they may be the cause of the others.

    Raises:
        PPLError: the program as it is cannot be fitted to the data.
    """
    source, applied, refused = program.source, list(program.applied), dict[str, str]()
    found = examination(source, inputs, seed)
    while (f := next_of(found, codes, refused)) is not None:
        text = SourceText(with_fixes(source.text, f.fixes), source.name)
        other, why = tried(text, inputs, seed, f)
        if other is None:
            refused[f.code] = why
        else:
            source, found = text, other
            applied.append(f)
    left = [f"{f.span.place}: {f.code}: not changed: {reason(f, refused)}." for f in found.findings]
    return Fixed(source, tuple(applied), program.errors, (*found.notes, *left))


def next_of(found: Examination, codes: Collection[str], refused: Collection[str]) -> Finding | None:
    """The next finding to fix."""
    first = [f for f in found.findings if (f.code in codes if codes else tier(f) == tier(found.findings[0]))]
    return next((f for f in first if f.fixes and f.code not in refused), None)


def tried(source: SourceText, inputs: Inputs, seed: int, f: Finding) -> tuple[Examination | None, str]:
    """The examination of a changed program; None with the reason if the change does not serve."""
    try:
        other = examination(source, inputs, seed)
    except PPLError as error:
        return None, f"the changed program fails: {getattr(error, 'message', error)}".rstrip(".")
    if other.level is Level.POOR:
        return None, "the fit of the changed program is poor"
    if f.code in [each.code for each in other.findings]:
        return None, "the changed program has the finding, too"
    return other, ""


def reason(f: Finding, refused: dict[str, str]) -> str:
    """Why a finding was not fixed."""
    return refused.get(f.code) or f.no_fix or LATER.format(f.code)


def examination(source: SourceText, inputs: Inputs, seed: int) -> Examination:
    """What `ppl doctor` finds."""
    return variational(model_of(source).condition(inputs), seed=seed).doctor(seed=seed)
