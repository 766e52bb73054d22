"""Ctrl-C ends the command during a call that Python's handler of the signal waits for."""

import signal
import subprocess
import sys
import time

import pytest

LONG_CALL = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"
"""It releases the lock of the interpreter and does not look for signals, as calls of NumPy."""
WAIT = "import time; time.sleep(60)"


@pytest.mark.parametrize(
    "code, status, word",
    [
        (LONG_CALL, 130, "ppl: interrupted.\n"),
        (WAIT, -signal.SIGINT, "KeyboardInterrupt\n"),
        (f"try:\n  {WAIT}\nexcept KeyboardInterrupt:\n  time.sleep(1.5)", 0, ""),
    ],
    ids=["long call", "wait", "handled"],
)
def test_sigint_ends_the_process(code, status, word):
    program = f"from ppl.run.interrupt import end_promptly\nend_promptly()\nprint(flush=True)\n{code}"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as process:
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert err.endswith(word)


def test_sigint_while_a_program_is_compiled(tmp_path):
    statements = "\n".join(f"target += x * {k};" for k in range(20_000))
    (tmp_path / "long.stan").write_text(f"parameters {{ real x; }} model {{ {statements} }}")
    command = [sys.executable, "-c", "from ppl.cli.main import main; print(flush=True); main()", "check"]
    with subprocess.Popen(
        [*command, tmp_path / "long.stan"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "ppl: interrupted.\n")
