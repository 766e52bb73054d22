"""Where the blocks of a program stand, found in its text, whether it parses or not."""

import re
from collections.abc import Iterator

from ppl.kernel.language.scope import Block
from ppl.programs.recovery import closing
from ppl.programs.syntax_rules import BLOCK
from ppl.programs.syntax_stop import blanked

HEAD = re.compile(rf"{BLOCK}\s*\{{")


def blocks(text: str) -> Iterator[tuple[Block, int, int, int]]:
    """Each block with the offsets where its name begins and ends and where its closing brace does."""
    code, at = blanked(text), 0
    while (found := HEAD.search(code, at)) is not None:
        at = closing(code, found.end() - 1)
        yield Block(" ".join(found["name"].split())), found.start(), found.end("name"), at
