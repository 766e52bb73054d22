"""The exception where many draws cannot be taken at once."""


class DrawByDraw(Exception):
    """The program cannot be run for many draws at once; the message says why."""
