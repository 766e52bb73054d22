"""Why no overload of a function fits a call: its signatures, nearest first, with the misfit marked.

rep_vector(real, int) => vector
                 ^^^ real
"""

from collections.abc import Iterable, Sequence

from ppl.kernel.language.messages import ONE_ITEM, is_only_item
from ppl.records import dataclass
from ppl.stdlib.signatures import Bindings, Pattern, match_pattern
from ppl.types import Type, array_dims, core

MOST_LISTED_SIGNATURES = 6
"""Signatures that a message lists."""
MOST_NEAREST = 3
"""The most signatures for which a message still names the one wrong argument."""
MEANINGS = {
    "reals": "a real, or a vector, row_vector or array of reals",
    "ints": "an int or an array of ints",
    "vectors": "a vector, a row_vector or an array of either",
    "T": "a real or any container of reals, the same for every T",
    "I": "an int or any array of ints, the same for every I",
    "C": "a complex number or any container of them, the same for every C",
    "E": "any type, the same for every E",
    "R": "a scalar, or an array of them when an argument is a container",
}


@dataclass(frozen=True)
class PrintedSignature:
    """A signature as it is shown: what stands before each argument, and after the last."""

    args: tuple[Pattern, ...]
    lead: tuple[str, ...]
    tail: str

    def misfits(self, actual: Sequence[Type]) -> tuple[int, ...]:
        """The arguments that do not fit, by position; all that are too many or too few are left out."""
        bound: Bindings = {}
        pairs = enumerate(zip(self.args, actual, strict=False))
        return tuple(k for k, (pattern, t) in pairs if match_pattern(pattern, t, bound) is None)

    def distance(self, actual: Sequence[Type]) -> tuple[int, int]:
        return abs(len(self.args) - len(actual)), len(self.misfits(actual))

    def marked(self, actual: Sequence[Type]) -> str:
        """The signature, and under it carets with the type that was found, where the counts agree."""
        words = list(zip(self.lead, map(pattern_text, self.args), strict=True))
        text = "".join(lead + word for lead, word in words) + self.tail
        wrong = self.misfits(actual) if len(self.args) == len(actual) else ()
        if not wrong:
            return f"  {text}"
        signs = ["^" if k in wrong else " " for k in range(len(words))]
        marks = "".join(
            " " * len(lead) + sign * len(word) for sign, (lead, word) in zip(signs, words, strict=True)
        )
        return f"  {text}\n  {marks.rstrip()} {actual[wrong[-1]]}"


@dataclass(frozen=True)
class Misfit:
    """The error in a sentence, the signatures as text, and the one argument to blame, if any."""

    detail: str
    signatures: str
    culprit: int | None = None


def call(name: str, args: Sequence[Pattern], result: str, bar: bool) -> PrintedSignature:
    """`name(a, b) => result`, or `name(a | b) => result`."""
    after_first = " | " if bar else ", "
    leads = [f"{name}(", after_first, *[", "] * len(args)]
    tail = f") => {result}" if args else f"{name}() => {result}"
    return PrintedSignature(tuple(args), tuple(leads[: len(args)]), tail)


def tilde(name: str, args: Sequence[Pattern]) -> PrintedSignature:
    """`variate ~ name(parameters)`."""
    leads = ["", f" ~ {name}(", *[", "] * len(args)]
    return PrintedSignature(tuple(args), tuple(leads[: len(args)]), ")" if len(args) > 1 else f" ~ {name}()")


def as_pattern(t: Type) -> Pattern:
    return Pattern(core(t), array_dims(t))


def pattern_text(pattern: Pattern) -> str:
    """The pattern as signatures are written in Stan's manual."""
    axes = ".." if pattern.dims < 0 else "," * (pattern.dims - 1)
    return f"array[{axes}] {pattern.base}" if pattern.dims else str(pattern.base)


def misfit(signatures: Sequence[PrintedSignature], actual: Sequence[Type], offset: int = 0) -> Misfit:
    """The reason in words; `offset` arguments come before those that are counted, as the variate of a `~`."""
    ranked = sorted(signatures, key=lambda s: s.distance(actual))
    counts = {len(s.args) for s in signatures}
    listing = signature_list(ranked, actual)
    if len(actual) not in counts:
        number = " or ".join(str(n - offset) for n in sorted(counts))
        plural = "" if number == "1" else "s"
        return Misfit(f"it takes {number} argument{plural}, not {len(actual) - offset}.", listing)
    nearest = [s for s in ranked if s.distance(actual) == ranked[0].distance(actual)]
    wrong = {s.misfits(actual) for s in nearest}
    if len(wrong) != 1 or len(next(iter(wrong))) != 1 or len(nearest) > MOST_NEAREST:
        return Misfit("no signature has arguments of these types.", listing)
    (k,) = wrong.pop()
    detail = f"{ordinal(k, offset)} is {actual[k]}, but must be {choice(nearest, k)}."
    if all(s.args[k].dims == 0 and is_only_item(s.args[k].base, actual[k]) for s in nearest):
        detail += f" {ONE_ITEM}"
    return Misfit(detail, listing, k)


def ordinal(k: int, offset: int) -> str:
    return "the left side" if k < offset else f"argument {k - offset + 1}"


def choice(signatures: Iterable[PrintedSignature], k: int) -> str:
    """The types that the k-th argument may have, over several signatures."""
    words = dict.fromkeys(pattern_text(s.args[k]) for s in signatures)
    return " or ".join(MEANINGS.get(word, word).split(", the same")[0] for word in words)


def signature_list(ranked: Sequence[PrintedSignature], actual: Sequence[Type]) -> str:
    """The nearest signatures, one a line, and what the letters and plurals in them stand for."""
    lines = [s.marked(actual) for s in ranked[:MOST_LISTED_SIGNATURES]]
    if len(ranked) > MOST_LISTED_SIGNATURES:
        lines.append(f"  ... and {len(ranked) - MOST_LISTED_SIGNATURES} more")
    used = {str(p.base) for s in ranked[:MOST_LISTED_SIGNATURES] for p in s.args}
    lines += [f"where {word} is {meaning}" for word, meaning in MEANINGS.items() if word in used]
    return "\n".join(lines)
