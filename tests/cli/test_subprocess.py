"""The installed script, as a shell runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(sys.executable).parent / "ppl"


def ppl(*arguments, **environment):
    return subprocess.run(
        [SCRIPT, *map(str, arguments)], capture_output=True, text=True, env={**os.environ, **environment}
    )


@pytest.mark.skipif(not SCRIPT.exists(), reason="the script is not installed beside this Python")
class TestScript:
    def test_version_needs_no_heavy_import(self):
        assert ppl("--version").returncode == 0
        loaded = subprocess.run(
            [sys.executable, "-X", "importtime", SCRIPT, "--version"], capture_output=True, text=True
        ).stderr
        for heavy in ("autograd", "scipy", "lark", "pandas"):
            assert f" {heavy}\n" not in loaded

    def test_a_bad_program_ends_without_a_traceback(self, tmp_path):
        path = tmp_path / "bad.model"
        path.write_text("parameters { real x }")
        done = ppl("check", path)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{path}:1:" in done.stderr and "Traceback" not in done.stderr

    @pytest.mark.rotate
    def test_no_color_is_respected_even_when_colour_is_forced_on(self, tmp_path):
        path = tmp_path / "flat.model"
        path.write_text("parameters { real x; } model { x ~ std_normal(); }")
        done = ppl(
            "variational", path, "-o", tmp_path / "o.csv", "--iter", 100, NO_COLOR="1", FORCE_COLOR="1"
        )
        assert done.returncode == 0 and "\x1b[3" not in done.stdout

    @pytest.mark.rotate
    def test_a_reader_that_leaves_early_causes_no_traceback(self, tmp_path):
        path = tmp_path / "flat.model"
        path.write_text("parameters { real x; } model { x ~ std_normal(); }")
        line = f"'{SCRIPT}' variational '{path}' -o '{tmp_path}/o.csv' --iter 500 | head -n 0"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
        assert "Traceback" not in done.stderr

    @pytest.mark.rotate
    def test_ctrl_c_keeps_what_there_is(self, tmp_path):
        path = tmp_path / "flat.model"
        path.write_text("parameters { real x; } model { x ~ std_normal(); }")
        arguments = [SCRIPT, "variational", path, "-o", tmp_path / "o.csv"]
        endless = ["--iter", "100000000", "--tol-rel-obj", "1e-300", "--eta", "0.1", "--start", "random"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*arguments, *endless], **pipes) as running:
            assert running.stderr.readline().startswith("stochastic optimisation")
            running.send_signal(signal.SIGINT)
            rest = running.stdout.read()
        assert running.returncode == 130
        assert "Interrupted: " in rest and "Wrote " in rest
        assert (tmp_path / "o.csv").read_text().count("\n") > 1000
