"""Pages in headless Chromium: without a network, each in frames as wide as screens."""

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --enable-logging=stderr
    --virtual-time-budget=4000 --dump-dom""".split()
SCREENS = (1280, 390)
"""Widths of a desk's screen and of a telephone's, in pixels."""

# Measures the page in each frame and leaves the figures in the page that is dumped.
FRAMES = """{frames}<pre id="out"></pre>
<script>
window.onload = () => {{
  const figures = [...document.querySelectorAll("iframe")].map(frame => {{
    const page = frame.contentDocument;
    const images = [...page.images].map(i => [i.naturalWidth, i.getBoundingClientRect().width]);
    return {{ title: page.title, scroll: page.documentElement.scrollWidth, images }};
  }});
  document.getElementById("out").textContent = JSON.stringify(figures);
}};
</script>
"""
FRAME = '<iframe src="{page}" width="{width}" height="900"></iframe>'

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


def measured(folder: Path, pages: Iterable[str]) -> dict[tuple[str, int], dict[str, Any]]:
    """Title, scroll width and images of each page of the folder on each screen.

    All are loaded by one process, and nothing is written to the browser's console.
    """
    framed = [(page, width) for page in pages for width in SCREENS]
    frames = "".join(FRAME.format(page=page, width=width) for page, width in framed)
    (folder / "frames.html").write_text(FRAMES.format(frames=frames))
    with served(folder) as address:
        done = subprocess.run(
            [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", f"{address}/frames.html"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert "CONSOLE" not in done.stderr, done.stderr
    found = re.search(r'<pre id="out">(.*?)</pre>', done.stdout)
    assert found, done.stdout
    return dict(zip(framed, json.loads(found[1]), strict=True))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which the files of the folder are served, on this machine alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing of its requests."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""
