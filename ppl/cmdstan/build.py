"""Writes the executable: a Python script with the program's text in it."""

import stat
import sys
from pathlib import Path

from ppl.files import write_whole
from ppl.frontend.include import expand
from ppl.source import SourceText

SCRIPT = '''\
#!{python}
"""{name}: a program of ppl with CmdStan's command line, written by `ppl build`. Try `{name} help`."""

import sys
from pathlib import Path

from ppl.cmdstan.main import main

SOURCE = Path({source!r})
PROGRAM = """\\
{text}"""

# Where the file is still the one that was built, messages can refer to it.
unchanged = SOURCE.is_file() and SOURCE.read_text(encoding="utf-8") == PROGRAM
sys.exit(main({name!r}, SOURCE if unchanged else PROGRAM, sys.argv))
'''


def build(source: Path, text: str, output: Path) -> None:
    """Write `output`, which runs the program `text` of the file `source` under this Python.

    Included files go into it, so that it needs none of them.

    Raises:
        ModelError: an included file is missing.
        OSError: it cannot be written.
    """
    whole = expand(SourceText(text, str(source))).text
    literal = (
        (text if whole.rstrip() == text.rstrip() else whole).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    )
    script = SCRIPT.format(
        python=sys.executable, name=output.stem, source=str(source.resolve()), text=literal
    )
    write_whole(output, [script])
    output.chmod(output.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
