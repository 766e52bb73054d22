"""`%%ppl` in a shell of IPython."""

import io
from contextlib import redirect_stderr
from types import ModuleType

import pytest

import ppl

shells = pytest.importorskip("IPython.core.interactiveshell")

GOOD = "parameters { real mu; }\nmodel { mu ~ normal(0, 1); }\n"
WRONG = "parameters { real mu; }\nmodel { mu ~ normal(0, sigmma); nu ~ normal(0, 1); }\n"


@pytest.fixture(scope="module")
def shell():
    return shells.InteractiveShell(user_module=ModuleType("cells"))  # else its cells are this process's main


@pytest.fixture
def run(shell):
    shell.reset(new_session=False)
    shell.run_line_magic("reload_ext", "ppl")
    return shell.run_cell


def test_a_cell_defines_a_model(run, shell):
    result = run(f"%%ppl bell\n{GOOD}")
    model = shell.user_ns["bell"]
    assert isinstance(model, ppl.Model) and result.result is model
    assert model.source.name == "bell" and model.condition({}).param_unc_num() == 1


def test_every_error_is_shown_as_the_command_shows_it_and_no_traceback(run, shell, capsys):
    run(f"%%ppl bell\n{GOOD}")
    result = run(f"%%ppl bell\n{WRONG}")
    output = "".join(capsys.readouterr())
    assert not result.success and isinstance(result.error_in_exec, ppl.PPLError)
    assert "bell:2:24: " in output and "error PPL201" in output and "^^^^^^" in output
    assert "`nu` is not declared." in output and "Traceback" not in output
    assert "\x1b[" in output and "\x1b[" not in str(result.error_in_exec)
    assert "bell" not in shell.user_ns, "an older program stands under the name"


@pytest.mark.parametrize("name", ["", "two words", "1st"])
def test_a_cell_needs_a_name(run, name, capsys):
    assert not run(f"%%ppl {name}\n{GOOD}").success
    assert "requires a name for the model" in "".join(capsys.readouterr())


def test_likely_bugs_are_said(run):
    printed = io.StringIO()
    with redirect_stderr(printed):
        run("%%ppl bell\nparameters { real mu; real nu; }\nmodel { mu ~ normal(0, 1); }")
    assert "warning" in printed.getvalue() and "nu" in printed.getvalue()
