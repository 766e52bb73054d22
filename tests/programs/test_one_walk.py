"""The lints of a program share one walk over its nodes."""

from ppl.kernel.language import walk
from ppl.kernel.language.check import analyse
from ppl.programs import nodes
from ppl.programs.pedantic import lints
from ppl.source import SourceText


def nodes_seen(statements, monkeypatch):
    """The nodes that the lints of a program walk over, and the nodes of the program."""
    names = [f"b{k}" for k in range(statements)]
    declared, priors = "".join(f"real {n};" for n in names), "".join(f"{n} ~ normal(0, 1);" for n in names)
    program, facts = analyse(SourceText(f"parameters {{ {declared} }} model {{ {priors} }}"))
    seen, walked = [], walk.nodes_in

    def counted(*args):
        for node in walked(*args):
            seen.append(node)
            yield node

    monkeypatch.setattr(walk, "nodes_in", counted)
    lints(program, facts)
    monkeypatch.setattr(walk, "nodes_in", walked)
    return len(seen), len(nodes.Nodes(program, facts).every)


def test_nodes_that_lints_see_grow_as_the_program_does(monkeypatch):
    few, many = nodes_seen(20, monkeypatch), nodes_seen(200, monkeypatch)
    assert many[0] < 1.5 * many[1]
    assert many[0] < 10.5 * few[0]
