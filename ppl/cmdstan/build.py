"""Writes the executable of a program: a Python script with the program's text in it, and its compilation."""

from collections.abc import Sequence
from pathlib import Path

from ppl.cmdstan.launcher import Launched
from ppl.cmdstan.stored import stored
from ppl.kernel.language.include import expand
from ppl.source import SourceText

SCRIPT = '''\
# {name!r}: a program of ppl with CmdStan's command line, written by `ppl build`. Try `help`.

from pathlib import Path

from ppl.cmdstan.main import main

SOURCE = Path({source!r})
PROGRAM = """\\
{text}"""
# What the compiler made of it; another version of ppl than the one that wrote this compiles the program.
COMPILED = {compiled!r}

# Where the file is still the one that was built, messages can refer to it.
unchanged = SOURCE.is_file() and SOURCE.read_text(encoding="utf-8") == PROGRAM
sys.exit(main({name!r}, SOURCE if unchanged else PROGRAM, sys.argv, COMPILED, {flags!r}))
'''


def build(
    source: Path,
    text: str,
    output: Path,
    include_paths: Sequence[str | Path] = (),
    flags: Sequence[str] = (),
) -> None:
    """Write `output`, which runs the program `text` of the file `source`.

    Included files go into it, so that it needs none of them; `cmdstan.launcher` says which Python runs it.
    `flags` are those of `cmdstan.help.FLAGS` that the executable reports as set.

    Raises:
        ModelError: an included file is missing.
        OSError: it cannot be written.
    """
    whole = expand(SourceText(text, str(source)), include_paths).text
    text = text if whole.rstrip() == text.rstrip() else whole
    body = SCRIPT.format(
        name=output.stem,
        source=str(source.resolve()),
        text=quoted(text),
        compiled=stored(text),
        flags=tuple(flags),
    )
    Launched(body).write(output)


def quoted(text: str) -> str:
    """A text as it stands between triple quotes."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
