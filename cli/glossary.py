"""The terms that messages, help and files use without explanation: `ppl docs glossary`."""

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

_, *PARTS = re.split(
    r"^## (.+)$", files("ppl.cli").joinpath("glossary.md").read_text("utf-8"), flags=re.MULTILINE
)

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {term: " ".join(text.split()) for term, text in zip(PARTS[::2], PARTS[1::2], strict=True)}
)
"""The meaning of each term, in a paragraph, with the source where there is one; in alphabetical order."""
