"""`#include`: found, placed, refused."""

from pathlib import Path

import pytest

from ppl.errors import ModelError
from ppl.kernel.language.include import expand
from ppl.programs.explained import parse
from ppl.source import SourceText


def source(file: Path, text: str) -> SourceText:
    file.write_text(text)
    return SourceText(text, str(file))


@pytest.mark.parametrize("form", ['"part.stan"', "<part.stan>", "part.stan"])
def test_the_three_forms(tmp_path: Path, form: str) -> None:
    (tmp_path / "part.stan").write_text("  real mu;")
    program = parse(
        source(tmp_path / "a.model", f"parameters {{\n#include {form} // here\n  real tau;\n}}\n")
    )
    mu, tau = program.parameters
    assert (Path(mu.span.source.name).name, mu.span.line, mu.span.column) == ("part.stan", 1, 3)
    assert (Path(tau.span.source.name).name, tau.span.line, tau.span.column) == ("a.model", 3, 3)


def test_within_a_line_and_within_an_include(tmp_path: Path) -> None:
    (tmp_path / "outer.stan").write_text("real a;\n#include inner.stan\nreal c;\n")
    (tmp_path / "inner.stan").write_text("real b;")
    program = parse(source(tmp_path / "m.model", "data { #include outer.stan\n} parameters { real d; }"))
    assert [(d.name, d.span.line, d.span.column) for d in program.data] == [
        ("a", 1, 1),
        ("b", 1, 1),
        ("c", 3, 1),
    ]
    assert (program.parameters[0].span.line, program.parameters[0].span.column) == (2, 16)


def test_include_paths_serve_programs_given_as_text(tmp_path: Path) -> None:
    (tmp_path / "part.stan").write_text("real mu;")
    text = SourceText("parameters {\n#include part.stan\n}")
    assert parse(text, [tmp_path]).parameters[0].name == "mu"
    with pytest.raises(ModelError, match=r"no file `part\.stan`") as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (2, 1)


def test_an_error_is_placed_in_the_included_file(tmp_path: Path) -> None:
    (tmp_path / "part.stan").write_text("// two\nreal mu\n")
    with pytest.raises(ModelError) as caught:
        parse(source(tmp_path / "m.model", "parameters {\n#include part.stan\n}\n"))
    assert str(caught.value).startswith(f"{tmp_path / 'part.stan'}:2:8: error PPL173\n    2 | real mu\n")


def test_cycles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b.stan").write_text("#include a.stan\n")
    with pytest.raises(ModelError, match="includes itself"):
        expand(source(tmp_path / "a.stan", "#include b.stan\n"))


def test_comments_and_strings_include_nothing() -> None:
    text = '// #include a\n/* #include b */ model { print("#include c"); }'
    assert expand(SourceText(text)).text.rstrip() == text


def test_text_without_includes_is_kept_line_by_line() -> None:
    text = "model {\n\n}\n"
    assert expand(SourceText(text)).text.split("\n")[:3] == text.split("\n")[:3]


def a_line_of_files(folder: Path, n: int, text: str) -> SourceText:
    """Files of which each has `text`, with the name of the next for {}; the last is empty."""
    for k in range(n):
        (folder / f"f{k}.stan").write_text(text.format(f"f{k + 1}.stan"))
    (folder / f"f{n}.stan").write_text("")
    return source(folder / "m.model", "#include f0.stan\n")


@pytest.mark.parametrize(
    ("n", "text", "what"),
    [
        (26, "#include {0}\n#include {0}\n", "1000 includes"),
        (2000, "#include {}\n", "50 files included within each other"),
        (6, "x" * 3_000_000 + "#include {}\n", "10000000 characters of included text"),
    ],
)
def test_includes_without_end_are_refused(tmp_path: Path, n: int, text: str, what: str) -> None:
    with pytest.raises(ModelError, match=f"more than {what}") as caught:
        expand(a_line_of_files(tmp_path, n, text))
    assert caught.value.code == "PPL184"


@pytest.mark.parametrize("name", ["{0}/outside/secret", "../outside/secret", "sub/../../outside/secret"])
def test_files_elsewhere_are_refused_and_not_shown(tmp_path: Path, name: str) -> None:
    for folder in ("outside", "inside"):
        (tmp_path / folder).mkdir()
    (tmp_path / "outside" / "secret").write_text("root:x:0\n")
    inside = tmp_path / "inside"
    with pytest.raises(ModelError) as caught:
        parse(source(inside / "m.model", f'#include "{name.format(tmp_path)}"\n'))
    assert caught.value.code == "PPL183" and "root:x" not in str(caught.value)
    assert f"includes may read: `{inside}`." in caught.value.message
    (tmp_path / "outside" / "secret").unlink()
    with pytest.raises(ModelError) as absent:
        parse(SourceText((inside / "m.model").read_text(), str(inside / "m.model")))
    assert str(absent.value) == str(caught.value)


def test_files_below_include_each_other(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.stan").write_text("#include ../b.stan\n")
    (tmp_path / "b.stan").write_text(f"#include {tmp_path}/c.stan\n")
    (tmp_path / "c.stan").write_text("parameters { real mu; }\n")
    assert parse(source(tmp_path / "m.model", "#include sub/a.stan\n")).parameters[0].name == "mu"
