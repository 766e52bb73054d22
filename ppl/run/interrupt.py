"""Ctrl-C during a long call of NumPy: Python's handler of the signal runs only once such a call returns."""

import os
import signal
import sys
import threading
import time
from functools import cache
from typing import Any, NoReturn

MESSAGE = "ppl: interrupted."
INTERRUPTED = 130
"""The exit status that shells give a process ended by Ctrl-C."""
PATIENCE = 1.0
"""Seconds that the handler may take to run."""

handled = [0.0]
"""When a handler last ran."""


def note() -> None:
    """For every handler of SIGINT that leaves the process running: it has been handled."""
    handled[0] = time.monotonic()


def interrupt(*_: Any) -> NoReturn:
    note()
    raise KeyboardInterrupt


@cache
def end_promptly() -> None:
    """Ctrl-C is a KeyboardInterrupt as ever, or ends the process within seconds where that cannot be raised.

    A thread waits for the byte that Python writes into a pipe when the signal arrives. It can act because
    NumPy releases the lock of the interpreter during long calls.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # such as ignored, by nohup
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGINT, interrupt)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(reader,), daemon=True).start()


def _watch(reader: int) -> None:
    while numbers := os.read(reader, 64):
        arrived = time.monotonic()
        if signal.SIGINT in numbers:
            time.sleep(PATIENCE)
            if signal.getsignal(signal.SIGINT) is interrupt and handled[0] < arrived - PATIENCE:
                print(MESSAGE, file=sys.stderr, flush=True)
                os._exit(INTERRUPTED)
