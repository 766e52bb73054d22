"""Every number that decides something says what it bounds, under a name that no other one has."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

from laws.every import every

ROOT = Path(__file__).parents[1]
FILES = sorted(path for folder in ("ppl", "cli") for path in (ROOT / folder).rglob("*.py"))


def is_constant(name):
    return isinstance(name, ast.Name) and name.id.isupper()


def is_number(value):
    """Whether an expression is a number, a tuple of numbers, or made of numbers and named constants."""
    match value:
        case ast.Constant():
            return isinstance(value.value, int | float) and not isinstance(value.value, bool)
        case ast.UnaryOp():
            return is_number(value.operand)
        case ast.BinOp():
            sides = (value.left, value.right)
            return any(map(is_number, sides)) and all(is_number(side) or is_constant(side) for side in sides)
        case ast.Tuple():
            return bool(value.elts) and all(map(is_number, value.elts))
        case ast.Call():
            return ast.unparse(value.func) in ("float", "int", "math.log", "math.sqrt", "np.log", "np.sqrt")
        case ast.Attribute():
            return ast.unparse(value).startswith(("math.", "np.finfo("))
    return False


def assigned(statement):
    """The constants that a statement of a module assigns, and the value."""
    match statement:
        case ast.Assign():
            targets = statement.targets
        case ast.AnnAssign(value=ast.expr()):
            targets = [statement.target]
        case _:
            return [], None
    names = [
        name for target in targets for name in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]
    return [name.id for name in names if is_constant(name)], statement.value


def records(tree):
    """The frozen records of numbers of a module that it makes one instance of."""
    made = {ast.unparse(value) for names, value in map(assigned, tree.body) if names}
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and f"{node.name}()" in made
        and any(
            "frozen=True" in ast.unparse(of) or ast.unparse(of) == "NamedTuple"
            for of in (*node.decorator_list, *node.bases)
        )
        and (found := [field for field in node.body if isinstance(field, ast.AnnAssign)])
        and all(field.value is not None and is_number(field.value) for field in found)
    }


def is_docstring(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def undocumented(body, is_ours):
    """The names of those statements that no docstring follows."""
    after = [*body[1:], None]
    return [
        ast.unparse(one)
        for one, doc in zip(body, after, strict=True)
        if is_ours(one) and not is_docstring(doc)
    ]


def is_numeric_constant(statement):
    names, value = assigned(statement)
    return bool(names) and is_number(value)


def numeric_names(tree):
    """Those of the numeric constants, and of the instances of the records of numbers."""
    made = {f"{name}()" for name in records(tree)}
    for statement in tree.body:
        names, value = assigned(statement)
        if names and (is_number(value) or ast.unparse(value) in made):
            yield from names


@cache
def parsed(path):
    """A module without its functions, which assign no constant."""
    tree = ast.parse(path.read_text())
    return ast.Module([ast.Pass() if isinstance(s, ast.FunctionDef) else s for s in tree.body], [])


@every("path", FILES)
def test_a_number_that_decides_something_says_what_it_bounds(path):
    tree = parsed(path)
    assert undocumented(tree.body, is_numeric_constant) == []
    for record in records(tree).values():
        assert is_docstring(record.body[0]), record.name
        assert undocumented(record.body, lambda field: isinstance(field, ast.AnnAssign)) == []


def test_no_number_shares_its_name_with_another_constant():
    numeric, all_names = set(), defaultdict(list)
    for path in FILES:
        tree = parsed(path)
        numeric |= set(numeric_names(tree))
        for statement in tree.body:
            for name in assigned(statement)[0]:
                all_names[name].append(path.relative_to(ROOT).as_posix())
    assert {name: at for name, at in all_names.items() if name in numeric and len(at) > 1} == {}


def test_the_checks_see_what_they_are_for():
    bare = ast.parse(
        "MOST = 3\nLEAST, FEW = 1, 2.0\nSMALL = float(np.finfo(float).eps)\nHALF = MOST // 2\nNAME = 'a'"
    )
    assert len(undocumented(bare.body, is_numeric_constant)) == 4
    assert undocumented(ast.parse("MOST = 3\n'''What it bounds.'''").body, is_numeric_constant) == []
    record = ast.parse("@dataclass(frozen=True)\nclass Limits:\n    most: int = 3\n\nLIMITS = Limits()")
    assert list(numeric_names(record)) == ["LIMITS"] and list(records(record)) == ["Limits"]
