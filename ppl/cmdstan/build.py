"""Writes the executable of a program: a Python script with the program's text in it, and its compilation."""

from pathlib import Path

from ppl.cmdstan.launcher import Launched
from ppl.cmdstan.stored import stored
from ppl.compile import compile_model
from ppl.frontend.include import expand
from ppl.model import Model
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
sys.exit(main({name!r}, SOURCE if unchanged else PROGRAM, sys.argv, COMPILED))
'''


def build(model: Model, source: Path, output: Path) -> None:
    """Write `output`, which runs the model that was compiled from the file `source`.

    Included files go into it, so that it needs none of them; `cmdstan.launcher` says which Python runs it.

    Raises:
        ModelError: an included file is missing.
        OSError: it cannot be written.
    """
    text = model.source.text
    whole = expand(SourceText(text, str(source))).text
    if whole.rstrip() != text.rstrip():
        text, model = whole, compile_model(whole)
    body = SCRIPT.format(
        name=output.stem, source=str(source.resolve()), text=quoted(text), compiled=stored(model)
    )
    Launched(body).write(output)


def quoted(text: str) -> str:
    """What stands between triple quotes for a text."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
