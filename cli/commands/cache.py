"""`ppl cache`: the programs that are stored compiled."""

from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import click

from ppl.cli.options import flag
from ppl.printable import printable

if TYPE_CHECKING:
    from ppl.cache import Entry


def cache(clear: Annotated[bool, flag("--clear", "Remove them.")] = False) -> None:
    """List the compiled programs that are stored, or remove them.

    \b
    First example:
      ppl cache

    A program is compiled once. What the compiler made of it is stored in the
    user's cache, by a digest of its text, its includes, the settings and the
    version of ppl, and used by the next run. At most 64 MB are stored; the
    programs that were used least recently are removed first.

    \b
    PPL_CACHE names the folder; default: ppl in $XDG_CACHE_HOME or ~/.cache.
    If it is set to nothing, no program is stored. A folder that other users
    can read or write is not used.
    """
    from ppl import cache as stored

    folder = stored.folder()
    if folder is None:
        click.echo("No program is stored: there is no folder that you alone can read and write.")
        return
    entries = sorted(stored.entries(), key=lambda entry: entry.title)
    if clear:
        stored.clear()
    else:
        for title, alike in groupby(entries, key=lambda entry: entry.title):
            parts = list(alike)
            last = datetime.fromtimestamp(max(entry.time for entry in parts))
            click.echo(f"{last:%Y-%m-%d %H:%M}  {size(parts):>8}  {printable(title)}")
    click.echo(f"{'Removed' if clear else 'In all'} {size(entries)} in {folder}.")


def size(entries: list["Entry"]) -> str:
    """Their bytes, in kilobytes."""
    return f"{sum(entry.size for entry in entries) / 1000:,.0f} kB"
