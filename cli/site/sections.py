"""The sections of the pages written by hand, by their headings, and by words that people look for."""

import re
from collections.abc import Mapping
from functools import cache

from ppl.cli.site.site import written

WORDS: Mapping[str, tuple[str, ...]] = {
    "CSV": ("Data", "Draws"),
    "include": ("Statements",),
    "JSON": ("Data",),
    "target": ("Statements",),
    **dict.fromkeys(("pandas", "polars", "DataFrame"), ("Data",)),
    **dict.fromkeys(("factor", "levels", "categorical"), ("factors",)),
    **dict.fromkeys(("formula", "bambi", "lme4", "rstanarm"), ("formulas",)),
    "brms": ("from-brms",),
    **dict.fromkeys(("CmdStan", "CmdStanPy"), ("From Stan",)),
    **dict.fromkeys(("odds", "odds ratio"), ("Odds ratios", "Results")),
    **dict.fromkeys(("random effects", "mixed model", "multilevel"), ("hierarchical",)),
    **dict.fromkeys(("divergent", "divergences"), ("Divergent transitions",)),
}
"""Words that are no heading, and the headings of the sections, or the pages, that tell of them."""


@cache
def sections() -> Mapping[str, str]:
    """The text below each heading of the second level; where several pages have it, one after the other."""
    by_title: dict[str, list[str]] = {}
    for page in written().values():
        _, *parts = re.split(r"(?m)^## (.+)\n", page.text)
        for heading, text in zip(parts[::2], parts[1::2], strict=True):
            by_title.setdefault(heading.rstrip("?"), []).append(f"{page.title}: {heading}\n\n{text.strip()}")
    return {heading: "\n\n".join(texts) for heading, texts in by_title.items()}


def section(word: str) -> str:
    """The text of the sections of a heading, or of the sections and pages of a word of WORDS."""
    places = WORDS.get(word, (word,))
    return "\n\n".join(sections().get(place) or written()[place].text.rstrip() for place in places)
