"""The command in this process."""

from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from ppl.cli.main import main


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs `ppl` in an empty folder, which tests may fill; gives status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return exit.value.code or 0, printed.out, printed.err

    return run


@pytest.fixture(scope="session")
def run_in():
    """Runs `ppl`, which must end well, in a folder that several tests copy."""

    def run_in(folder, *arguments):
        silent = redirect_stdout(StringIO()), redirect_stderr(StringIO())
        with chdir(folder), silent[0], silent[1], pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        assert not exit.value.code

    return run_in
