"""The options of a fit are the settings, each once, with the same defaults and bounds."""

import inspect

import pytest

from ppl.cli.commands.variational import variational
from ppl.cli.main import main
from ppl.cli.settings import option_name
from ppl.methods.run.setting import settings_of
from ppl.methods.run.settings import Settings

KNOWN = settings_of(Settings)


def refusal(capsys, *words):
    with pytest.raises(SystemExit) as exit:
        main(["variational", __file__, *words])
    assert exit.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("name", KNOWN)
def test_every_setting_is_an_option_with_its_default(name):
    found = inspect.signature(variational).parameters[name].default
    assert found == ("2" if name == "init" else KNOWN[name].command)


@pytest.mark.parametrize("name", [name for name, known in KNOWN.items() if known.kind.holds(1)])
def test_what_a_setting_refuses_its_option_refuses(name, capsys):
    if not isinstance(KNOWN[name].default, bool):
        assert option_name(KNOWN[name]) in refusal(capsys, option_name(KNOWN[name]), "-1")


def test_an_option_lists_its_words(capsys):
    message = refusal(capsys, "--noise", "cauchy")
    assert "student_t" in message and "logistic" in message
