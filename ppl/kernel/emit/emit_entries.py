"""Where a Gather reads and a Scatter writes, as Python text.

Each axis of the array is a slot: an axis of the value that is kept as it is, by its name, or an index.  What
an index varies over is aligned by name with the axes of the result; where NumPy's own order of axes is
another, all slots become index arrays of the result's shape (`index_of` of the runtime).
"""

from collections.abc import Callable, Sequence

from ppl.kernel.emit.text import Writer, tuple_text
from ppl.kernel.ir import nodes as ir
from ppl.records import dataclass
from ppl.types import INT, Type, axes_of, entry, rank

Slot = str | ir.IndexItem
"""One axis of an array: the name of that which is kept, or what picks entries of it."""
IndexText = Callable[[Writer, str, int, ir.IndexItem], str]
"""The text of one index into the axis of an array of some name."""


@dataclass(frozen=True)
class Entries:
    """Entries of an array along some axes: the first `whole` slots are kept and come first in the result too.

    `slots` are those after them, up to the last index, and `axes` the axes of what these alone give.
    """

    whole: tuple[str, ...]
    slots: tuple[Slot, ...]
    axes: tuple[str, ...]

    @property
    def items(self) -> tuple[ir.IndexItem, ...]:
        return tuple(slot for slot in self.slots if not isinstance(slot, str))

    @property
    def varies(self) -> bool:
        """Whether an index differs from place to place."""
        return any(map(axes_of_slot, self.items))

    @property
    def is_direct(self) -> bool:
        """Whether NumPy's own index gives the axes in this order."""
        if len(self.items) < len(self.slots):
            return False
        if not self.varies:
            return not needs_cross_index(self.items)
        words = "".join("i" if isinstance(i, ir.At) and rank(entry(i.index.type)) == 0 else
                        "s" if isinstance(i, ir.Between) else "x" for i in self.items)  # fmt: skip
        picked = {axis for item in self.items for axis in axes_of_slot(item)}
        return "x" not in words and "si" not in words and picked == {*self.axes[: len(picked)]}


def axes_of_slot(slot: Slot) -> tuple[str, ...]:
    if isinstance(slot, str):
        return (slot,)
    return axes_of(slot.index.type) if isinstance(slot, ir.At) else ()


def entries_of(
    t: Type, picks: Sequence[ir.Expr | None], items: Sequence[ir.IndexItem], axes: Sequence[str]
) -> Entries:
    """Those of an array of this type, along these axes of what they give."""
    pairs = zip(axes_of(t), picks, strict=False)
    slots: list[Slot] = [axis if at is None else ir.At(at) for axis, at in pairs]
    slots += items
    last = len(axes)
    while slots and last and slots[-1] == axes[last - 1]:  # the index may end before these
        slots.pop()
        last -= 1
    varies = {axis for slot in slots if not isinstance(slot, str) for axis in axes_of_slot(slot)}
    whole = 0
    for slot, axis in zip(slots, axes, strict=False):
        if slot != axis or axis in varies:
            break
        whole += 1
    return Entries(tuple(axes[:whole]), tuple(slots[whole:]), tuple(axes[whole:]))


def axes_set(s: ir.Scatter) -> tuple[str, ...]:
    """The axes of the entries that are set, in the order that the value has them."""
    whole_axes = tuple(a for a, at in zip(axes_of(s.type), s.picks, strict=False) if at is None)
    at = [axes_of(pick.type) for pick in s.picks if pick is not None]
    at += [axes_of_slot(item) for item in s.items]
    return ir.union(axes_of(s.value.type), whole_axes, *at)


def own_axes_set(s: ir.Scatter) -> int:
    """How many axes each entry that is set has of its own."""
    whole = rank(entry(s.type)) - len(s.items)
    return whole + sum(rank(entry(i.index.type)) if isinstance(i, ir.At) else 1 for i in s.items)


def cross_index(w: Writer, name: str, at: Entries, index: IndexText) -> str:
    """The arguments of `index_of`: where the axes of each slot go, then the indices."""
    places, items = [], []
    for k, slot in enumerate(at.slots):
        places.append(tuple_text(str(at.axes.index(axis)) for axis in axes_of_slot(slot)))
        items.append("slice(None)" if isinstance(slot, str) else index(w, name, k + len(at.whole), slot))
    count = 1 + max((at.axes.index(axis) for slot in at.slots for axis in axes_of_slot(slot)), default=-1)
    return f"{len(at.whole)}, {count}, {tuple_text(places)}, {', '.join(items)}"


def needs_cross_index(items: Sequence[ir.IndexItem]) -> bool:
    """Whether NumPy would read several lists of indices otherwise than Stan."""
    several = [isinstance(i, ir.At) and i.index.type != INT for i in items]
    single = any(map(ir.drops_axis, items))
    slices = any(isinstance(i, ir.Between) for i in items)
    return sum(several) > 1 or (any(several) and single and slices)
