"""The expected type and shape of the value of a declared variable."""

from ppl.records import dataclass, field, replace
from ppl.source import Span
from ppl.types import INT, Type, element_type, is_complex, real_of

Shape = tuple[int, ...]


@dataclass(frozen=True)
class ExpectedData:
    """`dims` are the array axes, `sizes` the shape of one value; an item of a tuple is named `t.1`."""

    name: str
    type: Type
    dims: Shape
    sizes: Shape
    span: Span = field(repr=False)
    pairs: bool = False

    @property
    def shape(self) -> Shape:
        return (*self.dims, *self.sizes)

    @property
    def is_int(self) -> bool:
        return element_type(self.type) == INT

    @property
    def is_complex(self) -> bool:
        return is_complex(self.type)

    @property
    def parts(self) -> "ExpectedData":
        """The same with complex numbers as pairs of reals, which are one more axis."""
        return replace(self, type=real_of(self.type), sizes=(*self.sizes, 2), pairs=True)

    @property
    def declaration(self) -> str:
        """ "`array[N] int y` (line 4)"."""
        text = " ".join(self.span.text.split()).rstrip(" ;")
        return f"`{text}` (line {self.span.line})"

    @property
    def needs(self) -> str:
        """ "one integer", "numbers of shape (3,2)"."""
        noun = "integer" if self.is_int else "number"
        pairs = "; a complex number is written [real, imaginary]" if self.pairs else ""
        return f"{noun}s of shape {written(self.shape)}{pairs}" if self.shape else f"one {noun}"


def written(shape: Shape) -> str:
    """ "(3,2)", as Stan writes dimensions."""
    return f"({','.join(map(str, shape))})"
