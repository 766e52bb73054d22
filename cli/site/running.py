"""The code of a page as it runs: programs are written, commands and Python run, outputs follow their blocks.

The blocks of a text run from the first to the last in one folder. Blocks with a file's name as title are
written, and `stan` blocks compile; `sh` blocks are lines of `ppl`, or of `pip install`, which is not run, and
their title is the exit status of lines that fail, "exit status 1"; `python` blocks share their names. Other
blocks are only shown. An `output` block below a block is the output that the page expects, with `...` for any
text: tests compare it, and the site shows that of the run instead.
"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ppl.errors import PPLError

BLOCK = re.compile(
    r'^```(stan|sh|python|(?:json|text)(?= title))(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
STATUS = "exit status "
"""The title of commands that fail, before the number."""
WITH_EXPECTED = re.compile(rf"({BLOCK.pattern})(?:\n\n```output\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
PACKAGES = ("ppl", "ppl.cli", "ppl.grammar", "ppl.models")
UNUSED = ("site", "lsp", "vscode")
"""Folders of these that no output depends on."""


class Output(NamedTuple):
    """The output of a block, and the pictures that it drew as (name, SVG)."""

    text: str = ""
    pictures: tuple[tuple[str, str], ...] = ()


def picture_files(text: str, output: Output) -> dict[str, str]:
    """Pictures by the names of their files: with a digest, unless the page shows them where it chooses."""
    return {
        f"{name}.svg" if f"pictures/{name}.svg)" in text else f"{name}-{_digest(svg)[:8]}.svg": svg
        for name, svg in output.pictures
    }


def with_outputs(text: str, outputs: Iterable[Output], pictures: str = "pictures") -> str:
    """The text with the output of each block below it, in place of the expected one.

    `pictures` is the folder of pictures, from the page. Those that the text shows elsewhere stay there.
    """
    rest = iter(outputs)

    def with_output(block: re.Match[str]) -> str:
        output = next(rest)
        printed = [f"```output\n{output.text.rstrip()}\n```"] if output.text.strip() else []
        new = (name for name in picture_files(text, output) if f"pictures/{name})" not in text)
        drawn = (f"![{name.rpartition('-')[0]}]({pictures}/{name})" for name in new)
        return "\n\n".join([block[1], *printed, *drawn])

    return WITH_EXPECTED.sub(with_output, text)


def expected_outputs(text: str) -> list[str]:
    """The output that the page expects of each block, or an empty text."""
    return [block[-1] for block in WITH_EXPECTED.findall(text)]


def outputs(texts: list[str]) -> Iterator[list[Output]]:
    """The outputs of each text, several at a time, each text in a process and a folder of its own.

    What the same blocks gave earlier under the same package is read from the user's cache.

    Raises:
        PPLError: a block failed; with what it said.
    """
    package = package_digest()
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        yield from pool.map(_cached_outputs, texts, [package] * len(texts))


def run(text: str) -> Iterator[Output]:
    """The output of each block, run in this process and this folder; pictures are `.svg` files."""
    scope: dict[str, Any] = {"__name__": "__main__"}
    drawn: dict[str, str] = {}
    for language, title, code in BLOCK.findall(text):
        printed = StringIO()
        with redirect_stdout(printed), redirect_stderr(StringIO()):
            _run_block(language, title, code, scope)
        now = {path.stem: path.read_text("utf-8") for path in sorted(Path().glob("*.svg"))}
        yield Output(printed.getvalue(), tuple(sorted(now.items() - drawn.items())))
        drawn = now


def _run_block(language: str, title: str, code: str, scope: dict[str, Any]) -> None:
    from ppl.compile import compile_model

    match language:
        case "stan":
            compile_model(code)
            if title:
                Path(title).write_text(code, "utf-8")
        case "sh":
            status = int(title.removeprefix(STATUS) or 0)
            for line in code.replace("\\\n", "").splitlines():
                _run_command(shlex.split(line), status)
        case "python":
            exec(compile(code, "<page>", "exec"), scope)
        case _:
            Path(title).write_text(code, "utf-8")


def _run_command(words: list[str], status: int) -> None:
    from ppl.cli.main import main

    if words[:2] == ["pip", "install"]:
        return
    if words[0] != "ppl":
        raise PPLError(f"`{shlex.join(words)}` is not a command of ppl.")
    errors, ended = StringIO(), 0
    try:
        with redirect_stderr(errors):
            main(words[1:])
    except SystemExit as end:
        ended = int(end.code or 0)
    if ended != status:
        raise PPLError(f"`{shlex.join(words)}` ended with status {ended}:\n{errors.getvalue()}")
    if status:
        print(errors.getvalue())


# --- The cache -----------------------------------------------------------------------------------


def _cached_outputs(text: str, package: str) -> list[Output]:
    from ppl.files import own_cache, writable, write_whole

    blocks = BLOCK.findall(text)
    if not blocks:
        return []
    cache = writable(own_cache())
    key = _digest(json.dumps([package, blocks]))
    path = cache / "site" / f"{key}.json" if cache else None
    if path and path.exists():
        return [Output(text, tuple(map(tuple, drawn))) for text, drawn in json.loads(path.read_text("utf-8"))]
    with TemporaryDirectory() as folder, chdir(folder):
        fresh = list(run(text))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, [json.dumps(fresh)])
    return fresh


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def package_digest() -> str:
    """A digest of the package's files, on which every output depends."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for file in _sources(files(package)):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources(folder: Traversable) -> Iterator[Traversable]:
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir() and item.name not in UNUSED:
            yield from _sources(item)
        elif item.name.endswith((".py", ".lark", ".model", ".json")):
            yield item
