"""`%%ppl NAME` in IPython and notebooks: the program in the cell becomes the model NAME."""

import sys
from typing import Any

from ppl.errors import ModelError, PPLError

USAGE = "%%ppl requires a name for the model, as in `%%ppl schools`, and the program on the lines below it"


class Refused(PPLError):
    """A cell is refused: its errors are shown as the command line shows them, and nothing else.

    Attributes:
        shown: the message in colours.
    """

    def __init__(self, message: str, text: str = ""):
        super().__init__(message)
        self.text = text or message

    def _render_traceback_(self) -> list[str]:
        """The text that IPython shows in place of a traceback."""
        return [self.text]


def register(shell: Any) -> None:
    """Gives a shell of IPython the cell magic."""
    shell.register_magic_function(lambda line, cell: define(shell.user_ns, line, cell), "cell", "ppl")


def define(names: dict[str, Any], line: str, cell: str) -> Any:
    """Compiles the program in a cell, and gives it the name that stands after `%%ppl`; returns the model.

    Likely bugs are said on standard error. Lines are counted from the one below `%%ppl`. Where the program is
    refused the name stands for nothing any more, so that no later cell goes on with an older program.

    Raises:
        Refused: no name is given, or the program is refused; with every error of it.
    """
    from ppl.cli.diagnostics import as_text, likely_bugs, show
    from ppl.compile import model_of
    from ppl.source import SourceText

    name = line.strip()
    if not name.isidentifier():
        raise Refused(USAGE)
    names.pop(name, None)
    source = SourceText(cell, name)
    try:
        model = model_of(source)
    except ModelError as error:
        plain, coloured = (
            "\n\n".join(as_text(each, colour) for each in (error, *error.others)) for colour in (False, True)
        )
        raise Refused(plain, coloured) from None
    show(likely_bugs(model.compilation), sys.stderr)
    names[name] = model
    return model
