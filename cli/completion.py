"""Completion by the shell: Click's script for it, printed or installed."""

import os
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

FILES = {"bash": ".bash_completion", "zsh": ".zshrc", "fish": ".config/fish/completions/ppl.fish"}
"""Where each shell reads completions, below the user's folder."""


def script_of(command: click.Command) -> tuple[str, str]:
    """The shell in use, and the script that completes the words after `ppl` in it.

    Raises BadParameter for another shell than those of FILES.
    """
    shell = Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(shell) if shell in FILES else None
    if kind is None:
        raise click.BadParameter(f"completion is for {', '.join(FILES)}; SHELL is {shell or 'unset'}.")
    return shell, kind(command, {}, "ppl", "_PPL_COMPLETE").source()


def show(context: click.Context, param: Any, requested: bool) -> None:
    if requested:
        click.echo(script_of(context.command)[1])
        context.exit()


def install(context: click.Context, param: Any, requested: bool) -> None:
    if requested:
        shell, script = script_of(context.command)
        file = Path.home() / FILES[shell]
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or script not in file.read_text("utf-8"):
            with file.open("a", encoding="utf-8") as end:
                end.write(f"\n{script}")
        click.echo(f"Completion is in {file}; start a new shell.")
        context.exit()
