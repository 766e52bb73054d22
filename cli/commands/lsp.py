"""`ppl lsp`: what an editor asks of a program while it is written."""

import sys
from typing import Annotated

from ppl.cli.signatures import Option


def lsp(
    pedantic: Annotated[bool, Option("--pedantic", help="Also report possible problems.")] = False,
) -> None:
    """Run the language server for editors.

    \b
    First example:
      ppl lsp --pedantic

    \b
    The server uses the Language Server Protocol over standard input and
    output. It provides errors and warnings as you type, hover, completion,
    definitions, references, renaming, an outline, formatting and fixes.
    Editors start it themselves: `ppl docs editors` has the settings for
    VS Code, Neovim, Emacs and Helix. Requires pygls: pip install "pygls>=2".
    """
    from ppl.system.distribution import extra, requirements

    extra("pygls.lsp.server", "The language server", *requirements("lsp"))
    from ppl.cli.lsp.requests import Requests
    from ppl.cli.lsp.server import made

    requests, answers = Requests(sys.stdin.buffer), sys.stdout.buffer
    sys.stdout = sys.stderr  # what prints would break the protocol
    made(pedantic).start_io(requests, answers)
