"""Requests of an editor, read within limits: a length that no message has ends the server with a sentence."""

from typing import BinaryIO

from ppl.errors import DataError

MOST_BYTES = 1 << 28
"""Bytes of a message: programs have thousands."""
LONGEST_HEADER = 4096
"""Bytes of a line in front of a message."""
MOST_HEADERS = 1000
"""Lines in front of a message: the protocol knows two."""


class Requests:
    """A stream that pygls reads messages from: lines of a header, then so many bytes as it says."""

    def __init__(self, stream: BinaryIO):
        self.stream, self.lines = stream, 0

    def readline(self) -> bytes:
        """The next line of a header; of a very long one a part, which means nothing.

        Raises:
            DataError: there have been more than any message has.
        """
        self.lines += 1
        if self.lines > MOST_HEADERS:
            raise DataError(f"the editor sends no message behind {MOST_HEADERS} lines of a header")
        return self.stream.readline(LONGEST_HEADER)

    def read(self, size: int) -> bytes:
        """The next message.

        Raises:
            DataError: it is longer than any; what follows cannot be found.
        """
        if size > MOST_BYTES:
            raise DataError(
                f"the editor announces a message of {size} bytes (Content-Length); at most {MOST_BYTES} are "
                "read"
            )
        self.lines = 0
        return self.stream.read(size)
