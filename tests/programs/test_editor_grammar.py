"""The grammar for editors knows every word that the language's own grammar has."""

import json
import re
from importlib.resources import files

import pytest

LARK = (files("ppl.grammar") / "model.lark").read_text("utf-8")
EDITOR = json.loads((files("ppl.grammar") / "ppl.tmLanguage.json").read_text("utf-8"))


def expand(pattern):
    """The words that `a|(b_)?c` stands for."""
    found = re.search(r"\(([^()]*)\)(\??)", pattern)
    if not found:
        return pattern.split("|")
    options = [*found[1].split("|"), *([""] if found[2] else [])]
    alternatives = split(pattern)
    if len(alternatives) > 1:
        return [word for part in alternatives for word in expand(part)]
    return [w for o in options for w in expand(pattern[: found.start()] + o + pattern[found.end() :])]


def split(pattern):
    """At bars outside parentheses."""
    depth, parts = 0, [""]
    for c in pattern:
        depth += (c == "(") - (c == ")")
        if c == "|" and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def words():
    """Words in terminals, as /word\\b/, and reserved ones."""
    terminals = re.findall(r"^_?[A-Z_]+(?:\.\d)?: /(.+?)(?:\\b|\(\?=)", LARK, re.MULTILINE)
    reserved = re.search(r"\(\?!\((.*)\)\\b\)", LARK)[1]
    texts = {word.replace(r"\s+", " ") for text in [*terminals, reserved] for word in expand(text)}
    return sorted(text for text in texts if re.fullmatch(r"[A-Za-z_ ]+", text))


def patterns(of):
    for pattern in of["patterns"]:
        if "include" in pattern:
            yield from patterns(EDITOR["repository"][pattern["include"][1:]])
        else:
            yield pattern


def scope_of(text):
    """The scope of what begins `text`: of the first pattern that matches there."""
    for pattern in patterns(EDITOR):
        found = re.match(pattern.get("match") or pattern["begin"], text)
        if found:
            return pattern.get("name") or next(c["name"] for c in pattern["captures"].values()), found[0]
    return None, ""


def test_the_words_are_found():
    assert {
        "real",
        "row_vector",
        "complex_row_vector",
        "transformed data",
        "fatal_error",
        "T",
        "until",
    } <= set(words())
    assert len(words()) > 60


@pytest.mark.parametrize("word", words())
def test_every_word_is_known(word):
    follows = {"T": "[0, ]"}.get(word, " x")
    scope, text = scope_of(word + follows)
    assert text == word and scope.split(".")[0] in ("keyword", "storage", "support", "invalid")


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("// a", "comment.line"),
        ("/* a", "comment.block"),
        ('"a b"', "string"),
        ("normal_lpdf(y | 0, 1)", "support.function.distribution"),
        ("foo (x)", "entity.name.function"),
        ("theta[1]", "variable"),
        ("1.5e-3", "constant.numeric"),
        (".5", "constant.numeric"),
        ("%/% 2", "keyword.operator"),
        ("@grad(f(x), 1) real", "storage.modifier.annotation"),
        ("interest = 1", "variable"),
        ("realistic", "variable"),
        ("#include f.stan", "keyword.control.include"),
    ],
)
def test_scopes(text, scope):
    assert scope_of(text)[0].startswith(scope)
