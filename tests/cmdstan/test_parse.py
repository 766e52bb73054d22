import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.every import every

from ppl.cmdstan.help import info, tree_help, usage
from ppl.cmdstan.parse import HelpRequested, Misuse, parse
from ppl.results.arguments.argument import Choice, Group, Value
from ppl.results.arguments.tree import TREE, leaves, with_defaults
from ppl.results.files.config import text

# What cmdstanpy 1.3.2 sends: groups first, the method last, `adapt` always.
SENT = (
    "random seed=1 data file=d.json init=1.0 output file=o.csv method=variational algorithm=fullrank "
    "iter=500 adapt engaged=1 iter=20 output_samples=20"
)


def test_the_order_of_cmdstanpy():
    assert parse(SENT.split()) == {
        "random.seed": 1,
        "data.file": "d.json",
        "init": "1.0",
        "output.file": "o.csv",
        "method": "variational",
        "variational.algorithm": "fullrank",
        "variational.iter": 500,
        "variational.adapt.engaged": True,
        "variational.adapt.iter": 20,
        "variational.output_samples": 20,
    }


@pytest.mark.parametrize(
    "words",
    [
        "variational iter=5 data file=d.json random seed=3",
        "data file=d.json variational iter=5 random seed=3",
        "random seed=3 data file=d.json method=variational iter=5",
    ],
)
def test_groups_come_in_any_order(words):
    assert parse(words.split()) == {
        "method": "variational",
        "variational.iter": 5,
        "data.file": "d.json",
        "random.seed": 3,
    }


def test_nested_choices_and_the_way_back_up():
    words = "sample algorithm=hmc engine=nuts max_depth=3 stepsize=0.5 adapt delta=0.9 num_chains=2"
    assert parse(words.split()) == {
        "method": "sample",
        "sample.algorithm": "hmc",
        "sample.hmc.engine": "nuts",
        "sample.hmc.nuts.max_depth": 3,
        "sample.hmc.stepsize": 0.5,
        "sample.adapt.delta": 0.9,
        "sample.num_chains": 2,
    }


@pytest.mark.parametrize("word, value", [("1", True), ("true", True), ("0", False), ("false", False)])
def test_booleans(word, value):
    assert parse(["optimize", f"jacobian={word}"])["optimize.jacobian"] is value


def test_a_value_may_hold_an_equals_sign_or_be_empty():
    given = parse(["variational", "output", "file=a=b.csv", "diagnostic_file="])
    assert given["output.file"] == "a=b.csv" and given["output.diagnostic_file"] == ""


@pytest.mark.parametrize(
    "words, lines",
    [
        (
            "variational itr=4",
            ["itr=4 is either mistyped or misplaced."],
        ),
        (
            "variational max_depth=4",
            [
                "max_depth=4 is either mistyped or misplaced.",
                "Perhaps you meant one of the following valid configurations?",
                "  method=sample algorithm=hmc engine=nuts max_depth=<int>",
            ],
        ),
        (
            "variational file=x",
            [
                "file=x is either mistyped or misplaced.",
                "Perhaps you meant one of the following valid configurations?",
                "  data file=<str>",
                "  output file=<str>",
            ],
        ),
        ("variational iter=0", ['0 is not a valid value for "iter"', "  Valid values: 0 < iter"]),
        ("variational iter=ten", ['ten is not a valid value for "iter"', "  Valid values: 0 < iter"]),
        (
            "sample adapt engaged=maybe",
            ['maybe is not a valid value for "engaged"', "  Valid values: [0, 1, false, true]"],
        ),
        ("method=fit", ['fit is not a valid value for "method"']),
        ("data file=d.json", ["A method must be specified!"]),
        ("variational random seed=1 random seed=2", ["random is either mistyped or misplaced."]),
    ],
)
def test_misuse(words, lines):
    with pytest.raises(Misuse) as caught:
        parse(words.split())
    assert str(caught.value).splitlines()[: len(lines)] == lines


def test_help_of_one_group_and_of_all():
    with pytest.raises(HelpRequested, match="Valid subarguments: algorithm, iter") as caught:
        parse(["variational", "help"])
    assert "elbo_samples=<int>" not in str(caught.value)
    with pytest.raises(HelpRequested, match="elbo_samples=<int>"):
        parse(["variational", "help-all"])


def test_help_names_every_argument():
    everything = tree_help()
    for path, _ in leaves():
        assert f"{path.rpartition('.')[2]}=<" in everything
    assert "  variational  " in usage("./model") and "help-all" in usage("./model")


def test_defaults_are_valid_and_read_back():
    for path, argument in leaves():
        value = with_defaults({})[path]
        assert not hasattr(argument, "holds") or argument.holds(value), path


def test_info_is_what_clients_parse():
    pairs = dict(line.replace(" ", "").split("=") for line in info().splitlines())
    assert (pairs["stan_version_major"], pairs["stan_version_minor"]) == ("2", "39")
    assert pairs["STAN_THREADS"] == "false"


def words_for(tree, path, prefix="", before=()):
    """The words that set the argument of a path to its default, and that value."""
    for argument in tree:
        here = prefix + argument.name
        match argument:
            case Value():
                if here == path:
                    yield [*before, f"{argument.name}={text(argument.default)}"], argument.default
            case Group():
                yield from words_for(argument.parts, path, f"{here}.", (*before, argument.name))
            case Choice():
                for option in argument.options:
                    chosen = (*before, f"{argument.name}={option.name}")
                    if here == path:
                        yield list(chosen), option.name
                    yield from words_for(option.parts, path, f"{prefix}{option.name}.", chosen)


@every("path", [path for path, _ in leaves()])
def test_every_argument_can_be_set_by_its_words(path):
    ways = list(words_for(TREE, path))
    assert ways
    for words, value in ways:
        method = [] if words[0].startswith("method=") else ["optimize"]
        assert parse([*words, *method])[path] == value


BARE = ["data", "adapt", "variational", "output", "random", "help", "", "="]
WORDS = sorted({f"{path.rpartition('.')[2]}=1" for path, _ in leaves()}) + BARE


@given(st.lists(st.sampled_from(WORDS)))
def test_any_words_are_parsed_or_refused_in_a_sentence(words):
    try:
        found = parse(words)
    except HelpRequested:
        return
    except Misuse as error:
        assert str(error)
        return
    assert set(found) <= set(with_defaults({}))
