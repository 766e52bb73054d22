"""The command in this process."""

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
