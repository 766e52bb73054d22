"""A tool as a process: its errors in CmdStan's way, a line that begins with `Error`, and status 1."""

import sys
from collections.abc import Callable, Sequence

from ppl.cmdstan.tools.program import error_lines
from ppl.errors import ModelError, PPLError


def run(tool: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """The exit status of `tool` for the words after its name."""
    try:
        return tool(argv[1:])
    except ModelError as error:
        print(*error_lines(error), sep="\n", end="", file=sys.stderr)
    except PPLError as error:
        print(f"Error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"Error: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1
