"""Fresh names for what is added to a program."""

from ppl.kernel.language import ast
from ppl.kernel.language.walk import statements, walk
from ppl.records import dataclass


@dataclass
class FreshNames:
    """Names that the program does not have."""

    taken: set[str]
    only_loops: frozenset[str] = frozenset()
    """Names of loop variables that nothing else is called by."""
    entry: str = ""
    """The loop variable of statements that are taken entry by entry, once there is one."""

    @classmethod
    def of(cls, p: ast.Program) -> "FreshNames":
        """Beside all names of a program."""
        loops = {n.variable for n in statements(p) if isinstance(n, ast.For)}
        others = {n.variable for n in statements(p) if isinstance(n, ast.ForEach)}
        others |= {n.distribution for n in statements(p) if isinstance(n, ast.Tilde)}
        named = ast.Declaration | ast.Argument | ast.FunctionDef | ast.Call
        others |= {n.name for n in walk(p) if isinstance(n, named)}
        return cls(loops | others, frozenset(loops - others))

    def of_entries(self) -> str:
        """A name for a loop over entries, the same for all: they do not stand in one another."""
        if not self.entry:
            self.entry = self.fresh("n")
            self.only_loops |= {self.entry}
        return self.entry

    def fresh(self, base: str) -> str:
        name, k = base, 1
        while name in self.taken:
            k += 1
            name = f"{base}_{k}"
        self.taken.add(name)
        return name
